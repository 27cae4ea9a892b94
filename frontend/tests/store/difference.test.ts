/** What a supposition would do, in a sentence. */
import { expect, test } from 'vitest';
import { doorStatement, tellDifference } from '../../src/store/difference';
import { world } from '../../src/store/world';
import { GROUND, tables, UPPER } from './scene';

const seen = world([GROUND, UPPER], tables());
const row = (mid: string, cost: number) => ({
  session: 's',
  target: mid,
  rid: mid === 'm3' ? 'store' : 'lab',
  mid,
  cost_mm: cost,
});
const now = row('m1', 20_000);

test('a door is supposed by a statement, whatever its name', () => {
  expect(doorStatement("A'1", 'locked')).toBe("UPDATE door SET state = 'locked' WHERE door_id = 'A''1'");
});

test('another target, and how much further it is', () => {
  const moved = { gone: [now], come: [row('m3', 104_600)] };
  expect(tellDifference(moved, now, seen)).toBe('Then host-m3 in Room H2: 105 m to walk, 85 m more.');
});

test('the same target by another way', () => {
  const longer = { gone: [now], come: [row('m1', 26_000)] };
  expect(tellDifference(longer, now, seen)).toBe('Still host-m1: 26 m to walk, 6 m more.');
  const level = { gone: [now], come: [row('m1', 20_100)] };
  expect(tellDifference(level, now, seen)).toContain('as far as now');
});

test('no way any more, no difference, and a way where there was none', () => {
  expect(tellDifference({ gone: [now], come: [] }, now, seen)).toBe(
    'Then nothing that answers could be reached.',
  );
  expect(tellDifference({ gone: [], come: [] }, now, seen)).toBe('The way would stay as it is.');
  expect(tellDifference({ gone: [], come: [] }, null, seen)).toBe('There would still be no way.');
  expect(tellDifference({ gone: [], come: [{ ...row('m9', 4_000), rid: 'r9' }] }, null, seen)).toBe(
    'Then the way would lead to m9, 4 m.',
  );
});
