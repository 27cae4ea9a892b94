/** The alarms that stand: what is wrong, where, since when, and who has taken note. */
import { decimal, t, word } from '../language';
import type { Point } from './geometry';
import { grouped } from '../lists';
import { number, records, type Table } from './table';
import { preferred } from './units.svelte';
import { titleOf, type World } from './world';

export type Severity = 'critical' | 'warning' | 'info';
/** How an alarm is drawn: by its severity, or as one about missing data. */
export type Look = Severity | 'no-data';

export interface Alarm {
  readonly id: number;
  readonly title: string;
  readonly noData: boolean;
  readonly severity: Severity;
  readonly message: string;
  readonly value: number | null;
  readonly unit: string;
  readonly levelId: string;
  readonly rid: string;
  readonly mid: string;
  readonly doorId: string;
  readonly raisedS: number;
  /** When its value last changed. */
  readonly changedS: number;
  readonly acknowledged: boolean;
  readonly mutedUntilS: number | null;
  readonly assigned: boolean;
}

/** Something on the plan: its key as the address has it, and its name. */
export interface Place {
  readonly key: string;
  readonly name: string;
}

/** A mark on the plan: the worst alarm there, and how many; quiet where staff know of all of them. */
export interface Mark {
  readonly quiet: boolean;
  readonly key: string;
  readonly at: Point;
  readonly look: Look;
  readonly count: number;
}

const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'info'];
const LOOKS: readonly Look[] = ['critical', 'warning', 'no-data', 'info'];

/** The alarms: those nobody has taken note of first, then the worst, then the newest. */
export function alarms(table: Table): Alarm[] {
  const text = (cell: unknown): string => (typeof cell === 'string' ? cell : '');
  return records(table)
    .map((record) => ({
      id: number(record.alarm_id) ?? 0,
      title: word(text(record.target) || text(record.name)),
      noData: record.kind === 'no data',
      severity: SEVERITIES.find((one) => one === record.severity) ?? 'warning',
      message: word(text(record.message)),
      value: number(record.value),
      unit: text(record.unit),
      levelId: text(record.level_id),
      rid: text(record.rid),
      mid: text(record.mid),
      doorId: text(record.door_id),
      raisedS: number(record.raised_s) ?? 0,
      changedS: number(record.changed_s) ?? 0,
      acknowledged: record.acknowledged === true,
      mutedUntilS: number(record.muted_until_s),
      assigned: record.assigned === true,
    }))
    .sort(
      (a, b) =>
        Number(a.acknowledged) - Number(b.acknowledged) ||
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
        b.raisedS - a.raisedS ||
        b.id - a.id,
    );
}

export const isMuted = (alarm: Pick<Alarm, 'mutedUntilS'>, nowS: number): boolean =>
  alarm.mutedUntilS !== null && alarm.mutedUntilS > nowS;

/** Whether staff know of it: nobody is to be disturbed. */
export const isQuiet = (alarm: Alarm, nowS: number): boolean => alarm.acknowledged || isMuted(alarm, nowS);

export const lookOf = (alarm: Pick<Alarm, 'noData' | 'severity'>): Look =>
  alarm.noData ? 'no-data' : alarm.severity;

/** "Critical", "Warning", "Note", "No data": what a look means. */
export function lookName(look: Look): string {
  switch (look) {
    case 'critical':
      return t('Critical');
    case 'warning':
      return t('Warning');
    case 'info':
      return t('Note');
    case 'no-data':
      return t('No data');
  }
}

/** The same, as the kind of an alarm. */
function alarmKind(look: Look): string {
  switch (look) {
    case 'critical':
      return t('Critical alarm');
    case 'warning':
      return t('Warning alarm');
    case 'info':
      return t('Note alarm');
    case 'no-data':
      return t('No data');
  }
}

/** "26.4 °C"; empty without a number. */
export function valueText(alarm: Pick<Alarm, 'value' | 'unit'>): string {
  if (alarm.value === null) return '';
  const [value, unit] = preferred(alarm.value, alarm.unit);
  return `${decimal(Math.round(value * 100) / 100)} ${unit}`.trim();
}

/** What an alarm is about, as the plan and the list call it; null where its row names no place. */
export function placeOf(alarm: Pick<Alarm, 'rid' | 'mid' | 'doorId'>, world: World | null): Place | null {
  const key = keyOf(alarm);
  if (key === null) return null;
  if (alarm.mid !== '') {
    const host = world?.machines.get(alarm.mid)?.host ?? alarm.mid;
    return { key, name: t('Machine {name}', { name: host }) };
  }
  if (alarm.doorId !== '') return { key, name: t('Door {id}', { id: alarm.doorId }) };
  const room = world?.rooms.get(alarm.rid);
  return { key, name: room ? titleOf(room) : t('Room {name}', { name: alarm.rid }) };
}

function keyOf({ rid, mid, doorId }: Pick<Alarm, 'rid' | 'mid' | 'doorId'>): string | null {
  if (mid !== '') return `machine:${mid}`;
  if (doorId !== '') return `door:${doorId}`;
  return rid === '' ? null : `room:${rid}`;
}

/** The alarms by the place they are about, as the address names it. */
export function byPlace(standing: readonly Alarm[]): ReadonlyMap<string, Alarm[]> {
  return grouped(standing, (alarm) => keyOf(alarm) ?? '');
}

/** How many alarms stand on each floor. */
export function byLevel(standing: readonly Alarm[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { levelId } of standing) found.set(levelId, (found.get(levelId) ?? 0) + 1);
  return found;
}

/** The marks of a floor: one for each room, machine and door. */
export function marks(standing: readonly Alarm[], world: World, levelId: string, nowS: number): Mark[] {
  const found = new Map<string, Mark>();
  for (const alarm of standing) {
    const place = placeOf(alarm, world);
    const thing =
      world.machines.get(alarm.mid) ?? world.doors.get(alarm.doorId) ?? world.rooms.get(alarm.rid);
    if (place === null || thing?.levelId !== levelId) continue;
    const before = found.get(place.key);
    const look = lookOf(alarm);
    const worse = before === undefined || LOOKS.indexOf(look) < LOOKS.indexOf(before.look);
    found.set(place.key, {
      key: place.key,
      at: 'label' in thing ? thing.label : thing.at,
      look: worse ? look : before.look,
      count: (before?.count ?? 0) + 1,
      quiet: (before?.quiet ?? true) && isQuiet(alarm, nowS),
    });
  }
  return [...found.values()];
}

/** "Critical alarm: too warm, Room H1, 26.4 °C.", as it is read out. */
export function phrase(alarm: Alarm, world: World | null): string {
  const what = alarmKind(lookOf(alarm));
  const where = placeOf(alarm, world)?.name ?? '';
  const said = alarm.noData ? '' : valueText(alarm) || (where === '' ? alarm.message : '');
  return `${what}: ${[alarm.title, where, said].filter((part) => part !== '').join(', ')}.`;
}
