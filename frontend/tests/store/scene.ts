/** A building small enough to reason about: two floors, a corridor, a lab, a lift, four machines. */
import type { Building, Plan, PlanSensor } from '../../src/api/schema';
import type { Point, Ring } from '../../src/store/geometry';
import type { Row } from '../../src/wire/protocol';
import { UNKNOWN, type Table } from '../../src/store/table';
import { OWN_VIEWS, SHARED_VIEWS, type ViewName } from '../../src/store/views';
import type { Tables } from '../../src/store/world';

const box = (x: number, y: number, w: number, h: number): Ring[] => [
  [
    [x, y],
    [x + w, y],
    [x + w, y + h],
    [x, y + h],
    [x, y],
  ] as Ring,
];

const unit = (
  id: string,
  name: string,
  category: string,
  at: [number, number, number, number],
  node: number,
) => ({
  id,
  name,
  category,
  polygon: box(...at),
  label: [at[0] + at[2] / 2, at[1] + at[3] / 2] as Point,
  node,
});

const machine = (mid: string, rid: string, x: number, y: number, software: string[]) => ({
  mid,
  host: `host-${mid}`,
  rid,
  node: 100 + Number(mid.slice(1)),
  x_m: x,
  y_m: y,
  cpu_type: 'AMD Ryzen 5',
  simulated: true,
  software,
});

const sensor = (sid: string, kind: PlanSensor['kind'], rid: string, mid: string | null = null) => ({
  sid,
  kind,
  rid,
  mid,
  x_m: 0,
  y_m: 0,
  simulated: true,
  period_s: 15,
});

export const GROUND: Plan = {
  level_id: 'L0',
  outline: box(0, 0, 40, 20),
  units: [
    unit('lab', 'H1', 'room', [0, 10, 20, 10], 1),
    unit('store', 'H2', 'room', [20, 10, 20, 10], 2),
    unit('hall', '', 'walkway', [0, 5, 36, 5], 3),
    unit('lift0', '', 'elevator', [36, 5, 4, 5], 4),
  ],
  doors: [
    { id: 'd1', x_m: 10, y_m: 10 },
    { id: 'd2', x_m: 30, y_m: 10 },
  ],
  machines: [
    machine('m1', 'lab', 5, 15, ['LaTeX']),
    machine('m2', 'lab', 10, 15, ['LaTeX', 'R']),
    machine('m3', 'store', 25, 15, ['LaTeX']),
  ],
  sensors: [
    sensor('s1', 'seat', 'lab', 'm1'),
    sensor('t1', 'temperature', 'lab'),
    sensor('t2', 'temperature', 'store'),
  ],
  connectors: [{ kind: 'lift', x_m: 38, y_m: 7.5 }],
  exits: [
    { node: 50, rid: 'hall', name: 'Main', x_m: 0, y_m: 7 },
    { node: 51, rid: 'store', name: '', x_m: 40, y_m: 15 },
  ],
  risers: [],
};

export const UPPER: Plan = {
  level_id: 'L1',
  outline: box(0, 0, 40, 20),
  units: [unit('hall1', '', 'walkway', [0, 5, 36, 5], 5), unit('lift1', '', 'elevator', [36, 5, 4, 5], 6)],
  doors: [],
  machines: [machine('m4', 'hall1', 5, 7, ['QGIS'])],
  sensors: [],
  connectors: [{ kind: 'lift', x_m: 38, y_m: 7.5 }],
  exits: [],
  risers: [{ src: 6, dst: 4, way: 'lift', rid: 'lift1', to_level: 'L0' }],
};

export const BUILDING: Building = {
  slug: 'small',
  name: 'Small house',
  attribution: 'nobody',
  simulated_note: 'Simulated: 4 machines.',
  simulated: [{ kind: 'machine', simulated: 4, total: 4 }],
  default_level: 'L0',
  levels: [
    { id: 'L0', name: 'Ground', short_name: '0', ordinal: 0, bounds_m: [0, 0, 40, 20] },
    { id: 'L1', name: 'First', short_name: '1', ordinal: 1, bounds_m: [0, 0, 40, 20] },
  ],
  kiosks: [
    {
      id: 'k1',
      name: 'Kiosk by the lift',
      node: 4,
      level_id: 'L0',
      x_m: 38,
      y_m: 7.5,
      bearing_deg: null,
      query: null,
      simulated: true,
    },
  ],
  software: ['LaTeX', 'R', 'QGIS'],
  destinations: [
    {
      slug: 'exit',
      name: 'Way out',
      name_de: 'Ausgang',
      words: 'entrance, Notausgang',
      sql: 'SELECT 1',
      step_free: false,
      position: 10,
      view: 'goal_exit',
      usable: true,
    },
  ],
};

