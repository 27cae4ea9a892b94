import { expect, test } from 'vitest';
import type { LocatedBy } from '../../src/store/layer';
import { caption, gathered, legible, locate, marks, wording, type Mark } from '../../src/store/layer';
import type { Row } from '../../src/wire/protocol';
import { BUILDING, GROUND, UPPER } from './scene';

const columns = (...names: string[]) =>
  names.map((name) => ({ name, type: 'TEXT', unit: name === 'celsius' ? '°C' : '' }));
const NODES = new Map([[7, { levelId: 'L1', at: [1, 2] as [number, number] }]]);
const spot = (by: LocatedBy, names: string[], row: Row) =>
  locate(columns(...names), by, [GROUND, UPPER], BUILDING, NODES)(row);

test('a row lies where what it names lies', () => {
  expect(spot('mid', ['mid'], ['m4'])).toEqual({
    levelId: 'L1',
    at: [5, 7],
    rid: null,
    select: 'machine:m4',
  });
  expect(spot('rid', ['rid'], ['lab'])).toEqual({
    levelId: 'L0',
    at: [10, 15],
    rid: 'lab',
    select: 'room:lab',
  });
  expect(spot('door_id', ['n', 'door_id'], [1, 'd1'])).toMatchObject({ at: [10, 10], select: 'door:d1' });
  expect(spot('sid', ['sid'], ['t1'])).toMatchObject({ levelId: 'L0', select: null });
  expect(spot('kiosk_id', ['kiosk_id'], ['k1'])).toMatchObject({ levelId: 'L0', at: [38, 7.5] });
  expect(spot('node', ['node'], [7])).toMatchObject({ levelId: 'L1', at: [1, 2] });
  expect(spot('point', ['y_m', 'level_id', 'x_m'], [4, 'L0', 3])).toMatchObject({
    levelId: 'L0',
    at: [3, 4],
  });
});

test('a row that names nothing known lies nowhere', () => {
  expect(spot('mid', ['mid'], ['m9'])).toBeNull();
  expect(spot('mid', ['mid'], [null])).toBeNull();
  expect(spot('point', ['x_m', 'y_m', 'level_id'], [null, 1, 'L0'])).toBeNull();
});

test('a row is put in its first two values that do not say where it is', () => {
  expect(
    wording(columns('mid', 'host', 'celsius', 'rid', 'note'), 'mid')(['m1', 'pc', 21.456, 'lab', 'x']),
  ).toBe('pc · 21.46 °C');
  expect(wording(columns('door_id', 'level_id', 'x_m', 'y_m'), 'point')(['d1', 'L0', 1, 2])).toBe('d1');
  expect(wording(columns('x_m', 'y_m', 'level_id'), 'point')([1, 2, 'L0'])).toBe('a row');
  expect(wording(columns('rid', 'open'), 'rid')(['lab', false])).toBe('not open');
});

test('rows at one place are one mark, and rows nowhere are counted', () => {
  const table = {
    columns: columns('rid', 'host'),
    rows: [
      ['lab', 'b'],
      ['lab', 'a'],
      ['nowhere', 'c'],
      ['store', 'd'],
    ] as Row[],
    known: true,
  };
  const found = marks(table, 'rid', locate(table.columns, 'rid', [GROUND, UPPER], BUILDING, NODES));
  expect(found.lost).toBe(1);
  expect(found.marks.map(({ rid, rows, lines }) => [rid, rows, lines])).toEqual([
    ['lab', 2, ['a', 'b']],
    ['store', 1, ['d']],
  ]);
});

const mark = (x: number, text: string): Mark => ({
  key: text,
  levelId: 'L0',
  at: [x, 0],
  rid: null,
  select: null,
  lines: [text],
  rows: 1,
});

test('what the zoom cannot tell apart is one group; nearer, each has its own flag', () => {
  const here = [mark(0, 'a'), mark(1, 'b'), mark(50, 'c')];
  const far = gathered(here, 10);
  expect(far.map((group) => [caption(group), group.rows])).toEqual([
    ['2 rows', 2],
    ['c', 1],
  ]);
  const near = gathered(here, 100);
  expect(near.map(caption)).toEqual(['a', 'b', 'c']);
  expect(legible(near, 100)).toEqual(new Set(['a', 'b', 'c']));
});

test('flags do not cover one another', () => {
  const groups = gathered([mark(0, 'a'.repeat(20)), mark(3, 'b'.repeat(20)), mark(40, 'c')], 10);
  expect(groups).toHaveLength(3);
  expect([...legible(groups, 10)]).toEqual(['a'.repeat(20), 'c']);
});
