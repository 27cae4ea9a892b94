import { expect, test } from 'vitest';
import { alarms } from '../../src/store/alarms';

const COLUMNS = ['alarm_id', 'query', 'name', 'target', 'message', 'raised_s'].map((name) => ({
  name,
  type: 'TEXT',
  unit: '',
}));

test('alarms come newest first', () => {
  const rows = [
    [1, 'q', 'hot rooms', '', 'rid A', 100],
    [2, 'q', 'hot rooms', 'siren', 'rid B', 200],
    [3, 'q', 'hot rooms', '', 'rid C', 200],
  ];
  expect(alarms({ columns: COLUMNS, rows, known: true }).map(({ id }) => id)).toEqual(['3', '2', '1']);
});
