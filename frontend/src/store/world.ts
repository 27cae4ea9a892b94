/**
 * What the building looks like now: the plans, each thing in the state that a view gives it.
 *
 * Pure functions; the map and the list both draw their result, so they cannot disagree.
 */
import type { Plan } from '../api/schema';
import { t } from '../language';
import type { Point, Ring } from './geometry';
import { grouped } from '../lists';
import { by, number, records, type Fields, type Table } from './table';
import type { ViewName } from './views';

export type Tables = Readonly<Record<ViewName, Table>>;

export type MachineState = 'free' | 'in-use' | 'closed' | 'no-data';
export type RoomState = 'open' | 'closed' | 'no-data' | 'passage';
export type DoorState = 'open' | 'locked' | 'no-data';

/** A measured value with the moment it was measured, s since the epoch. */
export interface Reading {
  readonly value: number;
  readonly atS: number;
  /** How often it is expected: the interval of the slowest of the room's sensors, s. */
  readonly periodS?: number;
}

/** What a sensor of an operator's kind says; null where it is silent. */
export interface NamedReading {
  readonly sid: string;
  /** The machine it watches; null for one of the room. */
  readonly mid: string | null;
  readonly name: string;
  readonly unit: string;
  readonly reading: Reading | null;
}

export interface Machine {
  readonly mid: string;
  readonly host: string;
  readonly rid: string;
  readonly node: number;
  readonly levelId: string;
  readonly at: Point;
  readonly software: readonly string[];
  /** As the inventory says; empty where it does not. */
  readonly cpuType: string;
  readonly simulated: boolean;
  readonly seatSid: string | null;
  readonly state: MachineState;
  /** seat, cpu, reserved, dark, or empty. */
  readonly reason: string;
  /** Its room is one that locked doors keep people from. */
  readonly locked: boolean;
  readonly weight: Reading | null;
  readonly cpu: Reading | null;
  readonly others: readonly NamedReading[];
}

export interface Room {
  readonly rid: string;
  readonly name: string;
  readonly category: string;
  readonly levelId: string;
  readonly polygon: readonly Ring[];
  readonly label: Point;
  readonly node: number | null;
  readonly state: RoomState;
  readonly reason: string;
  readonly celsius: Reading | null;
  readonly lux: Reading | null;
  readonly others: readonly NamedReading[];
  readonly region: string | null;
  readonly inLargestRegion: boolean;
  /** Locked doors keep people from it. */
  readonly locked: boolean;
  readonly count: Count;
}

/** How many machines there are, and of how many of them somebody could make use. */
export interface Count {
  readonly machines: number;
  /** Null where none of them says anything. */
  readonly free: number | null;
  /** Further free ones, to which nobody gets because doors are locked. */
  readonly behind: number;
}

export interface Door {
  readonly id: string;
  readonly levelId: string;
  readonly at: Point;
  readonly state: DoorState;
}

export interface World {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly rooms: ReadonlyMap<string, Room>;
  readonly doors: ReadonlyMap<string, Door>;
}

function categoryName(category: string): string {
  switch (category) {
    case 'walkway':
      return t('Corridor');
    case 'stairs':
      return t('Stairs');
    case 'elevator':
      return t('Lift');
    case 'escalator':
      return t('Escalator');
    case 'ramp':
      return t('Ramp');
    case 'restroom.male':
      return t('Men’s toilet');
    case 'restroom.female':
      return t('Women’s toilet');
    case 'restroom.unisex':
    case 'restroom':
      return t('Toilet');
    case 'room':
      return t('Room');
    default:
      return category;
  }
}

/** What stands for its kind by itself: nobody asks which corridor it is. */
const PASSAGES = new Set(['walkway', 'stairs', 'elevator', 'escalator', 'ramp']);
/** Ids that the product gave to what nobody called anything, e.g. "L0-room-3". */
const COUNTED = /^L-?\d+(\.\d+)?-/;

