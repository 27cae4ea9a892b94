/** Ways out in words: who has one, who has none, what hangs on a door, who must walk where. */
import { expect, test } from 'vitest';
import {
  byExit,
  cutOff,
  drill,
  exitName,
  exitsOf,
  hanging,
  MODES,
  waysOut,
  weakPoints,
} from '../../src/store/ways';
import { world } from '../../src/store/world';
import { GROUND, table, tables, UPPER } from './scene';

const PLANS = [GROUND, UPPER];
const seen = world(PLANS, tables());
const exits = exitsOf(PLANS);
const [walking, stepFree, withLifts] = MODES;
const room = (rid: string, exit: number, cost_mm: number) => ({ rid, exit, cost_mm });

test('rows of the views are those of who walks', () => {
  const found = table(
    ['rid', 'step_free', 'lifts', 'node', 'exit', 'cost_mm'],
    [
      ['lab', false, false, 1, 50, 20_000],
      ['store', false, false, 2, 51, 9_000],
      ['hall', false, false, 3, 50, 30_000],
      ['lab', true, true, 1, 50, 25_000],
    ],
  );
  expect([...waysOut(found, walking).keys()]).toEqual(['lab', 'store', 'hall']);
  expect(waysOut(found, stepFree).size).toBe(0);
  expect(waysOut(found, withLifts).get('lab')?.costMm).toBe(25_000);
  expect(byExit(waysOut(found, walking))).toEqual([
    { exit: 50, rooms: 2, mostMm: 30_000 },
    { exit: 51, rooms: 1, mostMm: 9_000 },
  ]);
});

test('rooms are cut off by locked doors, or have no way on the plan at all', () => {
  const found = table(
    ['rid', 'step_free', 'lifts', 'by_doors'],
    [
      ['store', false, false, true],
      ['hall1', false, false, false],
      ['lab', true, false, true],
    ],
  );
  expect(cutOff(found, walking)).toEqual({ byDoors: ['store'], never: ['hall1'] });
  expect(cutOff(found, stepFree)).toEqual({ byDoors: ['lab'], never: [] });
});

test('an exit goes by its name, or by where it is', () => {
  expect(exitName(exits.get(50), seen)).toBe('exit Main');
  expect(exitName(exits.get(51), seen)).toBe('exit Room H2 store');
  expect(exitName(undefined, seen)).toBe('an exit');
});

test('weak points are doors, stairs and lifts one can look at', () => {
  const point = (relation: string, row: object, lost: number) => ({ relation, row, lost, hidden: false });
  const found = {
    points: [
      point('riser_step', { src: 6, dst: 4, way: 'lift' }, 9),
      point('door', { door_id: 'd1' }, 2),
      point('riser_step', { src: 99, dst: 98, way: 'stairs' }, 1),
    ],
  };
  const floors = new Map([
    ['L0', 'Ground'],
    ['L1', 'First'],
  ]);
  expect(weakPoints(found as never, PLANS, floors)).toEqual([
    { text: 'Lift lift1, from floor First to floor Ground', select: 'room:lift1', lost: 9 },
    { text: 'Door d1', select: 'door:d1', lost: 2 },
  ]);
});

test('a drill tells who would be cut off, and who would walk elsewhere or further', () => {
  const told = drill(
    {
      gone: [room('lab', 50, 20_000), room('store', 51, 9_000), room('hall', 50, 5_000)],
      come: [room('store', 50, 39_000), room('hall', 50, 8_000)],
    },
    exits,
    seen,
  );
  expect(told.cut).toEqual(['lab']);
  expect(told.moved).toEqual([
    'Room H2: exit Main instead of exit Room H2 store, 39 m, 30 m more',
    'Corridor: the same exit, 8 m, 3 m more',
  ]);
});

test('what hangs on a door are rooms and the machines in them', () => {
  const rows = [{ rid: 'lab' }, { rid: 'store' }];
  expect(hanging({ gone: rows, come: [] }, seen, 'locked')).toBe(
    'No way would lead out of Room H1, Room H2, with 3 machines.',
  );
  expect(hanging({ gone: [], come: rows.slice(1) }, seen, 'open')).toBe(
    'A way would again lead out of Room H2, with one machine.',
  );
  expect(hanging({ gone: [], come: [] }, seen, 'locked')).toContain('every room would still');
});
