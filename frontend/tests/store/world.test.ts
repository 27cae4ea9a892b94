import { describe, expect, test } from 'vitest';
import { countOf, crowds, lookOf, titleOf, visitors, world } from '../../src/store/world';
import {
  age,
  doorLabel,
  floorHeading,
  floorTitle,
  isStale,
  machineLabel,
  machinesFree,
  onFloor,
  machineState,
  roomLabel,
} from '../../src/store/words';
import { GROUND, ROWS, tables, UPPER } from './scene';

const seen = (over: Parameters<typeof tables>[0] = {}) => world([GROUND, UPPER], tables(over));

describe('machines', () => {
  test('have four states that are never confused', () => {
    const { machines } = seen();
    expect([...machines.values()].map((m) => [m.mid, m.state])).toEqual([
      ['m1', 'free'],
      ['m2', 'in-use'],
      ['m3', 'closed'],
      ['m4', 'no-data'],
    ]);
  });

  test('say why', () => {
    const { machines } = seen();
    const words = (mid: string) => machineState(machines.get(mid) as never);
    expect(words('m2')).toBe('in use: somebody is sitting there');
    expect(words('m3')).toBe('room closed: the room is reserved');
    expect(words('m4')).toBe('no data');
    expect(machineLabel(machines.get('m1') as never)).toBe('Machine host-m1, free');
  });

  test('without any view are "no data", not free', () => {
    const { machines } = world([GROUND], tables({ machine_state: [] }));
    expect([...machines.values()].every((m) => m.state === 'no-data')).toBe(true);
  });

  test('in use in a closed room are in use', () => {
    expect(seen({ machine_state: [['m3', 'in use', 'cpu']] }).machines.get('m3')?.state).toBe('in-use');
  });

  test('carry readings with their moment, and the seat sensor to act on', () => {
    const m1 = seen().machines.get('m1');
    expect(m1?.cpu).toEqual({ value: 12, atS: 1000 });
    expect(m1?.weight).toEqual({ value: 0, atS: 1000 });
    expect(m1?.seatSid).toBe('s1');
    expect(seen().machines.get('m4')?.cpu).toBeNull();
  });
});

describe('readings of an operator’s kinds', () => {
  test('stand at their room or machine, and silent sensors among them', () => {
    const { rooms, machines } = seen({
      newest_reading: [
        ['c', 'lab', null, 'co2', 'CO₂', 612, 'ppm', 900],
        ['p', 'lab', 'm1', 'power', 'Power', 40, 'W', 950],
      ],
      silent_sensor: [['b', 'lab', null, 'battery', 'Battery']],
      newest_humidity: [['h', 'lab', 48, 980]],
    });
    expect(rooms.get('lab')?.others.map((one) => [one.name, one.unit, one.reading])).toEqual([
      ['Battery', '', null],
      ['CO₂', 'ppm', { value: 612, atS: 900 }],
      ['Humidity', '%', { value: 48, atS: 980 }],
    ]);
    expect(machines.get('m1')?.others.map((one) => one.sid)).toEqual(['p']);
    expect(rooms.get('store')?.others).toEqual([]);
  });
});

describe('rooms', () => {
  test('know how often their slowest sensor of a kind is expected', () => {
    const slow = { sid: 't9', kind: 'temperature', rid: 'lab', mid: null, x_m: 0, y_m: 0 };
    const more = { ...GROUND, sensors: [...GROUND.sensors, { ...slow, simulated: false, period_s: 900 }] };
    const { rooms } = world([more, UPPER], tables());
    expect(rooms.get('lab')?.celsius).toEqual({ value: 22, atS: 1000, periodS: 900 });
    expect(rooms.get('lab')?.lux).toEqual({ value: 400, atS: 1000 });
  });

  test('are open, closed with a reason, passages, or without data', () => {
    const { rooms } = seen({ room_state: ROWS.room_state?.filter(([rid]) => rid !== 'lab') ?? [] });
    expect([...rooms.values()].map((r) => [r.rid, r.state, r.reason])).toEqual([
      ['lab', 'no-data', ''],
      ['store', 'closed', 'reserved'],
      ['hall', 'passage', ''],
      ['lift0', 'passage', ''],
      ['hall1', 'passage', ''],
      ['lift1', 'passage', ''],
    ]);
  });

  test('take the newest temperature, count machines, and have their region', () => {
    const lab = seen().rooms.get('lab');
    expect(lab?.celsius).toEqual({ value: 22, atS: 1000, periodS: 15 });
    expect(lab?.count).toEqual({ machines: 2, free: 1, behind: 0 });
    expect([lab?.region, lab?.inLargestRegion]).toEqual(['r1', false]);
    expect(seen().rooms.get('store')?.inLargestRegion).toBe(true);
  });

  test('do not say that no machine is free where none says anything', () => {
    const lab = seen({ machine_state: [] }).rooms.get('lab');
    expect(lab?.count).toEqual({ machines: 2, free: null, behind: 0 });
    expect(lab && roomLabel(lab)).toContain('2 machines without data');
  });

  test('behind a locked door say so, and their free machines are not counted as free', () => {
    const { rooms, machines } = seen({ locked_room: [['lab'], ['hall'], ['store']] });
    const words = (rid: string) => roomLabel(rooms.get(rid) as never);
    expect(words('lab')).toBe(
      'Room H1, open, but behind a locked door, 1 of 2 machines free, but behind a locked door, too warm',
    );
    expect(words('hall')).toBe('Corridor, behind a locked door');
    expect(words('store')).toContain('closed: reserved, 0 of 1');
    expect(machineLabel(machines.get('m1') as never)).toBe('Machine host-m1, free, but behind a locked door');
    expect(['m1', 'm2', 'm3', 'm4'].map((mid) => lookOf(machines.get(mid) as never))).toEqual([
      'locked',
      'in-use',
      'closed',
      'no-data',
    ]);
    const all = [...machines.values(), { state: 'free', locked: false } as const];
    expect(machinesFree(countOf(all))).toBe('1 of 5 machines free, 1 more behind locked doors');
  });

  test('are named by type, name and state', () => {
    const { rooms } = seen();
    expect(roomLabel(rooms.get('store') as never)).toBe(
      'Room H2, closed: reserved, 0 of 1 machines free, too warm, in the largest warm part of the house',
    );
    expect(roomLabel(rooms.get('hall') as never)).toBe('Corridor');
  });
});

