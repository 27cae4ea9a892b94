import { expect, test } from 'vitest';
import { turned, turning, UNTURNED, upright } from '../../src/map/turn';

const about: [number, number] = [10, 20];

test.each([
  [0, [10, 25]],
  [90, [15, 20]],
  [180, [10, 15]],
  [270, [5, 20]],
])('what lies five metres ahead, looking to %i degrees, is up', (deg, ahead) => {
  const [x, y] = turned(ahead as [number, number], { deg, about });
  expect(x).toBeCloseTo(10);
  expect(y).toBeCloseTo(25);
});

test('an unturned plan has no transform', () => {
  expect(turned([1, 2], UNTURNED)).toEqual([1, 2]);
  expect(turning(UNTURNED)).toBeUndefined();
  expect(upright(0, [1, 2])).toBeUndefined();
});
