/** The editor's arithmetic: degrees and metres, a picture's place, one area out of two. */
import { expect, test } from 'vitest';
import type { Geometry } from '../../src/editor/drawing';
import { matrix, pixelAt } from '../../src/editor/picture';
import { place, Plane, type Position } from '../../src/editor/plane';
import { sizeAround, united } from '../../src/editor/union';

const PLANE = new Plane([9.9558, 48.4229]);

/** A rectangle in degrees, given in metres. */
function box(west: number, south: number, east: number, north: number): Geometry {
  const corners: Position[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: 'Polygon', coordinates: [corners.map((at) => PLANE.degrees(at))] };
}

function areaOf(geometry: Geometry | null): number {
  if (geometry?.type !== 'Polygon') return 0;
  const ring = (geometry.coordinates[0] ?? []).map((at) => PLANE.metres(at));
  return Math.abs(
    ring.reduce((sum, [x, y], index) => {
      const [u, v] = ring[(index + 1) % ring.length] ?? [x, y];
      return sum + x * v - u * y;
    }, 0) / 2,
  );
}

test('a point comes back from degrees within a tenth of a millimetre', () => {
  for (const [x, y] of [
    [0, 0],
    [123.456, -7.5],
    [-20, 400],
  ] as Position[]) {
    const [u, v] = PLANE.metres(PLANE.degrees([x, y]));
    expect(Math.hypot(u - x, v - y)).toBeLessThan(1e-4);
  }
});

test.each([
  ['48.4229, 9.9558', [9.9558, 48.4229]],
  [' -12.5;7 ', [7, -12.5]],
  ['91, 0', null],
  ['here', null],
  ['', null],
])('%s is a place or none', (text, expected) => {
  expect(place(text)).toEqual(expected);
});

test('two points put a picture in its place, turned and stretched', () => {
  const pixels: [Position, Position] = [
    [10, 20],
    [110, 20],
  ];
  const metres: [Position, Position] = [
    [5, 5],
    [5, 15],
  ]; // the picture's top looks west
  const found = matrix(pixels, metres);
  expect(found).not.toBeNull();
  if (found === null) return;
  const [a, b, c, d, e, f] = found;
  const at = ([x, y]: Position): Position => [a * x + c * y + e, -(b * x + d * y + f)];
  pixels.forEach((pixel, index) => {
    const [x, y] = at(pixel);
    expect(x).toBeCloseTo(metres[index]?.[0] ?? NaN);
    expect(y).toBeCloseTo(metres[index]?.[1] ?? NaN);
  });
  expect(at([10, 120])[0]).toBeCloseTo(15); // a hundred pixels down are ten metres east
  const [x, y] = pixelAt(found, at([37, 91]));
  expect([x, y].map((one) => Math.round(one))).toEqual([37, 91]);
  expect(
    matrix(
      [
        [1, 1],
        [1, 1],
      ],
      metres,
    ),
  ).toBeNull();
});

test('two rooms become one, with the wall between them', () => {
  expect(areaOf(united(box(0, 0, 4, 5), box(4, 0, 8, 5), PLANE))).toBeCloseTo(40, 2);
  expect(areaOf(united(box(0, 0, 4, 5), box(4.3, 0, 8.3, 5), PLANE))).toBeCloseTo(41.5, 2);
  expect(areaOf(united(box(0, 0, 4, 5), box(4.3, 4, 8.3, 9), PLANE))).toBeCloseTo(40.3, 2);
});

test('rooms that share no wall stay two', () => {
  expect(united(box(0, 0, 4, 5), box(6, 0, 8, 5), PLANE)).toBeNull();
});

test('a point is in the smallest area around it', () => {
  const at = PLANE.degrees([1, 1]);
  const [large, small] = [sizeAround(box(0, 0, 10, 10), at), sizeAround(box(0, 0, 2, 2), at)];
  expect(large).toBeGreaterThan(small);
  expect(small).toBeGreaterThan(0);
  expect(sizeAround(box(2, 2, 4, 4), at)).toBe(0);
});
