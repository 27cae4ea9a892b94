/** A query's rows as marks on the plan: where each row lies, and what is written there. */
import type { Building, Plan, Query } from '../api/schema';
import { decimal, n, t } from '../language';
import type { Point } from './geometry';
import type { Cell, ViewColumn, Row } from '../wire/protocol';
import { distance } from './geometry';
import { number, type Table } from './table';

/** What says where a query's rows are. */
export type LocatedBy = NonNullable<Query['located_by']>;

/** Where something is on the plan. */
export interface Spot {
  readonly levelId: string;
  readonly at: Point;
  /** The room it is, where it is one. */
  readonly rid: string | null;
  /** What is selected to see more of it: `machine:…`, `room:…`, `door:…`. */
  readonly select: string | null;
}

/** The rows at one place. */
export interface Mark extends Spot {
  readonly key: string;
  /** What each row says, at most `SAID`. */
  readonly lines: readonly string[];
  readonly rows: number;
}

/** Node → where it is; the plans do not draw all of them. */
export type Nodes = ReadonlyMap<number, { readonly levelId: string; readonly at: Point }>;

export const NO_NODES: Nodes = new Map();

/** The query that says where nodes are, and its rows as a map. */
export const NODES_SQL = 'ONCE SELECT node, level_id, x_m, y_m FROM routing_node';

export function nodesOf(rows: readonly Row[]): Nodes {
  return new Map(
    rows.map(([node, level, x, y]) => [
      Number(node),
      { levelId: String(level), at: [Number(x), Number(y)] as Point },
    ]),
  );
}

const SAID = 20;
const WHERE = new Set(['x_m', 'y_m', 'level_id', 'node', 'at_s', 'rid', 'mid', 'sid', 'door_id', 'kiosk_id']);

/** Give the function that says where a row is. */
export function locate(
  columns: readonly ViewColumn[],
  by: LocatedBy,
  plans: readonly Plan[],
  building: Building | null,
  nodes: Nodes,
): (row: Row) => Spot | null {
  const at = (name: string): number => columns.findIndex((column) => column.name === name);
  if (by === 'point') {
    const [x, y, level] = [at('x_m'), at('y_m'), at('level_id')];
    return (row) => {
      const [xM, yM] = [number(row[x]), number(row[y])];
      if (xM === null || yM === null) return null;
      return { levelId: String(row[level]), at: [xM, yM], rid: null, select: null };
    };
  }
  const place = at(by);
  const spots = known(by, plans, building, nodes);
  return (row) => spots.get(String(row[place])) ?? null;
}

function known(
  by: Exclude<LocatedBy, 'point'>,
  plans: readonly Plan[],
  building: Building | null,
  nodes: Nodes,
): Map<string, Spot> {
  const found = new Map<string, Spot>();
  const add = (id: string, levelId: string, at: Point, kind: string | null = null): void => {
    found.set(id, {
      levelId,
      at,
      rid: kind === 'room' ? id : null,
      select: kind === null ? null : `${kind}:${id}`,
    });
  };
  for (const plan of plans) {
    const level = plan.level_id;
    if (by === 'mid') for (const one of plan.machines) add(one.mid, level, [one.x_m, one.y_m], 'machine');
    if (by === 'sid') for (const one of plan.sensors) add(one.sid, level, [one.x_m, one.y_m]);
    if (by === 'door_id') for (const one of plan.doors) add(one.id, level, [one.x_m, one.y_m], 'door');
    if (by === 'rid') for (const one of plan.units) add(one.id, level, one.label, 'room');
  }
  if (by === 'kiosk_id')
    for (const one of building?.kiosks ?? []) add(one.id, one.level_id, [one.x_m, one.y_m]);
  if (by === 'node') for (const [node, spot] of nodes) add(String(node), spot.levelId, spot.at);
  return found;
}

function said(value: Cell | undefined, column: ViewColumn): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? column.name : t('not {name}', { name: column.name });
  if (typeof value === 'number')
    return `${decimal(Math.round(value * 100) / 100)}${column.unit ? ` ${column.unit}` : ''}`;
  return typeof value === 'string' ? value : value.map((one) => said(one, column)).join(', ');
}

