import { describe, expect, test } from 'vitest';
import { Bag } from '../../src/wire/fold';
import type { Delta, Snapshot } from '../../src/wire/protocol';
import { delta, snapshot } from './hand';

const bagAt = (epoch: number, rows: (string | number)[][]): Bag => {
  const bag = new Bag();
  bag.replace(snapshot(1, 'v', epoch, rows) as Snapshot);
  return bag;
};
const d = (prev: number, epoch: number, changes: [number, ...(string | number)[]][]): Delta =>
  delta(1, prev, epoch, changes) as Delta;

describe('the fold of a view', () => {
  test('inserts and deletes rows', () => {
    const bag = bagAt(5, [['x', 1]]);
    expect(
      bag.apply(
        d(5, 6, [
          [1, 'y', 2],
          [-1, 'x', 1],
        ]),
      ),
    ).toBe('applied');
    expect(bag.rows()).toEqual([['y', 2]]);
    expect(bag.epoch).toBe(6);
  });

  test('counts multiplicities', () => {
    const bag = bagAt(1, [
      ['x', 1],
      ['x', 1],
    ]);
    expect(bag.size).toBe(2);
    bag.apply(d(1, 2, [[-1, 'x', 1]]));
    expect(bag.rows()).toEqual([['x', 1]]);
    bag.apply(d(2, 3, [[3, 'x', 1]]));
    expect(bag.counted()).toEqual([{ row: ['x', 1], weight: 4, key: '["x",1]' }]);
  });

  test('takes one row that is deleted and inserted in one delta', () => {
    const bag = bagAt(1, [['x', 1]]);
    expect(
      bag.apply(
        d(1, 2, [
          [-1, 'x', 1],
          [1, 'x', 1],
        ]),
      ),
    ).toBe('applied');
    expect(bag.rows()).toEqual([['x', 1]]);
  });

  test('tells 1 from "1" and null', () => {
    const bag = bagAt(1, [[1, 'a']]);
    bag.apply(d(1, 2, [[1, '1', 'a']]));
    expect(bag.size).toBe(2);
  });

  test('a duplicate changes nothing', () => {
    const bag = bagAt(1, []);
    const once = d(1, 2, [[1, 'x', 1]]);
    bag.apply(once);
    expect(bag.apply(once)).toBe('seen');
    expect(bag.size).toBe(1);
  });

  test('a gap is refused and leaves the bag as it was', () => {
    const bag = bagAt(1, [['x', 1]]);
    expect(bag.apply(d(2, 3, [[1, 'y', 1]]))).toBe('gap');
    expect(bag.rows()).toEqual([['x', 1]]);
    expect(bag.epoch).toBe(1);
  });

  test('a deletion of what is not there is refused whole', () => {
    const bag = bagAt(1, [['x', 1]]);
    expect(
      bag.apply(
        d(1, 2, [
          [1, 'z', 1],
          [-1, 'y', 1],
        ]),
      ),
    ).toBe('gap');
    expect(bag.rows()).toEqual([['x', 1]]);
  });

  test('before a snapshot nothing can be applied', () => {
    expect(new Bag().apply(d(0, 1, []))).toBe('gap');
  });

  test('law: fold of random deltas equals the last snapshot', () => {
    let seed = 11;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 50; round++) {
      const truth = new Map<string, number>();
      const bag = bagAt(0, []);
      for (let epoch = 1; epoch <= 20; epoch++) {
        const changes: [number, ...(string | number)[]][] = [];
        for (let i = 0; i < 4; i++) {
          const key = `r${random(6)}`;
          const held = truth.get(key) ?? 0;
          const weight = held > 0 && random(2) === 0 ? -1 : 1;
          truth.set(key, held + weight);
          changes.push([weight, key]);
        }
        expect(bag.apply(d(epoch - 1, epoch, changes))).toBe('applied');
      }
      const expected = [...truth].filter(([, w]) => w > 0).sort();
      expect(
        bag
          .counted()
          .map(({ row, weight }) => [row[0], weight])
          .sort(),
      ).toEqual(expected);
    }
  });
});
