/** A picture of a floor under the drawing: put in its place by two of its points. */
import type { Position } from './plane';

/** A point of the picture (pixels from its top left corner) and where that is (degrees). */
export interface Pin {
  readonly pixel: Position;
  readonly at: Position;
}

export interface Picture {
  readonly level: number;
  readonly file: Blob;
  readonly width: number;
  readonly height: number;
  readonly pins: readonly Pin[];
}

/** An SVG matrix: pixels of the picture to metres, y down. */
export type Matrix = readonly [number, number, number, number, number, number];

/** Metres per pixel of a picture whose place nobody knows yet. */
export const UNPLACED_M = 0.05;

/** Turn, stretch and move a picture so that both pins lie where they are; null for fewer or equal ones. */
export function matrix(
  pixels: readonly [Position, Position],
  metres: readonly [Position, Position],
): Matrix | null {
  const [[px, py], [qx, qy]] = pixels;
  const [[ax, ay], [bx, by]] = metres;
  // As complex numbers, y down on both sides: w = a z + b.
  const [dx, dy] = [qx - px, qy - py];
  const [ex, ey] = [bx - ax, -by + ay];
  const size = dx * dx + dy * dy;
  if (size === 0 || (ex === 0 && ey === 0)) return null;
  const re = (ex * dx + ey * dy) / size;
  const im = (ey * dx - ex * dy) / size;
  return [re, im, -im, re, ax - (re * px - im * py), -ay - (im * px + re * py)];
}

/** Give the pixel that lies at a point (metres, y up) of a placed picture. */
export function pixelAt([a, b, c, d, e, f]: Matrix, [x, y]: Position): Position {
  const [u, v] = [x - e, -y - f];
  const det = a * d - b * c;
  return [(d * u - c * v) / det, (a * v - b * u) / det];
}
