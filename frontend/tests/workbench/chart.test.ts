/** Which chart rows have, and what is drawn of it. */
import { expect, test } from 'vitest';
import { BARS_AT_MOST, chartOf, LINES_AT_MOST, ticks, timeTicks } from '../../src/workbench/chart';

const SID = { name: 'sid', type: 'TEXT', unit: '' };
const AT = { name: 'at_s', type: 'FLOAT', unit: 's' };
const CELSIUS = { name: 'celsius', type: 'FLOAT', unit: '°C' };
const COUNT = { name: 'free', type: 'INT', unit: '' };
const NODE = { name: 'node', type: 'INT', unit: '' };
const X = { name: 'x_m', type: 'FLOAT', unit: 'm' };
const NOON_S = 1_795_000_000;

test('numbers over time are a line for each name, in the order of time', () => {
  const rows = [
    ['b', NOON_S + 10, 21],
    ['a', NOON_S + 20, 23],
    ['a', NOON_S, 22],
    ['a', NOON_S + 30, null],
  ];
  const chart = chartOf([SID, AT, CELSIUS], rows, null, false);
  expect(chart?.form === 'lines' && chart.lines).toEqual([
    {
      key: 'a',
      points: [
        { atS: NOON_S, value: 22 },
        { atS: NOON_S + 20, value: 23 },
      ],
    },
    { key: 'b', points: [{ atS: NOON_S + 10, value: 21 }] },
  ]);
  expect([chart?.value.name, chart?.by]).toEqual(['celsius', 'sid']);
});

test('one moment for each name is no line: the names are compared', () => {
  const rows = [
    ['a', NOON_S, 20],
    ['b', NOON_S + 5, 22],
    ['c', NOON_S, 21],
  ];
  const chart = chartOf([SID, AT, CELSIUS], rows, null, false);
  expect(chart?.form === 'bars' && chart.bars.map(({ key }) => key)).toEqual(['b', 'c', 'a']);
});

test('bars keep the order that the query asks for', () => {
  const rows = [
    ['a', 1],
    ['b', 3],
    ['c', 2],
  ];
  const chart = chartOf([SID, COUNT], rows, null, true);
  expect(chart?.form === 'bars' && chart.bars.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
});

test('names of things and places are no amounts; of several amounts the one with a unit is drawn', () => {
  expect(
    chartOf(
      [SID, NODE, X],
      [
        ['a', 1, 2],
        ['b', 2, 3],
      ],
      null,
      false,
    ),
  ).toBe(null);
  const columns = [SID, COUNT, CELSIUS];
  const rows = [
    ['a', 1, 20],
    ['b', 2, 21],
  ];
  expect(chartOf(columns, rows, null, false)?.choices).toEqual([2, 1]);
  expect(chartOf(columns, rows, 1, false)?.value).toBe(COUNT);
  expect(chartOf(columns, rows, 0, false)?.value).toBe(CELSIUS);
});

test('bars begin at zero, but close values far from it have a scale of their own', () => {
  const bars = (values: number[]): unknown => {
    const chart = chartOf(
      [SID, CELSIUS],
      values.map((value, i) => [`s${i}`, value]),
      null,
      false,
    );
    return chart?.form === 'bars' && [chart.low, chart.high];
  };
  expect(bars([1, 3])).toEqual([0, 3]);
  expect(bars([-2, 3])).toEqual([-2, 3]);
  expect(bars([24.5, 27.2])).toEqual([24, 28]);
  expect(bars([5, 5])).toEqual([0, 5]);
});

test('a name that says the same twice, or nothing, is told once', () => {
  const room = { name: 'name', type: 'TEXT', unit: '' };
  const rows = [
    ['V204', 'V204', 2],
    ['L1', '', 1],
  ];
  const chart = chartOf([SID, room, CELSIUS], rows, null, false);
  expect(chart?.form === 'bars' && chart.bars.map(({ key }) => key)).toEqual(['V204', 'L1']);
});

test('one row, or numbers that nothing names, have no chart', () => {
  expect(chartOf([SID, CELSIUS], [['a', 20]], null, false)).toBe(null);
  expect(chartOf([CELSIUS], [[20], [21]], null, false)).toBe(null);
  expect(
    chartOf(
      [SID, AT],
      [
        ['a', NOON_S],
        ['b', NOON_S],
      ],
      null,
      false,
    ),
  ).toBe(null);
});

test('of many lines and bars the first are drawn, and how many there are is known', () => {
  const many = Array.from({ length: 60 }, (_, i) => i);
  const lines = chartOf(
    [SID, AT, CELSIUS],
    many.flatMap((i) => [0, 1].map((s) => [`s${i}`, NOON_S + s, i])),
    null,
    false,
  );
  expect([lines?.form === 'lines' && lines.lines.length, lines?.total]).toEqual([LINES_AT_MOST, 60]);
  const bars = chartOf(
    [SID, CELSIUS],
    many.map((i) => [`s${i}`, i]),
    null,
    false,
  );
  expect([bars?.form === 'bars' && bars.bars.length, bars?.total]).toEqual([BARS_AT_MOST, 60]);
});

test('an axis has round numbers that hold all values', () => {
  expect(ticks(19.2, 27, 4)).toEqual([18, 20, 22, 24, 26, 28]);
  expect(ticks(0, 0, 4)[0]).toBe(0);
  for (const [least, most] of [
    [3, 3],
    [-5, 12],
    [0.001, 0.0042],
    [1e6, 1.2e6],
  ] as const) {
    const found = ticks(least, most, 4);
    expect(found[0]).toBeLessThanOrEqual(least);
    expect(found.at(-1)).toBeGreaterThanOrEqual(most);
    expect(found.length).toBeGreaterThan(1);
    expect(found.length).toBeLessThan(9);
  }
});

test('an axis of time has whole moments of the clock', () => {
  const found = timeTicks(NOON_S, NOON_S + 300, 5);
  expect(found.length).toBeGreaterThan(2);
  expect(found.every((atS) => atS % 60 === 0)).toBe(true);
});

test('decimals, which come as texts, are drawn by their size', () => {
  const price = { name: 'price', type: 'DECIMAL(10,2)', unit: '' };
  const rows = [
    ['a', '9.99'],
    ['b', '10.00'],
    ['c', '-20.00'],
    ['d', null],
  ];
  const chart = chartOf([SID, price], rows, null, false);
  expect(chart?.form === 'bars' && chart.bars).toEqual([
    { key: 'b', value: 10 },
    { key: 'a', value: 9.99 },
    { key: 'c', value: -20 },
  ]);
});