/** "Room V101", "Lift", "Room 2.14", "Room without a name (L0-room-3)": the type, then what tells it from others. */
export function titleOf(unit: Pick<Room, 'name' | 'category' | 'rid'>): string {
  const kind = categoryName(unit.category);
  const named = unit.name !== '' && unit.name.toLowerCase() !== kind.toLowerCase();
  if (named) return `${kind} ${unit.name}`;
  if (PASSAGES.has(unit.category)) return kind;
  return COUNTED.test(unit.rid)
    ? t('{kind} without a name ({id})', { kind, id: unit.rid })
    : `${kind} ${unit.rid}`;
}

/** What a thing is drawn as: its state, unless it would be free or open and nobody gets there. */
export function lookOf<State extends string>(thing: { state: State; locked: boolean }): State | 'locked' {
  return thing.locked && ['free', 'open', 'passage'].includes(thing.state) ? 'locked' : thing.state;
}

/** Counts some machines. */
export function countOf(machines: readonly Pick<Machine, 'state' | 'locked'>[]): Count {
  const free = machines.filter(({ state }) => state === 'free');
  const behind = free.filter(({ locked }) => locked).length;
  const silent = machines.length > 0 && machines.every(({ state }) => state === 'no-data');
  return { machines: machines.length, free: silent ? null : free.length - behind, behind };
}

/** Decorate the plans with what the views say of each machine, room and door. */
export function world(plans: readonly Plan[], tables: Tables): World {
  const others = otherReadings(tables);
  const machines = new Map(machinesOf(plans, tables, others).map((machine) => [machine.mid, machine]));
  return { machines, rooms: rooms(plans, tables, machines.values(), others), doors: doors(plans, tables) };
}

/** The states as `machine_state` and `room_state` spell them, and as pages and style sheets do. */
const MACHINE_STATES: Readonly<Record<string, MachineState>> = {
  free: 'free',
  'in use': 'in-use',
  closed: 'closed',
};
const ROOM_STATES: Readonly<Record<string, RoomState>> = {
  open: 'open',
  closed: 'closed',
  passage: 'passage',
};

type Others = ReadonlyMap<string, readonly NamedReading[]>;

/** Views of readings that name neither quantity nor unit. */
const named = () =>
  [
    ['newest_humidity', 'humidity_pct', t('Humidity'), '%'],
    ['newest_contact', 'ajar', t('Door contact'), ''],
  ] as const;

/** What sensors of all other kinds say, or those of operators keep silent about, by room, by name. */
function otherReadings(tables: Tables): Others {
  const ours: Fields[] = named().flatMap(([view, column, name, unit]) =>
    records(tables[view]).map((record) => ({ ...record, value: record[column] ?? null, name, unit })),
  );
  const found = [...ours, ...records(tables.newest_reading), ...records(tables.silent_sensor)].map(
    (record: Fields) => {
      const value = number(record.value);
      const atS = number(record.at_s);
      return {
        rid: String(record.rid),
        sid: String(record.sid),
        mid: record.mid === null || record.mid === undefined ? null : String(record.mid),
        name: String(record.name),
        unit: String(record.unit ?? ''),
        reading: value === null || atS === null ? null : { value, atS },
      };
    },
  );
  found.sort((one, other) => one.name.localeCompare(other.name) || one.sid.localeCompare(other.sid));
  return grouped(found, (one) => one.rid);
}

function machinesOf(plans: readonly Plan[], tables: Tables, others: Others): Machine[] {
  const states = by(tables.machine_state, 'mid');
  const locked = by(tables.locked_room, 'rid');
  const weight = readings(tables.newest_seat, 'mid', 'weight_kg');
  const cpu = readings(tables.newest_processor, 'mid', 'cpu_pct');
  return plans.flatMap((plan) => {
    const seats = new Map(plan.sensors.map((s) => [s.kind === 'seat' ? s.mid : null, s.sid]));
    return plan.machines.map(({ mid, host, rid, node, x_m, y_m, software, cpu_type, simulated }) => ({
      mid,
      host,
      rid,
      node,
      levelId: plan.level_id,
      at: [x_m, y_m] as Point,
      software,
      cpuType: cpu_type,
      simulated,
      seatSid: seats.get(mid) ?? null,
      state: MACHINE_STATES[String(states.get(mid)?.state)] ?? 'no-data',
      reason: String(states.get(mid)?.reason ?? ''),
      locked: locked.has(rid),
      weight: weight.get(mid) ?? null,
      cpu: cpu.get(mid) ?? null,
      others: (others.get(rid) ?? []).filter((one) => one.mid === mid),
    }));
  });
}