/** Give the function that puts a row in few words: its first two values that do not say where it is. */
export function wording(columns: readonly ViewColumn[], by: LocatedBy): (row: Row) => string {
  const telling = columns
    .map((column, at) => ({ column, at }))
    .filter(({ column }) => !WHERE.has(column.name));
  const ids = columns
    .map((column, at) => ({ column, at }))
    .filter(({ column }) => column.name === by || /^(mid|sid|door_id|kiosk_id|rid)$/.test(column.name));
  const shown = telling.length > 0 ? telling.slice(0, 2) : ids.slice(0, 1);
  return (row) =>
    shown
      .map(({ column, at }) => said(row[at], column))
      .filter(Boolean)
      .join(' · ') || t('a row');
}

/** Rows gathered by place, and how many have none. */
export function marks(
  table: Table,
  by: LocatedBy,
  where: (row: Row) => Spot | null,
): { marks: Mark[]; lost: number } {
  const word = wording(table.columns, by);
  const found = new Map<string, { spot: Spot; lines: string[]; rows: number }>();
  let lost = 0;
  for (const row of table.rows) {
    const spot = where(row);
    if (spot === null) {
      lost += 1;
      continue;
    }
    const key = `${spot.levelId}@${spot.at.join()}`;
    const held = found.get(key) ?? { spot, lines: [], rows: 0 };
    held.rows += 1;
    if (held.lines.length < SAID) held.lines.push(word(row));
    found.set(key, held);
  }
  const all = [...found].map(([key, { spot, lines, rows }]) => ({ ...spot, key, lines: lines.sort(), rows }));
  return {
    marks: all.sort(
      (a, b) =>
        a.levelId.localeCompare(b.levelId) ||
        (a.lines[0] ?? '').localeCompare(b.lines[0] ?? '', 'en', { numeric: true }),
    ),
    lost,
  };
}

/** Marks too close to be told apart at some zoom, drawn as one. */
export interface Group {
  readonly key: string;
  readonly at: Point;
  readonly marks: readonly Mark[];
  readonly rows: number;
}

/** Nearer than this on the screen, marks are one, px. */
const APART_PX = 22;

/** Gather marks as far as the zoom asks for; each group stands where its first mark is. */
export function gathered(here: readonly Mark[], pxPerM: number): Group[] {
  const groups: { key: string; at: Point; marks: Mark[]; rows: number }[] = [];
  for (const mark of here) {
    const near = groups.find((group) => distance(group.at, mark.at) * pxPerM < APART_PX);
    if (near) {
      near.marks.push(mark);
      near.rows += mark.rows;
    } else {
      groups.push({ key: mark.key, at: mark.at, marks: [mark], rows: mark.rows });
    }
  }
  return groups;
}

/** What a group is called on the plan. */
export function caption(group: Group): string {
  return group.rows === 1 ? (group.marks[0]?.lines[0] ?? '') : n('one row', '{count} rows', group.rows);
}

/** Characters a flag shows at most. */
export const FLAG_LENGTH = 26;

/** Width of a caption's flag, px. */
export function flagPx(text: string): number {
  return Math.min(text.length, FLAG_LENGTH) * 6.4 + 14;
}

/** Height of a flag, px, with some air. */
const FLAG_PX = 24;

/** Keys of the groups whose flags fit without covering one another, first come first served. */
export function legible(groups: readonly Group[], pxPerM: number): Set<string> {
  const taken: { left: number; right: number; y: number }[] = [];
  const kept = new Set<string>();
  for (const group of groups) {
    const [x, y] = [group.at[0] * pxPerM, group.at[1] * pxPerM];
    const half = flagPx(caption(group)) / 2;
    const box = { left: x - half, right: x + half, y };
    if (
      taken.some(
        (other) => box.left < other.right && other.left < box.right && Math.abs(other.y - y) < FLAG_PX,
      )
    )
      continue;
    taken.push(box);
    kept.add(group.key);
  }
  return kept;
}
