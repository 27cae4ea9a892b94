import { expect, test } from 'vitest';
import type { Cell } from '../../src/wire/protocol';
import { comparison } from '../../src/workbench/order';
import { Results } from '../../src/workbench/results.svelte';

const COLUMNS = [
  { name: 'mid', type: 'TEXT', unit: '' },
  { name: 'order_by_1', type: 'FLOAT', unit: '' },
];
const ROWS: Cell[][] = [
  ['b', 2],
  ['a', 10],
  ['c', null],
  ['d', 2],
];

function sorted(descending: boolean, nulls_last: boolean): string {
  const keys = [
    { column: 'order_by_1', descending, nulls_last },
    { column: 'mid', descending: true, nulls_last: false },
  ];
  return [...ROWS]
    .sort(comparison({ keys, width: 1 }, COLUMNS))
    .map(([mid]) => mid)
    .join('');
}

test('rows are sorted as the engine sorts them: numbers by size, nulls where the key says', () => {
  expect(sorted(false, false)).toBe('cdba');
  expect(sorted(false, true)).toBe('dbac');
  expect(sorted(true, false)).toBe('cadb');
  expect(sorted(true, true)).toBe('adbc');
});

test('a one-shot answer is shown in the order it came', () => {
  const answer = {
    kind: 'answer' as const,
    columns: COLUMNS,
    rows: ROWS,
    epoch: 7,
    position: 40,
    at_s: 1,
    complete_since_s: 0.5,
    total: 4,
  };
  const results = Results.answered(answer);
  expect(results.rows.map(({ row }) => row[0])).toEqual(['b', 'a', 'c', 'd']);
  expect([results.total, results.epoch, results.columns.length]).toEqual([4, 7, 2]);
  expect(results.completeSinceS).toBe(0.5);
  results.sort(0);
  expect(results.rows.map(({ row }) => row[0])).toEqual(['a', 'b', 'c', 'd']);
});
