/** Areas: what lies in one, and one out of two rooms, the wall between them included. */
import * as clip from 'polyclip-ts';
import type { Geometry, Ring } from './drawing';
import type { Plane, Position } from './plane';

/** The thickest wall that joining takes down, m. */
const WALL_M = 0.6;
/** A shorter stretch of common wall is none, m. */
const LEAST_M = 0.3;

type Area = readonly (readonly Ring[])[];

function areas(geometry: Geometry): Area {
  if (geometry.type === 'MultiPolygon') return geometry.coordinates;
  return geometry.type === 'Polygon' ? [geometry.coordinates] : [];
}

const edges = (area: Area): (readonly [Position, Position])[] =>
  area.flatMap(([outer = []]) =>
    outer.slice(1).map((end, index): readonly [Position, Position] => [outer[index] ?? end, end]),
  );

const mixed = (p: Position, q: Position, t: number): Position => [
  p[0] + t * (q[0] - p[0]),
  p[1] + t * (q[1] - p[1]),
];

/** Where along an edge, 0 to 1 and beyond, the foot of a point lies. */
function foot([p, q]: readonly [Position, Position], at: Position): number {
  const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
  const size = dx * dx + dy * dy;
  return size === 0 ? 0 : ((at[0] - p[0]) * dx + (at[1] - p[1]) * dy) / size;
}

const apart = (p: Position, q: Position): number => Math.hypot(p[0] - q[0], p[1] - q[1]);

/** The wall between two edges that run side by side; null where there is none. */
function wall(one: readonly [Position, Position], other: readonly [Position, Position]): Ring | null {
  const [s, t] = [foot(one, other[0]), foot(one, other[1])];
  const [low, high] = [Math.max(0, Math.min(s, t)), Math.min(1, Math.max(s, t))];
  const ends: [Position, Position] = [mixed(...one, low), mixed(...one, high)];
  if (high <= low || apart(...ends) < LEAST_M) return null;
  const across = ends.map((end) => mixed(...other, Math.min(1, Math.max(0, foot(other, end)))));
  const [near, far] = across as [Position, Position];
  if (apart(ends[0], near) > WALL_M || apart(ends[1], far) > WALL_M) return null;
  return [ends[0], ends[1], far, near, ends[0]];
}

/** Unite two areas in degrees; null where they neither touch nor share a wall. */
export function united(one: Geometry, other: Geometry, plane: Plane): Geometry | null {
  const flat = (geometry: Geometry): Area =>
    areas(geometry).map((rings) => rings.map((ring) => ring.map((at) => plane.metres(at))));
  const [a, b] = [flat(one), flat(other)];
  const walls: Area = edges(a)
    .flatMap((edge) => edges(b).map((facing) => wall(edge, facing)))
    .filter((ring) => ring !== null)
    .map((ring) => [ring]);
  const whole = clip.union(a as clip.Geom, b as clip.Geom, ...walls.map((ring) => [ring] as clip.Geom));
  if (whole.length !== 1 || whole[0] === undefined) return null;
  return { type: 'Polygon', coordinates: whole[0].map((ring) => ring.map((at) => plane.degrees(at))) };
}

/** How large an area around a point is (of no unit, to compare); 0 where the point is outside. */
export function sizeAround(geometry: Geometry | null, [x, y]: Position): number {
  for (const [outer = []] of geometry === null ? [] : areas(geometry)) {
    let [inside, twice] = [false, 0];
    outer.forEach(([bx, by], index) => {
      const [ax, ay] = outer.at(index - 1) ?? [bx, by];
      twice += ax * by - bx * ay;
      if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
    });
    if (inside) return Math.abs(twice);
  }
  return 0;
}
