/** Ways out: what the standing views say of them, in words. Nothing here looks for a way. */
import type { Difference, PlanExit, Plan, Weakness } from '../api/schema';
import { metres } from './path';
import { number, records, type Fields, type Table } from './table';
import { titleOf, type World } from './world';
import { floorTitle } from './words';

/** Who walks: the rows of the views for each. */
export const MODES = [
  { id: 'walking', step_free: false, lifts: false, text: 'On foot, by the stairs; lifts stand still' },
  { id: 'step-free', step_free: true, lifts: false, text: 'Without steps; lifts stand still' },
  { id: 'with-lifts', step_free: true, lifts: true, text: 'Without steps, with lifts: not in a fire' },
] as const;

export type Mode = (typeof MODES)[number];

export interface Exit extends PlanExit {
  readonly levelId: string;
}

export function exitsOf(plans: readonly Plan[]): Map<number, Exit> {
  return new Map(
    plans.flatMap((plan) =>
      plan.exits.map((exit) => [exit.node, { ...exit, levelId: plan.level_id }] as const),
    ),
  );
}

/** "exit Main entrance", "exit of Corridor (L0-walkway-1)": what it is called, or where it is. */
export function exitName(exit: Exit | undefined, seen: Pick<World, 'rooms'>): string {
  if (exit === undefined) return 'an exit';
  if (exit.name !== '') return `exit ${exit.name}`;
  const room = seen.rooms.get(exit.rid);
  return `exit ${room ? titleOf(room) : ''} ${exit.rid}`.replace(/\s+/g, ' ');
}

const fits = (row: Fields, mode: Mode): boolean =>
  row.step_free === mode.step_free && row.lifts === mode.lifts;

export interface WayOut {
  readonly rid: string;
  readonly exit: number;
  readonly costMm: number;
}

const wayOf = (row: Fields): WayOut => ({
  rid: String(row.rid),
  exit: number(row.exit) ?? -1,
  costMm: number(row.cost_mm) ?? 0,
});

/** The way out of each room, by room: rows of `room_exit`. */
export function waysOut(table: Table, mode: Mode): Map<string, WayOut> {
  return new Map(
    records(table)
      .filter((row) => fits(row, mode))
      .map((row) => [String(row.rid), wayOf(row)]),
  );
}

export interface CutOff {
  /** Rooms that an open door would give a way out. */
  readonly byDoors: readonly string[];
  /** Rooms from which the plan has none at all. */
  readonly never: readonly string[];
}

/** Rooms from which no way leads out: rows of `cut_off_room`. */
export function cutOff(table: Table, mode: Mode): CutOff {
  const mine = records(table).filter((row) => fits(row, mode));
  const rids = (byDoors: boolean): string[] =>
    mine
      .filter((row) => row.by_doors === byDoors)
      .map((row) => String(row.rid))
      .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  return { byDoors: rids(true), never: rids(false) };
}

/** How many rooms each exit is the nearest of, and the longest way to it; the busiest first. */
export function byExit(ways: ReadonlyMap<string, WayOut>): { exit: number; rooms: number; mostMm: number }[] {
  const found = new Map<number, { exit: number; rooms: number; mostMm: number }>();
  for (const { exit, costMm } of ways.values()) {
    const known = found.get(exit) ?? { exit, rooms: 0, mostMm: 0 };
    found.set(exit, { exit, rooms: known.rooms + 1, mostMm: Math.max(known.mostMm, costMm) });
  }
  return [...found.values()].sort((one, other) => other.rooms - one.rooms || one.exit - other.exit);
}

export const roomName = (rid: string, seen: Pick<World, 'rooms'>): string => {
  const room = seen.rooms.get(rid);
  return room ? titleOf(room) : rid;
};

export interface WeakPoint {
  readonly text: string;
  /** What to select to look at it. */
  readonly select: string;
  readonly lost: number;
}

/** Single doors, stairs and lifts by how many rooms lose their way out with each. */
export function weakPoints(
  found: Pick<Weakness, 'points'>,
  plans: readonly Plan[],
  floors: ReadonlyMap<string, string>,
): WeakPoint[] {
  const risers = plans.flatMap((plan) => plan.risers.map((riser) => ({ ...riser, level: plan.level_id })));
  return found.points.flatMap(({ relation, row, lost }): WeakPoint[] => {
    if (relation === 'door') {
      const id = String(row.door_id);
      return [{ text: `Door ${id}`, select: `door:${id}`, lost }];
    }
    const riser = risers.find(({ src, dst }) => src === row.src && dst === row.dst);
    if (riser === undefined) return [];
    const floor = (id: string): string => floorTitle(floors.get(id) ?? id);
    const what = riser.way === 'lift' ? 'Lift' : 'Stairs';
    return [
      {
        text: `${what} ${riser.rid}, from ${floor(riser.level)} to ${floor(riser.to_level)}`,
        select: `room:${riser.rid}`,
        lost,
      },
    ];
  });
}

export interface Drill {
  /** Rooms from which no way would lead out any more. */
  readonly cut: readonly string[];
  /** Rooms from which the way would lead elsewhere, or be longer, in sentences. */
  readonly moved: readonly string[];
}

/** Who would have to walk where: a change of `room_exit` that is only supposed. */
export function drill(
  difference: Pick<Difference, 'gone' | 'come'>,
  exits: ReadonlyMap<number, Exit>,
  seen: Pick<World, 'rooms'>,
): Drill {
  const come = new Map(difference.come.map((row) => [String(row.rid), wayOf(row)]));
  const cut: string[] = [];
  const moved: { by: number; text: string }[] = [];
  for (const row of difference.gone) {
    const old = wayOf(row);
    const way = come.get(old.rid);
    if (way === undefined) cut.push(old.rid);
    else {
      const more = way.costMm - old.costMm;
      const where =
        way.exit === old.exit
          ? `the same exit, ${metres(way.costMm)}`
          : `${exitName(exits.get(way.exit), seen)} instead of ${exitName(exits.get(old.exit), seen)}, ${metres(way.costMm)}`;
      const extra = more === 0 ? '' : `, ${metres(Math.abs(more))} ${more > 0 ? 'more' : 'less'}`;
      moved.push({ by: Math.abs(more), text: `${roomName(old.rid, seen)}: ${where}${extra}` });
    }
  }
  moved.sort((one, other) => other.by - one.by || one.text.localeCompare(other.text));
  return { cut: cut.sort(), moved: moved.map(({ text }) => text) };
}

/** What hangs on a door: rooms that lose or gain their way out with it, and the machines in them. */
export function hanging(
  difference: Pick<Difference, 'gone' | 'come'>,
  seen: Pick<World, 'rooms'>,
  supposed: 'locked' | 'open',
): string {
  const rows = supposed === 'locked' ? difference.gone : difference.come;
  const rids = [...new Set(rows.map((row) => String(row.rid)))].sort();
  if (rids.length === 0)
    return supposed === 'locked'
      ? 'Nothing: every room would still have a way out.'
      : 'Nothing: no room would gain a way out.';
  const machines = rids.reduce((sum, rid) => sum + (seen.rooms.get(rid)?.machines ?? 0), 0);
  const names = rids.slice(0, 8).map((rid) => roomName(rid, seen));
  const more = rids.length > names.length ? ` and ${rids.length - names.length} more` : '';
  const lead = supposed === 'locked' ? 'No way would lead out of' : 'A way would again lead out of';
  const with_ = machines === 0 ? '' : `, with ${machines === 1 ? 'one machine' : `${machines} machines`}`;
  return `${lead} ${names.join(', ')}${more}${with_}.`;
}
