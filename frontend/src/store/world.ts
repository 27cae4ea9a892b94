/**
 * What the building looks like now: the plans joined with the views.
 *
 * Pure functions; the map and the list both draw their result, so they cannot disagree.
 */
import type { Plan, PlanMachine, Point, Ring, Unit } from '../api/types';
import { by, number, records, type Table } from './table';
import type { ViewName } from './views';

export type Tables = Readonly<Record<ViewName, Table>>;

export type MachineState = 'free' | 'in-use' | 'closed' | 'no-data';
export type RoomState = 'open' | 'closed' | 'no-data' | 'passage';
export type DoorState = 'open' | 'locked' | 'no-data';

/** A measured value with the moment it was measured, s since the epoch. */
export interface Reading {
  readonly value: number;
  readonly atS: number;
}

export interface Machine {
  readonly mid: string;
  readonly host: string;
  readonly rid: string;
  readonly node: number;
  readonly levelId: string;
  readonly at: Point;
  readonly software: readonly string[];
  readonly simulated: boolean;
  readonly seatSid: string | null;
  readonly state: MachineState;
  /** seat, cpu, reserved, dark, or empty. */
  readonly reason: string;
  readonly weight: Reading | null;
  readonly cpu: Reading | null;
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
  readonly region: string | null;
  readonly inLargestRegion: boolean;
  readonly machines: number;
  readonly free: number;
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

const PASSAGES = new Set(['walkway', 'stairs', 'elevator', 'ramp', 'escalator', 'steps']);

const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  walkway: 'Corridor',
  stairs: 'Stairs',
  elevator: 'Lift',
  'restroom.male': 'Men’s toilet',
  'restroom.female': 'Women’s toilet',
  'restroom.unisex': 'Toilet',
  room: 'Room',
};

/** "Room V101", "Lift", "Corridor": the type, then the name where there is one. */
export function titleOf(unit: Pick<Unit, 'name' | 'category'>): string {
  const kind = CATEGORY_NAMES[unit.category] ?? unit.category;
  return unit.name === '' || unit.name.toLowerCase() === kind.toLowerCase() ? kind : `${kind} ${unit.name}`;
}

/** Join plans and views. */
export function world(plans: readonly Plan[], tables: Tables): World {
  const machines = new Map<string, Machine>();
  const closed = by(tables.closed_room, 'rid');
  const read = machineReader(tables, closed);
  for (const plan of plans) {
    const seats = new Map(
      plan.sensors.flatMap((s) => (s.kind === 'seat' && s.mid !== null ? [[s.mid, s.sid]] : [])),
    );
    for (const machine of plan.machines) {
      machines.set(machine.mid, {
        mid: machine.mid,
        host: machine.host,
        rid: machine.rid,
        node: machine.node,
        levelId: plan.level_id,
        at: [machine.x_m, machine.y_m],
        software: machine.software,
        simulated: machine.simulated,
        seatSid: seats.get(machine.mid) ?? null,
        ...read(machine),
      });
    }
  }
  return { machines, rooms: rooms(plans, tables, closed, machines), doors: doors(plans, tables) };
}

function machineReader(tables: Tables, closed: ReadonlyMap<string, Readonly<Record<string, unknown>>>) {
  const free = new Set(records(tables.free_machine).map((r) => String(r.mid)));
  const used = by(tables.machine_in_use, 'mid');
  const vitals = by(tables.machine_vitals, 'mid');
  return (machine: PlanMachine): Pick<Machine, 'state' | 'reason' | 'weight' | 'cpu'> => {
    const vital = vitals.get(machine.mid);
    const atS = number(vital?.at_s);
    const reading = (column: string): Reading | null => {
      const value = number(vital?.[column]);
      return value === null || atS === null ? null : { value, atS };
    };
    const values = { weight: reading('weight_kg'), cpu: reading('cpu_pct') };
    const use = used.get(machine.mid);
    if (use) return { state: 'in-use', reason: String(use.reason), ...values };
    const shut = closed.get(machine.rid);
    if (shut) return { state: 'closed', reason: String(shut.reason), ...values };
    if (free.has(machine.mid)) return { state: 'free', reason: '', ...values };
    return { state: 'no-data', reason: '', ...values };
  };
}

function latest(table: Table, key: string, column: string): Map<string, Reading> {
  const found = new Map<string, Reading>();
  for (const record of records(table)) {
    const value = number(record[column]);
    const atS = number(record.at_s);
    if (value === null || atS === null) continue;
    const id = String(record[key]);
    const held = found.get(id);
    if (!held || held.atS < atS) found.set(id, { value, atS });
  }
  return found;
}

function rooms(
  plans: readonly Plan[],
  tables: Tables,
  closed: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  machines: ReadonlyMap<string, Machine>,
): Map<string, Room> {
  const open = new Set(records(tables.open_room).map((r) => String(r.rid)));
  const climate = latest(tables.room_climate, 'rid', 'celsius');
  const light = latest(tables.room_light, 'rid', 'lux');
  const largest = new Set(records(tables.largest_region).map((r) => String(r.region_id)));
  const regionOfSensor = new Map<string, string>();
  for (const record of records(tables.active_region)) {
    const sid = String(record.sid);
    const region = String(record.region_id);
    if (!regionOfSensor.has(sid) || largest.has(region)) regionOfSensor.set(sid, region);
  }
  const count = new Map<string, { machines: number; free: number }>();
  for (const machine of machines.values()) {
    const sum = count.get(machine.rid) ?? { machines: 0, free: 0 };
    sum.machines += 1;
    if (machine.state === 'free') sum.free += 1;
    count.set(machine.rid, sum);
  }
  const found = new Map<string, Room>();
  for (const plan of plans) {
    const regionOfRoom = new Map<string, string>();
    for (const sensor of plan.sensors) {
      const region = regionOfSensor.get(sensor.sid);
      if (region === undefined) continue;
      const held = regionOfRoom.get(sensor.rid);
      if (held === undefined || largest.has(region)) regionOfRoom.set(sensor.rid, region);
    }
    for (const unit of plan.units) {
      const region = regionOfRoom.get(unit.id) ?? null;
      const shut = closed.get(unit.id);
      let state: RoomState = 'no-data';
      if (shut) state = 'closed';
      else if (PASSAGES.has(unit.category)) state = 'passage';
      else if (open.has(unit.id)) state = 'open';
      found.set(unit.id, {
        rid: unit.id,
        name: unit.name,
        category: unit.category,
        levelId: plan.level_id,
        polygon: unit.polygon,
        label: unit.label,
        node: unit.node,
        state,
        reason: shut ? String(shut.reason) : '',
        celsius: climate.get(unit.id) ?? null,
        lux: light.get(unit.id) ?? null,
        region,
        inLargestRegion: region !== null && largest.has(region),
        machines: count.get(unit.id)?.machines ?? 0,
        free: count.get(unit.id)?.free ?? 0,
      });
    }
  }
  return found;
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
  /** Where a reader heard the tag, or the point of the room if no more may be told. */
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
