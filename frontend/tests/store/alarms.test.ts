import { expect, test } from 'vitest';
import { alarms, byLevel, isMuted, marks, phrase, placeOf, valueText } from '../../src/store/alarms';
import { Herald } from '../../src/store/herald';
import { world } from '../../src/store/world';
import type { Row } from '../../src/wire/protocol';
import { alarmRow, COLUMNS, GROUND, table, tables, UPPER } from './scene';

const HOUSE = world([GROUND, UPPER], tables());
const standing = (...rows: Row[]) => alarms(table(COLUMNS.active_alarm, rows));

class Memory {
  private readonly kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.kept.set(key, value);
  }
}

test('what nobody has taken note of comes first, then the worst, then the newest', () => {
  const found = standing(
    alarmRow(1, { acknowledged: true }),
    alarmRow(2, { severity: 'info', raised_s: 300 }),
    alarmRow(3, { raised_s: 200 }),
    alarmRow(4),
    alarmRow(5, { raised_s: 200 }),
  );
  expect(found.map(({ id }) => id)).toEqual([5, 3, 4, 2, 1]);
});

test('a place is called what the plan calls it, and what the row calls it before there is a plan', () => {
  const [room, machine, door, nowhere] = [
    alarmRow(1),
    alarmRow(2, { mid: 'm1' }),
    alarmRow(3, { rid: null, door_id: 'd2' }),
    alarmRow(4, { rid: null }),
  ].map((row) => standing(row)[0]);
  expect(room && placeOf(room, HOUSE)).toEqual({ key: 'room:lab', name: 'Room H1' });
  expect(room && placeOf(room, null)).toEqual({ key: 'room:lab', name: 'Room lab' });
  expect(machine && placeOf(machine, HOUSE)).toEqual({ key: 'machine:m1', name: 'Machine host-m1' });
  expect(door && placeOf(door, HOUSE)).toEqual({ key: 'door:d2', name: 'Door d2' });
  expect(nowhere && placeOf(nowhere, HOUSE)).toBeNull();
});

test('a floor counts its alarms, and a thing has one mark, that of its worst', () => {
  const found = standing(
    alarmRow(1, { severity: 'warning' }),
    alarmRow(2),
    alarmRow(3, { rid: 'store', kind: 'no data' }),
    alarmRow(4, { rid: 'hall1', level_id: 'L1', severity: 'info' }),
    alarmRow(5, { rid: 'unheard of', level_id: null }),
  );
  expect([...byLevel(found)]).toEqual(
    expect.arrayContaining([
      ['L0', 3],
      ['L1', 1],
    ]),
  );
  const drawn = marks(found, HOUSE, 'L0', 0).map(({ key, look, count }) => [key, look, count]);
  expect(drawn).toEqual(
    expect.arrayContaining([
      ['room:lab', 'critical', 2],
      ['room:store', 'no-data', 1],
    ]),
  );
  expect(drawn).toHaveLength(2);
  expect(marks(found, HOUSE, 'L1', 0)).toMatchObject([{ key: 'room:hall1', look: 'info', count: 1 }]);
});

test('a mark is quiet once staff know of every alarm there', () => {
  const quiet = (...rows: Row[]) => marks(standing(...rows), HOUSE, 'L0', 10).map((mark) => mark.quiet);
  expect(quiet(alarmRow(1, { acknowledged: true }), alarmRow(2, { muted_until_s: 20 }))).toEqual([true]);
  expect(quiet(alarmRow(1, { acknowledged: true }), alarmRow(2, { muted_until_s: 5 }))).toEqual([false]);
});

test('a value has its unit, and no more digits than anybody reads', () => {
  expect(valueText({ value: 26.13333, unit: '°C' })).toBe('26.13 °C');
  expect(valueText({ value: 0, unit: '' })).toBe('0');
  expect(valueText({ value: null, unit: '°C' })).toBe('');
});

test('muting ends by itself', () => {
  expect(isMuted({ mutedUntilS: 200 }, 199)).toBe(true);
  expect(isMuted({ mutedUntilS: 200 }, 200)).toBe(false);
  expect(isMuted({ mutedUntilS: null }, 0)).toBe(false);
});

test('what is read out says what, where and how much', () => {
  const [hot, silent, row] = [
    alarmRow(1),
    alarmRow(2, { kind: 'no data' }),
    alarmRow(3, { rid: null, value: null, severity: 'info', message: 'n 3' }),
  ].map((one) => standing(one)[0]);
  expect(hot && phrase(hot, HOUSE)).toBe('Critical alarm: too warm, Room H1, 26.4 °C.');
  expect(silent && phrase(silent, HOUSE)).toBe('No data: too warm, Room H1.');
  expect(row && phrase(row, HOUSE)).toBe('Note alarm: too warm, n 3.');
});

test('an alarm is told once, whatever becomes of its value, and after a reload', () => {
  const memory = new Memory();
  const herald = new Herald(memory);
  expect(herald.news(standing(alarmRow(1)), HOUSE, 0)).toContain('too warm');
  expect(herald.news(standing(alarmRow(1, { value: 27 })), HOUSE, 0)).toBe('');
  expect(herald.news([], HOUSE, 0)).toBe('');
  expect(herald.news(standing(alarmRow(1)), HOUSE, 0)).toBe('');
  expect(new Herald(memory).news(standing(alarmRow(1), alarmRow(2)), HOUSE, 0)).toBe(
    'Critical alarm: too warm, Room H1, 26.4 °C.',
  );
});

test('nobody hears of what is muted or taken note of, nor when that ends; of many, some and how many', () => {
  const herald = new Herald(new Memory());
  const quiet = [alarmRow(1, { muted_until_s: 50 }), alarmRow(2, { acknowledged: true })];
  expect(herald.news(standing(...quiet), HOUSE, 0)).toBe('');
  expect(herald.news(standing(alarmRow(1), alarmRow(2)), HOUSE, 100)).toBe('');
  const many = [3, 4, 5, 6, 7].map((id) => alarmRow(id));
  expect(herald.news(standing(...many), HOUSE, 0)).toMatch(
    /^(Critical[^.]*\.\d °C\. ){3}And 2 more alarms\.$/,
  );
});

test('what another program left in the storage is no reason to fail', () => {
  const memory = new Memory();
  memory.setItem('smartcis.alarms-told', '{');
  expect(new Herald(memory).news(standing(alarmRow(1)), HOUSE, 0)).not.toBe('');
});
