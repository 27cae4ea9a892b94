/** Rooms in a row are told apart by their names. */
import { expect, test } from 'vitest';
import { titlesOf } from '../../src/store/titles';
import { BUILDING, GROUND, UPPER } from './scene';

const called = (plan: typeof GROUND, id: string, as: string, category = 'room') => ({
  ...plan.units[0],
  id,
  name: as,
  category,
});

test('what two floors have says its floor, and what one floor has twice says its id', () => {
  const ground = {
    ...GROUND,
    units: [
      called(GROUND, 'a', 'H1'),
      called(GROUND, 'b', 'H2'),
      called(GROUND, 'c', '', 'walkway'),
      called(GROUND, 'd', '', 'walkway'),
    ],
  };
  const upper = { ...UPPER, units: [called(GROUND, 'e', 'H1'), called(GROUND, 'f', '', 'walkway')] };
  const titles = titlesOf([ground, upper] as never, BUILDING.levels);
  expect([...titles.values()]).toEqual([
    'Room H1, floor Ground',
    'Room H2',
    'Corridor (c)',
    'Corridor (d)',
    'Room H1, floor First',
    'Corridor, floor First',
  ]);
});
