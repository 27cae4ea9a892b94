import { describe, expect, test } from 'vitest';
import { inside, neighbour, quietSpot, simplify, turn } from '../../src/store/geometry';
import { directions, metres, path, stepsOf, walkingTime } from '../../src/store/path';
import { records } from '../../src/store/table';
import { floorTitle } from '../../src/store/words';
import { world, type Room } from '../../src/store/world';
import type { Row } from '../../src/wire/protocol';
import { BUILDING, GROUND, table, tables, UPPER } from './scene';

const rooms = new Map<string, Room[]>();
for (const room of world([GROUND, UPPER], tables()).rooms.values()) {
  rooms.set(room.levelId, [...(rooms.get(room.levelId) ?? []), room]);
}

const NAMES = ['session', 'node', 'cost_mm', 'level_id', 'x_m', 'y_m'];
const route = (rows: Row[]) => stepsOf(records(table(NAMES, rows)));
// Along the hall from the far end, up in the lift, back along the upper hall.
const TWO_FLOORS: Row[] = [
  ['s', 6, 40_000, 'L1', 38, 7.5],
  ['s', 3, 0, 'L0', 2, 7.5],
  ['s', 4, 36_000, 'L0', 38, 7.5],
  ['s', 8, 70_000, 'L1', 8, 7.5],
  ['s', 9, 73_000, 'L1', 8, 2],
];

describe('a path', () => {
  test('is the steps in walking order', () => {
    expect(route(TWO_FLOORS).map((s) => s.node)).toEqual([3, 4, 6, 8, 9]);
  });

  test('has a leg per floor and a lift between them', () => {
    const found = path(route(TWO_FLOORS), rooms);
    expect(found.legs.map((leg) => leg.levelId)).toEqual(['L0', 'L1']);
    expect(found.climbs).toEqual([{ way: 'lift', from: 'L0', to: 'L1', at: [38, 7.5], arriveAt: [38, 7.5] }]);
    expect(found.lengthMm).toBe(73_000);
  });

  test('does not stop on floors the lift only passes', () => {
    const through: Row[] = [
      ['s', 1, 0, 'L0', 2, 7.5],
      ['s', 2, 9, 'L0', 38, 7.5],
      ['s', 3, 20, 'L1', 38, 7.5],
      ['s', 4, 30, 'L2', 38, 7.5],
      ['s', 5, 40, 'L2', 20, 7.5],
    ];
    const found = path(route(through), rooms);
    expect(found.legs.map((leg) => leg.levelId)).toEqual(['L0', 'L2']);
    expect(found.climbs[0]).toMatchObject({ way: 'lift', from: 'L0', to: 'L2' });
  });

  test('is told in words, floor changes with the floor they lead to', () => {
    const told = directions(path(route(TWO_FLOORS), rooms), BUILDING.levels, rooms, 'Kiosk', {
      name: 'host-m4',
      rid: 'none',
    });
    expect(told.map((step) => [step.kind, step.text])).toEqual([
      ['start', 'Start at Kiosk, floor Ground'],
      ['straight', 'Go straight 36 m along the corridor'],
      ['lift', 'Take the lift up to floor First'],
      ['straight', 'Go straight 30 m along the corridor'],
      ['left', 'Turn left and go 6 m'],
      ['arrive', 'Arrive at host-m4'],
    ]);
    expect(told[2]?.toLevelId).toBe('L1');
  });
});

test('the target’s room is entered in one sentence, and wobbles are not told', () => {
  const rows: Row[] = [
    ['s', 3, 0, 'L0', 38, 7.5],
    ['s', 4, 1, 'L0', 37.5, 7],
    ['s', 5, 20, 'L0', 10, 7.5],
    ['s', 6, 30, 'L0', 10, 12],
    ['s', 7, 40, 'L0', 5, 15],
  ];
  const told = directions(path(route(rows), rooms), BUILDING.levels, rooms, 'Kiosk', {
    name: 'host-m1',
    rid: 'lab',
  });
  expect(told.map((step) => step.text)).toEqual([
    'Start at Kiosk, floor Ground',
    'Go straight 28 m along the corridor',
    'Turn right and go 5 m along the corridor',
    'Turn left into Room H1 and go 6 m',
    'Arrive at host-m1',
  ]);
});

test('distances and times are rounded for people', () => {
  expect([metres(400), metres(83_600), metres(1_240_000)]).toEqual(['1 m', '84 m', '1.2 km']);
  expect([walkingTime(10_000), walkingTime(300_000)]).toEqual(['1 min', '4 min']);
});

describe('geometry', () => {
  test('turns left are positive', () => {
    expect(turn([0, 0], [1, 0], [1, 1])).toBeCloseTo(90);
    expect(turn([0, 0], [1, 0], [1, -1])).toBeCloseTo(-90);
    expect(Math.abs(turn([0, 0], [1, 0], [0, 0]))).toBeCloseTo(180);
  });

  test('inside knows holes', () => {
    const rings: [number, number][][] = [
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 10],
      ],
      [
        [4, 4],
        [6, 4],
        [6, 6],
        [4, 6],
      ],
    ];
    expect([inside([1, 1], rings), inside([5, 5], rings), inside([11, 5], rings)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('simplify keeps corners and drops wobble', () => {
    expect(
      simplify(
        [
          [0, 0],
          [5, 0.2],
          [10, 0],
          [10, 8],
        ],
        1,
      ),
    ).toEqual([
      [0, 0],
      [10, 0],
      [10, 8],
    ]);
  });

  test('arrow keys go to the nearest in that direction', () => {
    const others = [
      { at: [5, 0] as [number, number], id: 'east' },
      { at: [0, 5] as [number, number], id: 'north' },
    ];
    expect(neighbour([0, 0], others, 'right')?.id).toBe('east');
    expect(neighbour([0, 0], others, 'up')?.id).toBe('north');
    expect(neighbour([0, 0], others, 'left')).toBeNull();
  });

  test('a name keeps clear of machines but stays inside', () => {
    const room: [number, number][][] = [
      [
        [0, 0],
        [20, 0],
        [20, 10],
        [0, 10],
      ],
    ];
    const spot = quietSpot(
      room,
      [10, 5],
      [
        [10, 5],
        [8, 5],
      ],
      2,
    );
    expect(inside(spot, room)).toBe(true);
    expect(Math.hypot(spot[0] - 10, spot[1] - 5)).toBeGreaterThan(1.5);
    expect(quietSpot(room, [10, 5], [[1, 1]], 2)).toEqual([10, 5]);
  });
});

test('a floor that calls itself one is not called so twice', () => {
  expect(['EG', 'Ground Floor', 'Level 2'].map(floorTitle)).toEqual(['floor EG', 'Ground Floor', 'Level 2']);
});
