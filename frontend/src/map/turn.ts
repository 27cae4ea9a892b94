/** A plan turned for whoever stands before a wall: where they look is up. */
import type { Point } from '../store/geometry';

export interface Turn {
  /** Where people look, degrees clockwise from the plan's north. */
  readonly deg: number;
  /** About which point, m. */
  readonly about: Point;
}

export const UNTURNED: Turn = { deg: 0, about: [0, 0] };

/** Where a point of the plan lies on the turned plan, m. */
export function turned([x, y]: Point, { deg, about }: Turn): Point {
  if (deg === 0) return [x, y];
  const angle = (deg * Math.PI) / 180;
  const [dx, dy] = [x - about[0], y - about[1]];
  return [
    about[0] + dx * Math.cos(angle) - dy * Math.sin(angle),
    about[1] + dx * Math.sin(angle) + dy * Math.cos(angle),
  ];
}

/** The same as an SVG transform, whose y grows downwards. */
export function turning({ deg, about }: Turn): string | undefined {
  return deg === 0 ? undefined : `rotate(${-deg} ${about[0]} ${-about[1]})`;
}

/** What turns a thing at a point back, so that it stands upright. */
export function upright(deg: number, [x, y]: Point): string | undefined {
  return deg === 0 ? undefined : `rotate(${deg} ${x} ${-y})`;
}
