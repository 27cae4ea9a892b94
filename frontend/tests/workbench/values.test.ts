/** Values as people read them: the zone named, moments and durations told apart, units where known. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  asNumber,
  cellText,
  durationText,
  exactText,
  headingUnit,
  isNumber,
  zoneName,
} from '../../src/workbench/values';

const zone = process.env.TZ;
beforeAll(() => (process.env.TZ = 'Europe/Berlin'));
afterAll(() => (process.env.TZ = zone));

const NOON_S = Date.UTC(2026, 10, 23, 11, 0, 9) / 1000;
const at = { name: 'at_s', type: 'FLOAT', unit: 's' };
const watts = { name: 'power', type: 'FLOAT', unit: 'W' };
const plain = { name: 'node', type: 'INT', unit: '' };

test('a moment is told in the reader’s zone, with its day where that is another one', () => {
  expect(cellText(NOON_S, at, NOON_S + 60)).toBe('12:00:09');
  expect(cellText(NOON_S, at, NOON_S + 86_400)).toBe('Nov 23, 12:00:09');
  expect(cellText(NOON_S, at, NOON_S + 366 * 86_400)).toBe('Nov 23, 2026, 12:00:09');
  expect(exactText(NOON_S + 0.25, at)).toBe(`2026-11-23T11:00:09.250Z (${NOON_S + 0.25} s)`);
});

test('the zone has its name and its distance from UTC', () => {
  expect(zoneName(NOON_S)).toBe('UTC+1');
  expect(zoneName(Date.UTC(2026, 6, 1) / 1000)).toBe('UTC+2');
  process.env.TZ = 'UTC';
  expect(zoneName(NOON_S)).toBe('UTC');
  process.env.TZ = 'Europe/Berlin';
});

test('an array is its values, each as it would stand alone', () => {
  const many = { ...watts, type: 'FLOAT[]' };
  expect(cellText([1234.5678, null], many, NOON_S)).toBe('[1,234.568, NULL]');
  expect(cellText(['a', 'b'], { ...plain, type: 'TEXT[]' }, NOON_S)).toBe('[a, b]');
  expect([many, watts].map(isNumber)).toEqual([false, true]);
});

test('seconds that are no moment are a duration', () => {
  expect(cellText(200, at, NOON_S)).toBe('3 min 20 s');
  expect([0.25, 4.21, 60, 7500, 273_600, -90].map(durationText)).toEqual([
    '250 ms',
    '4.2 s',
    '1 min',
    '2 h 5 min',
    '3 d 4 h',
    '−1 min 30 s',
  ]);
  expect(headingUnit(at)).toBe('');
  expect(exactText(200, at)).toBe('200 s');
});

test('amounts are grouped, names of things are not, and nothing is rounded away unseen', () => {
  expect(cellText(12_345.678_9, watts, NOON_S)).toBe('12,345.679');
  expect(exactText(12_345.678_9, watts)).toBe('12345.6789 W');
  expect(headingUnit(watts)).toBe('W');
  expect(cellText(12_345, plain, NOON_S)).toBe('12345');
  expect(exactText(12_345, plain)).toBe('');
  expect([cellText(null, at, NOON_S), cellText(true, plain, NOON_S)]).toEqual(['NULL', 'true']);
});

test('a decimal sorts as its number, a text as it is', () => {
  const price = { type: 'DECIMAL(10,2)' };
  expect(['-20.00', '9.99', '10.00'].map((text) => asNumber(text, price))).toEqual([-20, 9.99, 10]);
  expect(asNumber(null, price)).toBeNull();
  expect(asNumber('9.99', { type: 'TEXT' })).toBe('9.99');
});