export const table = (names: string[], rows: Row[]): Table => ({
  columns: names.map((name) => ({ name, type: 'TEXT', unit: '' })),
  rows,
  known: true,
});

export const COLUMNS: Readonly<Record<ViewName, string[]>> = {
  machine_state: ['mid', 'state', 'reason'],
  room_state: ['rid', 'state', 'reason'],
  locked_room: ['rid'],
  room_region: ['rid', 'region_id', 'largest'],
  newest_seat: ['mid', 'weight_kg', 'at_s'],
  newest_processor: ['mid', 'cpu_pct', 'at_s'],
  newest_temperature: ['rid', 'celsius', 'at_s'],
  newest_light: ['rid', 'lux', 'at_s'],
  newest_humidity: ['sid', 'rid', 'humidity_pct', 'at_s'],
  newest_contact: ['sid', 'rid', 'ajar', 'at_s'],
  newest_reading: ['sid', 'rid', 'mid', 'kind', 'name', 'value', 'unit', 'at_s'],
  silent_sensor: ['sid', 'rid', 'mid', 'kind', 'name'],
  door_state: ['door_id', 'state', 'since_s'],
  visitor_position: ['visitor', 'level_id', 'rid', 'x_m', 'y_m', 'consent', 'simulated'],
  visitors_on_level: ['level_id', 'visitors'],
  silent_source: ['source', 'name', 'kind', 'rid', 'mid', 'since_s', 'reason'],
  active_alarm: [
    ...['alarm_id', 'query', 'name', 'target', 'kind', 'severity', 'message', 'value', 'unit', 'rid', 'mid'],
    ...['door_id', 'level_id', 'raised_s', 'changed_s', 'acknowledged', 'muted_until_s', 'assigned'],
  ],
  nearest_destination: [
    ...['session', 'origin', 'goal', 'step_free', 'target', 'rid', 'mid', 'node', 'cost_mm'],
  ],
  no_route: ['session', 'origin', 'goal', 'step_free', 'reason'],
  route_step: [
    ...['session', 'origin', 'goal', 'step_free', 'target', 'node', 'cost_mm', 'level_id', 'x_m', 'y_m'],
  ],
  route_news: [
    ...['session', 'origin', 'goal', 'step_free', 'was', 'was_cost_mm', 'target', 'cost_mm'],
    ...['cause', 'subject', 'detail'],
  ],
};

/** m1 free, m2 in use, m3's room reserved, m4 silent; d1 open, d2 locked. */
export const ROWS: Readonly<Partial<Record<ViewName, Row[]>>> = {
  machine_state: [
    ['m1', 'free', ''],
    ['m2', 'in use', 'seat'],
    ['m3', 'closed', 'reserved'],
    ['m4', 'no data', ''],
  ],
  room_state: [
    ['lab', 'open', ''],
    ['store', 'closed', 'reserved'],
    ['hall', 'passage', ''],
    ['lift0', 'passage', ''],
    ['hall1', 'passage', ''],
    ['lift1', 'passage', ''],
  ],
  room_region: [
    ['lab', 'r1', false],
    ['store', 'r2', true],
  ],
  newest_seat: [
    ['m1', 0, 1000],
    ['m2', 71, 1000],
  ],
  newest_processor: [
    ['m1', 12, 1000],
    ['m2', 3, 1000],
  ],
  newest_temperature: [['lab', 22, 1000]],
  newest_light: [['lab', 400, 1000]],
  door_state: [
    ['d1', 'open', 900],
    ['d2', 'locked', 940],
  ],
  visitor_position: [['v-1', 'L0', 'lab', 4, 7, 'exact', true]],
  visitors_on_level: [['L0', 4]],
};

export function tables(over: Partial<Record<ViewName, Row[]>> = {}): Tables {
  const rows = { ...ROWS, ...over };
  return Object.fromEntries(
    [...SHARED_VIEWS, ...OWN_VIEWS].map((view) => {
      const given = rows[view];
      return [view, given === undefined ? UNKNOWN : table(COLUMNS[view], given)];
    }),
  ) as Record<ViewName, Table>;
}

/** A row of `active_alarm`: room lab of the ground floor has been too warm since 100. */
export function alarmRow(id: number, over: Readonly<Record<string, Row[number]>> = {}): Row {
  const fields: Readonly<Record<string, Row[number]>> = {
    alarm_id: id,
    query: 'q',
    name: 'warm rooms',
    target: 'too warm',
    kind: 'threshold',
    severity: 'critical',
    message: 'rid lab, celsius 26.4',
    value: 26.4,
    unit: '°C',
    rid: 'lab',
    mid: null,
    door_id: null,
    level_id: 'L0',
    raised_s: 100,
    changed_s: 100,
    acknowledged: false,
    muted_until_s: null,
    assigned: false,
    ...over,
  };
  return COLUMNS.active_alarm.map((name) => fields[name] ?? null);
}
