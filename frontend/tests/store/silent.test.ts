import { describe, expect, test } from 'vitest';
import { noDataSince, silent } from '../../src/store/silent';
import type { Table } from '../../src/store/table';
import type { Machine, Room } from '../../src/store/world';

const columns = ['source', 'name', 'kind', 'rid', 'mid', 'since_s', 'reason'].map((name) => ({
  name,
  type: 'TEXT',
  unit: '',
}));

function table(...rows: Table['rows']): Table {
  return { columns, rows, known: true };
}

const rooms = new Map([['A', { rid: 'A', name: 'Seminar', category: 'room' } as Room]]);
const machines = new Map([['m1', { mid: 'm1', host: 'mill' } as Machine]]);

describe('silent sources', () => {
  test('are named with the place they speak for, longest silent first', () => {
    const found = silent(
      table(
        ['pdu', 'PDU', 'pdu', 'A', 'm1', 300, 'no answer'],
        ['cal', 'Calendar', 'calendar', 'A', null, 100, ''],
        ['mqtt', '', 'mqtt', null, null, 200, 'broker: refused'],
      ),
      { rooms, machines },
    );
    expect(found.map((one) => one.title)).toEqual(['Calendar (Room Seminar)', 'mqtt', 'PDU (mill)']);
    expect(found.map((one) => [one.rid, one.mid])).toEqual([
      ['A', ''],
      ['', ''],
      ['A', 'm1'],
    ]);
    expect(found.map((one) => one.reason)).toEqual(['', 'broker: refused', 'no answer']);
  });

  test('none is none', () => {
    expect(silent(table(), { rooms, machines })).toEqual([]);
  });

  test('say the day only where it is another', () => {
    const at = new Date(2026, 2, 10, 9, 12).getTime() / 1000;
    expect(noDataSince(at, at + 60)).toMatch(/^no data since \d/);
    expect(noDataSince(at, at + 60)).not.toMatch(/Mar|10,/);
    expect(noDataSince(at, at + 2 * 86_400)).toMatch(/10/);
    expect(noDataSince(0, at)).toBe('no data');
  });
});
