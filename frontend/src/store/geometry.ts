/** Plane geometry in metres: just what directions and labels need. */
import { elementAt } from '../lists';

/** Metres, x east and y north. */
export type Point = [number, number];
export type Ring = Point[];

export function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** Even–odd test; the first ring is the outline, the others are holes. */
export function inside(point: Point, rings: readonly Ring[]): boolean {
  let odd = false;
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [ax, ay] = elementAt(ring, i);
      const [bx, by] = elementAt(ring, j);
      const crosses = ay > point[1] !== by > point[1];
      if (crosses && point[0] < ((bx - ax) * (point[1] - ay)) / (by - ay) + ax) odd = !odd;
    }
  }
  return odd;
}

/** Width and height of the box around the outline, m. */
export function extent(rings: readonly Ring[]): [number, number] {
  const outline = rings[0] ?? [];
  const xs = outline.map((p) => p[0]);
  const ys = outline.map((p) => p[1]);
  return [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
}

function offLine(p: Point, a: Point, b: Point): number {
  const length = distance(a, b);
  if (length === 0) return distance(p, a);
  return Math.abs((b[0] - a[0]) * (a[1] - p[1]) - (a[0] - p[0]) * (b[1] - a[1])) / length;
}

/** Douglas–Peucker: drop points closer than `tolerance_m` to the line that remains. */
export function simplify(points: readonly Point[], toleranceM: number): Point[] {
  if (points.length < 3) return [...points];
  const first = elementAt(points, 0);
  const last = elementAt(points, -1);
  let worst = 0;
  let at = 0;
  for (let i = 1; i < points.length - 1; i++) {
    const off = offLine(elementAt(points, i), first, last);
    if (off > worst) [worst, at] = [off, i];
  }
  if (worst <= toleranceM) return [first, last];
  return [
    ...simplify(points.slice(0, at + 1), toleranceM).slice(0, -1),
    ...simplify(points.slice(at), toleranceM),
  ];
}

/** Turn from segment ab to bc, degrees, left positive. */
export function turn(a: Point, b: Point, c: Point): number {
  const before = Math.atan2(b[1] - a[1], b[0] - a[0]);
  const after = Math.atan2(c[1] - b[1], c[0] - b[0]);
  const degrees = ((after - before) * 180) / Math.PI;
  return ((degrees + 540) % 360) - 180;
}

/** SVG path data; y is turned because plans count north upwards. */
export function pathData(rings: readonly Ring[]): string {
  return rings
    .map((ring) => `M${ring.map(([x, y]) => `${x.toFixed(2)} ${(-y).toFixed(2)}`).join('L')}Z`)
    .join('');
}

/** The neighbour in a direction: nearest in a 45° cone, distance across weighing double. */
export function neighbour<T extends { readonly at: Point }>(
  from: Point,
  others: readonly T[],
  direction: 'up' | 'down' | 'left' | 'right',
): T | null {
  let best: T | null = null;
  let bestCost = Infinity;
  for (const other of others) {
    const dx = other.at[0] - from[0];
    const dy = other.at[1] - from[1];
    const along = { up: dy, down: -dy, right: dx, left: -dx }[direction];
    const across = Math.abs(direction === 'up' || direction === 'down' ? dx : dy);
    if (along <= 0.05 || across > along * 1.5 + 0.5) continue;
    const cost = along + 2 * across;
    if (cost < bestCost) [best, bestCost] = [other, cost];
  }
  return best;
}

/**
 * Where a name is read best inside a room: clear of `things`, else the label point itself.
 *
 * @param clearM how far from the nearest thing is far enough, m.
 */
export function quietSpot(
  rings: readonly Ring[],
  label: Point,
  things: readonly Point[],
  clearM: number,
): Point {
  const gap = (p: Point): number => Math.min(...things.map((t) => distance(t, p)));
  if (things.length === 0 || gap(label) >= clearM) return label;
  const outline = rings[0] ?? [];
  const [width, height] = extent(rings);
  const west = Math.min(...outline.map((p) => p[0]));
  const south = Math.min(...outline.map((p) => p[1]));
  let best = label;
  let bestScore = -Infinity;
  for (let i = 1; i < 12; i++) {
    for (let j = 1; j < 12; j++) {
      const p: Point = [west + (width * i) / 12, south + (height * j) / 12];
      const edges: Point[] = [
        [p[0] - 1.6, p[1]],
        [p[0] + 1.6, p[1]],
      ];
      if (!edges.every((edge) => inside(edge, rings))) continue;
      const score = Math.min(gap(p), clearM) - 0.05 * distance(p, label);
      if (score > bestScore) [best, bestScore] = [p, score];
    }
  }
  return best;
}
