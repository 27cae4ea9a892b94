/** What is missing, in plain words. */
import { expect, test } from 'vitest';
import type { Edit, Missing } from '../../src/api/schema';
import { tellMissing } from '../../src/store/missing';
import { world } from '../../src/store/world';
import { GROUND, tables, UPPER } from './scene';

type Repairs = Pick<Missing, 'repairs' | 'complete'>;

const seen = world([GROUND, UPPER], tables());
const insert = (relation: string, after: Edit['after']): Edit => ({
  action: 'insert',
  relation,
  before: null,
  after,
  hidden: false,
  example: null,
});
const lost = (relation: string, before: Edit['before']): Edit => ({
  action: 'delete',
  relation,
  before,
  after: null,
  hidden: false,
  example: null,
});
const seat = insert('seat_reading', {
  mid: 'm1',
  sid: { open: 'sid' },
  weight_kg: { open: 'weight_kg' },
  at_s: { open: 'at_s' },
});
const cpu = insert('cpu_reading', { mid: 'm1', cpu_pct: { open: 'cpu_pct' } });
const missing = (edits: Edit[], conditions: string[] = []): Repairs => ({
  repairs: [{ edits, conditions }],
  complete: true,
});
const first = (told: Repairs): readonly string[] => tellMissing(told, seen).ways[0] ?? [];

test('a taken seat', () => {
  expect(tellMissing(missing([seat], ['weight_kg < 5.0']), seen)).toEqual({
    heading: 'It would be free, if only',
    ways: [['the seat at host-m1 read less than 5 kg']],
  });
});

test('a machine nobody hears of needs two readings', () => {
  expect(first(missing([seat, cpu], ['cpu_pct < 80.0', 'weight_kg < 5.0']))).toEqual([
    'the seat at host-m1 read less than 5 kg',
    'the processor of host-m1 were at less than 80 %',
  ]);
});

test('a room that is reserved, dark, behind a door', () => {
  const door: Edit = {
    action: 'change',
    relation: 'door',
    hidden: false,
    example: null,
    before: { door_id: 'd1', state: 'locked' },
    after: { door_id: 'd1', state: 'open' },
  };
  expect(
    first(
      missing([
        lost('reservation', { reservation_id: 7, rid: 'lab', title: 'Analysis' }),
        lost('light_reading', { rid: 'lab', sid: 'l1', lux: 3 }),
        door,
      ]),
    ),
  ).toEqual(['Room H1 were not reserved (Analysis)', 'Room H1 were not dark: 3 lx', 'door d1 were open']);
});

test('several ways, those without words, and none', () => {
  const { heading, ways } = tellMissing(
    {
      repairs: [
        { edits: [insert('machine', { mid: 'm9', node: { open: 'node' } })], conditions: [] },
        { edits: [lost('level', { level_id: 'L0' })], conditions: [] },
        { edits: [{ ...seat, hidden: true }], conditions: [] },
      ],
      complete: false,
    },
    seen,
  );
  expect(heading).toBe('It would be free, if any one of these were so:');
  expect(ways).toEqual([
    ['there were machine(m9, any)'],
    ['there were no level(L0)'],
    ['another visitor asked for something else'],
  ]);
  expect(tellMissing({ repairs: [], complete: true }, seen).heading).toBe(
    'Nothing that can change would make it free.',
  );
  expect(tellMissing({ repairs: [], complete: false }, seen).heading).toBe(
    'No way was found to make it free.',
  );
});
