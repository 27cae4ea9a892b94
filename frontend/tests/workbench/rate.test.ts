import { expect, test } from 'vitest';
import { Rate, rateText, WINDOW_MS } from '../../src/workbench/rate';

test('a rate is what came lately, over the time since it began', () => {
  const rate = new Rate(0);
  rate.add(500, 4);
  expect(rate.perS(500)).toBe(4); // no less than a second
  expect(rate.perS(2000)).toBe(2);
  rate.add(WINDOW_MS, 6);
  expect(rate.perS(WINDOW_MS)).toBe(1);
  expect(rate.perS(WINDOW_MS + 500)).toBe(0.6); // the first four have passed
  expect(rate.perS(3 * WINDOW_MS)).toBe(0);
});

test('a rate is as exact as it is worth reading', () => {
  expect([0, 0.04, 0.26, 9.96, 12.4].map(rateText)).toEqual(['0', '0', '0.3', '10', '12']);
});