/** What was measured, and when, by the machine or room it was measured at. */
function readings(
  table: Table,
  key: string,
  column: string,
  periodsS: ReadonlyMap<string, number> = new Map(),
): Map<string, Reading> {
  return new Map(
    records(table).flatMap((record) => {
      const place = String(record[key]);
      const value = number(record[column]);
      const atS = number(record.at_s);
      if (value === null || atS === null) return [];
      const periodS = periodsS.get(place);
      return [[place, { value, atS, ...(periodS !== undefined && { periodS }) }] as const];
    }),
  );
}

/** The longest interval of a kind of sensor in each room, s. */
function periods(plans: readonly Plan[], kind: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const sensor of plans.flatMap((plan) => plan.sensors)) {
    if (sensor.kind !== kind) continue;
    found.set(sensor.rid, Math.max(sensor.period_s, found.get(sensor.rid) ?? 0));
  }
  return found;
}

function rooms(
  plans: readonly Plan[],
  tables: Tables,
  machines: Iterable<Machine>,
  others: Others,
): Map<string, Room> {
  const states = by(tables.room_state, 'rid');
  const locked = by(tables.locked_room, 'rid');
  const regions = by(tables.room_region, 'rid');
  const celsius = readings(tables.newest_temperature, 'rid', 'celsius', periods(plans, 'temperature'));
  const lux = readings(tables.newest_light, 'rid', 'lux', periods(plans, 'light'));
  const inRoom = grouped(machines, (machine) => machine.rid);
  return new Map(
    plans.flatMap((plan) =>
      plan.units.map((unit) => {
        const state = states.get(unit.id);
        const region = regions.get(unit.id);
        const room: Room = {
          rid: unit.id,
          name: unit.name,
          category: unit.category,
          levelId: plan.level_id,
          polygon: unit.polygon,
          label: unit.label,
          node: unit.node,
          state: ROOM_STATES[String(state?.state)] ?? 'no-data',
          reason: String(state?.reason ?? ''),
          celsius: celsius.get(unit.id) ?? null,
          lux: lux.get(unit.id) ?? null,
          others: (others.get(unit.id) ?? []).filter((one) => one.mid === null),
          region: region ? String(region.region_id) : null,
          inLargestRegion: region?.largest === true,
          locked: locked.has(unit.id),
          count: countOf(inRoom.get(unit.id) ?? []),
        };
        return [unit.id, room];
      }),
    ),
  );
}

function doors(plans: readonly Plan[], tables: Tables): Map<string, Door> {
  const states = by(tables.door_state, 'door_id');
  const found = new Map<string, Door>();
  for (const plan of plans) {
    for (const door of plan.doors) {
      const state = states.get(door.id)?.state;
      found.set(door.id, {
        id: door.id,
        levelId: plan.level_id,
        at: [door.x_m, door.y_m],
        state: state === 'open' || state === 'locked' ? state : 'no-data',
      });
    }
  }
  return found;
}

export interface Visitor {
  /** The name for today; the tag itself never leaves the house. */
  readonly name: string;
  readonly levelId: string;
  readonly rid: string;
  /** Where a reader received the tag, or the point of the room if no more may be shown. */
  readonly at: Point;
  readonly exact: boolean;
  readonly simulated: boolean;
}

/** Visitors who let themselves be seen. */
export function visitors(table: Table): Visitor[] {
  return records(table).flatMap((record) => {
    const x = number(record.x_m);
    const y = number(record.y_m);
    if (x === null || y === null) return [];
    return [
      {
        name: String(record.visitor),
        levelId: String(record.level_id),
        rid: String(record.rid),
        at: [x, y] as Point,
        exact: record.consent === 'exact',
        simulated: record.simulated === true,
      },
    ];
  });
}

/** How many are on each floor; a floor with fewer than three is not among them. */
export function crowds(table: Table): Map<string, number> {
  return new Map(records(table).map((record) => [String(record.level_id), number(record.visitors) ?? 0]));
}
