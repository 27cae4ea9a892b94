/** The route as the map and the directions need it: legs per floor, joined by lifts and stairs. */
import type { LevelInfo, Point } from '../api/types';
import { distance, inside, simplify, turn } from './geometry';
import { number, records, type Table } from './table';
import type { Room } from './world';
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

/** Rows of `route_step` of one session, start first. */
export function steps(table: Table, session: string): Step[] {
  return records(table)
    .flatMap((record) => {
      const x = number(record['x_m']);
      const y = number(record['y_m']);
      const node = number(record['node']);
      if (record['session'] !== session || x === null || y === null || node === null) return [];
      const costMm = number(record['cost_mm']) ?? 0;
      return [{ node, costMm, levelId: String(record['level_id']), at: [x, y] as Point }];
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
    levelId: (run[0] as Step).levelId,
    points: run.map((step) => step.at),
  }));
  const climbs: Climb[] = [];
  for (let i = 1; i < kept.length; i++) {
    const before = kept[i - 1]?.at(-1) as Step;
    const after = kept[i]?.[0] as Step;
    const way = wayAt(before, roomsByLevel) ?? wayAt(after, roomsByLevel) ?? 'passage';
    climbs.push({ way, from: before.levelId, to: after.levelId, at: before.at, arriveAt: after.at });
  }
  return { legs, climbs, lengthMm: route.at(-1)?.costMm ?? 0 };
}

function isPassing(run: readonly Step[]): boolean {
  const first = run[0] as Step;
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
  return m < 1000 ? `${Math.max(1, Math.round(m))} m` : `${(m / 1000).toFixed(1)} km`;
}

/** "2 min" of walking, at least one. */
export function walkingTime(lengthMm: number): string {
  return `${Math.max(1, Math.round(lengthMm / 1000 / WALKING_M_PER_S / 60))} min`;
}

/** Numbered text directions, with what one walks through as landmarks. */
export function directions(
  found: Path,
  levels: readonly LevelInfo[],
  roomsByLevel: ReadonlyMap<string, readonly Room[]>,
  origin: string,
  target: string,
): Instruction[] {
  const name = (id: string): string => levels.find((level) => level.id === id)?.name ?? id;
  const told: Instruction[] = [];
  found.legs.forEach((leg, i) => {
    if (i === 0) {
      told.push(say('start', leg.levelId, `Start at ${origin}, floor ${name(leg.levelId)}`));
    }
    told.push(...walk(leg, roomsByLevel.get(leg.levelId) ?? []));
    const climb = found.climbs[i];
    if (!climb) return;
    const ordinal = (id: string): number => levels.find((l) => l.id === id)?.ordinal ?? 0;
    const sense = ordinal(climb.to) > ordinal(climb.from) ? 'up' : 'down';
    const means = { lift: 'Take the lift', stairs: 'Take the stairs', passage: 'Go' }[climb.way];
    told.push({
      text: `${means} ${sense} to floor ${name(climb.to)}`,
      levelId: climb.from,
      kind: climb.way,
      toLevelId: climb.to,
      lengthM: 0,
    });
  });
  const end = found.legs.at(-1);
  if (end) told.push(say('arrive', end.levelId, `Arrive at ${target}`));
  return told;
}

function say(kind: Instruction['kind'], levelId: string, text: string, lengthM = 0): Instruction {
  return { kind, levelId, text, toLevelId: null, lengthM };
}

function walk(leg: Leg, rooms: readonly Room[]): Instruction[] {
  const points = simplify(leg.points, 1);
  const told: Instruction[] = [];
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1] as Point, points[i] as Point];
    const length = distance(a, b);
    if (length < 0.5) continue;
    const angle = i > 1 ? turn(points[i - 2] as Point, a, b) : 0;
    const kind = told.length === 0 ? 'straight' : kindOf(angle);
    const where = landmark([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], rooms);
    const previous = told.at(-1);
    if (kind === 'straight' && previous && previous.kind !== 'start') {
      const joined = previous.lengthM + length;
      told[told.length - 1] = { ...previous, lengthM: joined, text: phrase(previous.kind, joined, where) };
    } else {
      told.push(say(kind, leg.levelId, phrase(kind, length, where), length));
    }
  }
  return told;
}

function kindOf(angle: number): 'straight' | 'left' | 'right' | 'back' {
  if (Math.abs(angle) < 30) return 'straight';
  if (Math.abs(angle) > 150) return 'back';
  return angle > 0 ? 'left' : 'right';
}

function phrase(kind: Instruction['kind'], lengthM: number, where: string): string {
  const how = {
    left: 'Turn left and go',
    right: 'Turn right and go',
    back: 'Turn round and go',
  }[kind as 'left'] as string | undefined;
  return `${how ?? 'Go straight'} ${metres(lengthM * 1000)}${where}`;
}

function landmark(at: Point, rooms: readonly Room[]): string {
  const room = rooms.find((r) => inside(at, r.polygon));
  if (!room) return '';
  if (room.category === 'walkway') return ' along the corridor';
  return room.category === 'room' && room.name === '' ? ' through a room' : ` through ${titleOf(room)}`;
}