test('doors are open, locked, or without data', () => {
  const { doors } = seen({ door_state: [['d2', 'locked']] });
  expect(doors.get('d1')?.state).toBe('no-data');
  expect(doorLabel(doors.get('d2') as never)).toBe('Door d2, locked');
});

test('visitors have a name for the day, and a place only if they said so', () => {
  const rows = [
    ['v-a', 'L0', 'lab', 1, 2, 'exact', true],
    ['v-b', 'L0', 'lab', 5, 6, 'room', false],
    ['v-c', 'L0', 'lab', null, null, 'room', false],
  ];
  expect(visitors(tables({ visitor_position: rows }).visitor_position)).toEqual([
    { name: 'v-a', levelId: 'L0', rid: 'lab', at: [1, 2], exact: true, simulated: true },
    { name: 'v-b', levelId: 'L0', rid: 'lab', at: [5, 6], exact: false, simulated: false },
  ]);
});

test('a floor says how many are there only where the view does', () => {
  const found = crowds(tables({ visitors_on_level: [['L1', 3]] }).visitors_on_level);
  expect([...found]).toEqual([['L1', 3]]);
});

test('ages read as people say them', () => {
  expect([3, 40, 360, 7200, 200_000].map((s) => age(0, s))).toEqual([
    'just now',
    '40 s ago',
    '6 min ago',
    '2 h ago',
    '2 days ago',
  ]);
  expect(age(10, 0)).toBe('just now');
  expect(isStale({ value: 1, atS: 0 }, 121)).toBe(true);
  expect(isStale({ value: 1, atS: 0 }, 119)).toBe(false);
  expect(isStale({ value: 1, atS: 0, periodS: 900 }, 1_799)).toBe(false);
  expect(isStale({ value: 1, atS: 0, periodS: 900 }, 1_801)).toBe(true);
});

test('a room without a name is told from others by its number, and says that nobody named it', () => {
  const title = (category: string, name: string, rid: string) => titleOf({ category, name, rid });
  expect(title('room', 'V101', 'L1-V101')).toBe('Room V101');
  expect(title('room', '', '2.14')).toBe('Room 2.14');
  expect(title('room', '', 'L-1-room-3')).toBe('Room without a name (L-1-room-3)');
  expect(title('office', 'Office', 'O27-331')).toBe('office O27-331');
  expect(title('walkway', '', 'L0-gap-3')).toBe('Corridor');
});

test('a floor is called a floor once', () => {
  const names = ['EG', 'Ground Floor', 'Erdgeschoss', 'Ebene 2'];
  expect(names.map(floorHeading)).toEqual(['Floor EG', 'Ground Floor', 'Erdgeschoss', 'Ebene 2']);
  expect(floorTitle('Ground Floor')).toBe('Ground Floor');
});

test('a place that names its floor is not said to be on it once more', () => {
  expect(onFloor('Eingang Ost, 2. OG', '2. OG')).toBe('Eingang Ost, 2. OG');
  expect(onFloor('Lift on floor 2', '2')).toBe('Lift on floor 2');
  expect(onFloor('Kiosk 2', '2')).toBe('Kiosk 2, floor 2');
  expect(onFloor('Am Weg', 'EG')).toBe('Am Weg, floor EG');
});
