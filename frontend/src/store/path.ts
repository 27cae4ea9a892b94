/** The route as the map and the directions need it: legs per floor, joined by lifts and stairs. */
import type { Level } from '../api/schema';
import type { Point } from './geometry';
import { decimal, t } from '../language';
import { elementAt } from '../lists';
import { distance, inside, simplify, turn } from './geometry';
import { number, type Fields } from './table';
import type { Room } from './world';
import { climbing, going, type Along } from './turns';
import { floorTitle, onFloor } from './words';
import { titleOf } from './world';

export interface Step {
  readonly node: number;
  readonly costMm: number;
  readonly levelId: string;
  readonly at: Point;
}

export interface Leg {
  readonly levelId: string;
  readonly points: readonly Point[];
}

export type Way = 'lift' | 'stairs' | 'passage';

/** A change of floor between two legs. */
export interface Climb {
  readonly way: Way;
  readonly from: string;
  readonly to: string;
  readonly at: Point;
  readonly arriveAt: Point;
}

export interface Path {
  readonly legs: readonly Leg[];
  readonly climbs: readonly Climb[];
  readonly lengthMm: number;
}

export interface Instruction {
  readonly text: string;
  readonly levelId: string;
  readonly kind: 'start' | 'straight' | 'left' | 'right' | 'back' | 'lift' | 'stairs' | 'passage' | 'arrive';
  /** For a change of floor: where it leads. */
  readonly toLevelId: string | null;
  readonly lengthM: number;
}

/** Ordinary walking speed indoors, m/s. */
const WALKING_M_PER_S = 1.25;

/** Rows of `route_step` that answer one question, start first. */
export function stepsOf(rows: readonly Fields[]): Step[] {
  return rows
    .flatMap((record) => {
      const x = number(record.x_m);
      const y = number(record.y_m);
      const node = number(record.node);
      if (x === null || y === null || node === null) return [];
      const costMm = number(record.cost_mm) ?? 0;
      return [{ node, costMm, levelId: String(record.level_id), at: [x, y] as Point }];
    })
    .sort((a, b) => a.costMm - b.costMm || a.node - b.node);
}

/** Cut the steps into legs; floors merely passed inside a lift or stairwell are no legs. */
export function path(route: readonly Step[], roomsByLevel: ReadonlyMap<string, readonly Room[]>): Path {
  const runs: Step[][] = [];
  for (const step of route) {
    const run = runs[runs.length - 1];
    if (run && run[0]?.levelId === step.levelId) run.push(step);
    else runs.push([step]);
  }
  const kept = runs.filter((run, i) => i === 0 || i === runs.length - 1 || !isPassing(run));
  const legs = kept.map((run) => ({
    levelId: elementAt(run, 0).levelId,
    points: run.map((step) => step.at),
  }));
  const climbs: Climb[] = [];
  for (let i = 1; i < kept.length; i++) {
    const before = elementAt(elementAt(kept, i - 1), -1);
    const after = elementAt(elementAt(kept, i), 0);
    const way = wayAt(before, roomsByLevel) ?? wayAt(after, roomsByLevel) ?? 'passage';
    climbs.push({ way, from: before.levelId, to: after.levelId, at: before.at, arriveAt: after.at });
  }
  return { legs, climbs, lengthMm: route.at(-1)?.costMm ?? 0 };
}

function isPassing(run: readonly Step[]): boolean {
  const first = elementAt(run, 0);
  return run.every((step) => distance(step.at, first.at) < 2);
}

function wayAt(step: Step, roomsByLevel: ReadonlyMap<string, readonly Room[]>): Way | null {
  for (const room of roomsByLevel.get(step.levelId) ?? []) {
    if (room.category !== 'elevator' && room.category !== 'stairs') continue;
    if (room.node === step.node || inside(step.at, room.polygon)) {
      return room.category === 'elevator' ? 'lift' : 'stairs';
    }
  }
  return null;
}

/** "140 m" below a kilometre. */
export function metres(lengthMm: number): string {
  const m = lengthMm / 1000;
  return m < 1000 ? `${Math.max(1, Math.round(m))} m` : `${decimal(m / 1000, 1)} km`;
}

/** "2 min" of walking, at least one. */
export function walkingTime(lengthMm: number): string {
  return `${Math.max(1, Math.round(lengthMm / 1000 / WALKING_M_PER_S / 60))} min`;
}

/** The sentence's object, and the room it is in. */
export interface End {
  readonly name: string;
  readonly rid: string;
}

