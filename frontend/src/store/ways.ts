/** Ways out: what the standing views say of them, in words. Nothing here looks for a way. */
import type { Difference, PlanExit, Plan, Weakness } from '../api/schema';
import { n, t } from '../language';
import type { Point } from './geometry';
import { metres, type Step } from './path';
import { number, records, type Fields, type Table } from './table';
import { titleOf, type World } from './world';
import { floorTitle } from './words';

/** Who walks: the rows of the views for each. */
export const MODES = [
  { id: 'walking', step_free: false, lifts: false },
  { id: 'step-free', step_free: true, lifts: false },
  { id: 'with-lifts', step_free: true, lifts: true },
] as const;

export type Mode = (typeof MODES)[number];

export function modeName({ id }: Mode): string {
  switch (id) {
    case 'walking':
      return t('On foot, by the stairs; lifts stand still');
    case 'step-free':
      return t('Without steps; lifts stand still');
    case 'with-lifts':
      return t('Without steps, with lifts: not in a fire');
  }
}

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
  if (exit === undefined) return t('an exit');
  if (exit.name !== '') return t('exit {name}', { name: exit.name });
  const room = seen.rooms.get(exit.rid);
  return t('exit {name}', { name: room ? `${titleOf(room)} ${exit.rid}` : exit.rid });
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

/** The way out from a point, step by step: rows of `way_out_walk` one after another, the exit last. */
export function walkOut(
  table: Table,
  mode: Mode,
  from: number,
  exits: ReadonlyMap<number, Exit>,
): readonly Step[] {
  const rows = new Map(
    records(table)
      .filter((row) => fits(row, mode))
      .map((row) => [number(row.node), row]),
  );
  const wholeMm = number(rows.get(from)?.cost_mm) ?? 0;
  const steps: Step[] = [];
  let node = from;
  for (let row = rows.get(node); row !== undefined && steps.length < rows.size; row = rows.get(node)) {
    const at: Point = [number(row.x_m) ?? 0, number(row.y_m) ?? 0];
    const costMm = wholeMm - (number(row.cost_mm) ?? 0);
    steps.push({ node, costMm, levelId: String(row.level_id), at });
    node = number(row.next) ?? -1;
  }
  const exit = exits.get(node);
  if (exit === undefined) return []; // the engine is between two answers
  return [...steps, { node, costMm: wholeMm, levelId: exit.levelId, at: [exit.x_m, exit.y_m] }];
}

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
      return [{ text: t('Door {id}', { id }), select: `door:${id}`, lost }];
    }
    const riser = risers.find(({ src, dst }) => src === row.src && dst === row.dst);
    if (riser === undefined) return [];
    const floor = (id: string): string => floorTitle(floors.get(id) ?? id);
    const between = { id: riser.rid, from: floor(riser.level), to: floor(riser.to_level) };
    return [
      {
        text:
          riser.way === 'lift'
            ? t('Lift {id}, from {from} to {to}', between)
            : t('Stairs {id}, from {from} to {to}', between),
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
          ? t('the same exit')
          : t('{exit} instead of {former}', {
              exit: exitName(exits.get(way.exit), seen),
              former: exitName(exits.get(old.exit), seen),
            });
      const said = [where, metres(way.costMm), ...extra(more)].join(', ');
      moved.push({ by: Math.abs(more), text: `${roomName(old.rid, seen)}: ${said}` });
    }
  }
  moved.sort((one, other) => other.by - one.by || one.text.localeCompare(other.text));
  return { cut: cut.sort(), moved: moved.map(({ text }) => text) };
}

function extra(lengthMm: number): string[] {
  const length = metres(Math.abs(lengthMm));
  if (lengthMm === 0) return [];
  return [lengthMm > 0 ? t('{length} more', { length }) : t('{length} less', { length })];
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
      ? t('Nothing: every room would still have a way out.')
      : t('Nothing: no room would gain a way out.');
  const machines = rids.reduce((sum, rid) => sum + (seen.rooms.get(rid)?.count.machines ?? 0), 0);
  const named = rids.slice(0, 8).map((rid) => roomName(rid, seen));
  const names = named.join(', ');
  const more = rids.length - named.length;
  const rooms = more > 0 ? t('{names} and {count} more', { names, count: more }) : names;
  if (machines === 0)
    return supposed === 'locked'
      ? t('No way would lead out of {rooms}.', { rooms })
      : t('A way would again lead out of {rooms}.', { rooms });
  return supposed === 'locked'
    ? n(
        'No way would lead out of {rooms}, with one machine.',
        'No way would lead out of {rooms}, with {count} machines.',
        machines,
        { rooms },
      )
    : n(
        'A way would again lead out of {rooms}, with one machine.',
        'A way would again lead out of {rooms}, with {count} machines.',
        machines,
        { rooms },
      );
}
