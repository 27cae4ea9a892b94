import { expect, test } from 'vitest';
import { Ordered, type Comparison } from '../../src/workbench/ordered';
import type { Row } from '../../src/wire/protocol';

const rising: Comparison = (a, b) => Number(a[0]) - Number(b[0]);
const key = (row: Row): string => JSON.stringify(row);

function of(numbers: readonly number[], order: Comparison | null = rising): Ordered {
  const ordered = new Ordered();
  ordered.replace(numbers.map((n) => ({ key: key([n]), row: [n], weight: 1 })));
  ordered.sortBy(order);
  return ordered;
}

const shown = (ordered: Ordered, from = 0, count = 100): unknown[] =>
  ordered.window(from, count).map(({ row, mark }) => `${mark}${String(row[0])}`);

test('rows come in at their place, and a page is a window on the order', () => {
  const ordered = of([5, 1, 3]);
  ordered.put(key([4]), [4], 1, '+', 1);
  ordered.put(key([0]), [0], 1, '+', 1);
  expect(shown(ordered)).toEqual(['+0', '1', '3', '+4', '5']);
  expect(shown(ordered, 1, 2)).toEqual(['1', '3']);
});

test('a row that left stays marked until it settles, unless it came back', () => {
  const ordered = of([1, 2, 3]);
  ordered.put(key([2]), [2], 1, '−', 1);
  ordered.put(key([3]), [3], 1, '−', 1);
  expect(shown(ordered)).toEqual(['1', '−2', '−3']);
  ordered.put(key([3]), [3], 2, '+', 1);
  ordered.settle(key([2]), 1);
  ordered.settle(key([3]), 1);
  expect(shown(ordered)).toEqual(['1', '3']);
  expect(ordered.length).toBe(2);
});

test('without an order rows stand as they came, and another order holds at once', () => {
  const ordered = of([2, 9, 4], null);
  ordered.put(key([1]), [1], 1, '+', 1);
  expect(shown(ordered)).toEqual(['2', '9', '4', '+1']);
  ordered.sortBy((a, b) => rising(b, a));
  expect(shown(ordered)).toEqual(['9', '4', '2', '+1']);
});

test('what did not change is the same object, so that its row is not drawn again', () => {
  const ordered = of([1, 2, 3]);
  const before = ordered.window(0, 3);
  ordered.put(key([2]), [2], 2, '+', 1);
  const after = ordered.window(0, 3);
  expect(after.map((row, i) => row === before[i])).toEqual([true, false, true]);
});

test('law: after any changes the order is that of sorting from scratch', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const ordered = of([...Array(200).keys()]);
  const truth = new Set(Array(200).keys());
  for (let step = 0; step < 300; step++) {
    for (let i = 0; i < 5; i++) {
      const n = random(300);
      if (truth.delete(n)) {
        ordered.put(key([n]), [n], 1, '−', 1);
        ordered.settle(key([n]), 1);
      } else {
        truth.add(n);
        ordered.put(key([n]), [n], 1, '', 1);
      }
    }
    const sorted = [...truth].sort((a, b) => a - b);
    expect(ordered.window(0, 400).map(({ row }) => row[0])).toEqual(sorted);
  }
});