/** Numbered text directions, with what one walks through as landmarks. */
export function directions(
  found: Path,
  levels: readonly Level[],
  roomsByLevel: ReadonlyMap<string, readonly Room[]>,
  origin: string,
  target: End,
): Instruction[] {
  const name = (id: string): string => levels.find((level) => level.id === id)?.name ?? id;
  const ordinal = (id: string): number => levels.find((level) => level.id === id)?.ordinal ?? 0;
  const instructions: Instruction[] = [];
  found.legs.forEach((leg, i) => {
    const { levelId } = leg;
    if (i === 0)
      instructions.push(
        say('start', levelId, t('Start at {place}', { place: onFloor(origin, name(levelId)) })),
      );
    const stretches = walk(leg, roomsByLevel.get(levelId) ?? []);
    const last = i === found.legs.length - 1;
    for (const stretch of last ? entering(stretches, target.rid) : stretches) {
      instructions.push(say(stretch.kind, levelId, phrase(stretch), stretch.lengthM));
    }
    const climb = found.climbs[i];
    if (!climb) return;
    instructions.push({
      text: climbing(climb.way, ordinal(climb.to) > ordinal(climb.from), floorTitle(name(climb.to))),
      levelId: climb.from,
      kind: climb.way,
      toLevelId: climb.to,
      lengthM: 0,
    });
  });
  const end = found.legs.at(-1);
  if (end) instructions.push(say('arrive', end.levelId, t('Arrive at {place}', { place: target.name })));
  return instructions;
}

function say(kind: Instruction['kind'], levelId: string, text: string, lengthM = 0): Instruction {
  return { kind, levelId, text, toLevelId: null, lengthM };
}

/** One straight piece of the walk, in one room. */
interface Stretch {
  readonly kind: 'straight' | 'left' | 'right' | 'back';
  readonly lengthM: number;
  readonly room: Room | null;
  /** The last stretches, all in the target's room, are one instruction. */
  readonly enters: boolean;
}

/** Shorter pieces are corners of the drawing, not of the walk, m. */
const SHORTEST_M = 3.5;
/** A corridor is walked down its middle: drawn corners closer than this to a straight line are none, m. */
const WOBBLE_M = 2.2;

function walk(leg: Leg, rooms: readonly Room[]): Stretch[] {
  const corners = simplify(leg.points, WOBBLE_M);
  const points = corners.filter(
    (p, i) => i === 0 || i === corners.length - 1 || distance(p, elementAt(corners, i - 1)) >= SHORTEST_M,
  );
  const found: Stretch[] = [];
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [elementAt(points, i - 1), elementAt(points, i)];
    const lengthM = distance(a, b);
    if (lengthM < 0.5) continue;
    const kind = found.length === 0 ? 'straight' : kindOf(turn(elementAt(points, i - 2), a, b));
    const middle: Point = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const room = rooms.find((r) => inside(middle, r.polygon)) ?? null;
    const before = found.at(-1);
    if (kind === 'straight' && before && before.room?.category === room?.category) {
      found[found.length - 1] = { ...before, lengthM: before.lengthM + lengthM };
    } else {
      found.push({ kind, lengthM, room, enters: false });
    }
  }
  return found;
}

function entering(stretches: readonly Stretch[], rid: string): Stretch[] {
  let from = stretches.length;
  while (from > 0 && stretches[from - 1]?.room?.rid === rid) from -= 1;
  const inner = stretches.slice(from);
  const first = inner[0];
  if (!first || from === 0) return [...stretches];
  const lengthM = inner.reduce((sum, stretch) => sum + stretch.lengthM, 0);
  return [...stretches.slice(0, from), { ...first, lengthM, enters: true }];
}

function kindOf(angle: number): Stretch['kind'] {
  if (Math.abs(angle) < 30) return 'straight';
  if (Math.abs(angle) > 150) return 'back';
  return angle > 0 ? 'left' : 'right';
}

function phrase({ kind, lengthM, room, enters }: Stretch): string {
  const place = room ? titleOf(room) : '';
  return going(kind, enters ? 'into' : along(room), { length: metres(lengthM * 1000), place });
}

function along(room: Room | null): Along {
  if (!room || room.category === 'stairs' || room.category === 'elevator') return 'nothing';
  if (room.category === 'walkway') return room.name === '' ? 'unnamed-corridor' : 'corridor';
  return room.category === 'room' && room.name === '' ? 'unnamed-room' : 'room';
}
