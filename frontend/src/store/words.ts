/** States in words: one place, so that map, list, panels and labels say the same. */
import { decimal, language, locale, n, t } from '../language';
import { preferred } from './units.svelte';
import type { Count, Door, Machine, Reading, Room } from './world';
import { titleOf } from './world';

function machineReason(reason: string): string {
  switch (reason) {
    case 'seat':
      return t('somebody is sitting there');
    case 'cpu':
      return t('the processor is busy');
    case 'reserved':
      return t('the room is reserved');
    case 'dark':
      return t('the room is dark');
    default:
      return reason;
  }
}

function roomReason(reason: string): string {
  switch (reason) {
    case 'reserved':
      return t('reserved');
    case 'dark':
      return t('lights are off');
    default:
      return reason;
  }
}

/** "free", "free, but behind a locked door", "in use: somebody is sitting there", "room closed: the room is dark", "no data". */
export function machineState(
  machine: Pick<Machine, 'state' | 'reason'> & Partial<Pick<Machine, 'locked'>>,
): string {
  const why = machineReason(machine.reason);
  switch (machine.state) {
    case 'free':
      return machine.locked ? t('free, but behind a locked door') : t('free');
    case 'in-use':
      return why === '' ? t('in use') : t('in use: {why}', { why });
    case 'closed':
      return why === '' ? t('room closed') : t('room closed: {why}', { why });
    case 'no-data':
      return t('no data');
  }
}

/** "open", "open, but behind a locked door", "closed: reserved", "no data"; passages have no state of their own. */
export function roomState(room: Pick<Room, 'state' | 'reason'> & Partial<Pick<Room, 'locked'>>): string {
  switch (room.state) {
    case 'open':
      return room.locked ? t('open, but behind a locked door') : t('open');
    case 'closed':
      return t('closed: {why}', { why: roomReason(room.reason) });
    case 'no-data':
      return t('no data');
    case 'passage':
      return room.locked ? t('behind a locked door') : '';
  }
}

/** Type, name, state: the accessible name of a machine. */
export function machineLabel(machine: Machine): string {
  return `${t('Machine {name}', { name: machine.host })}, ${machineState(machine)}`;
}

/** "3 of 5 machines free", "2 of 3 machines free, but behind a locked door", or that none of them says anything. */
export function machinesFree({ free, machines, behind }: Count): string {
  if (free === null) return n('one machine without data', '{count} machines without data', machines);
  if (behind === 0) return t('{free} of {all} machines free', { free, all: machines });
  if (free === 0)
    return t('{free} of {all} machines free, but behind a locked door', { free: behind, all: machines });
  return t('{free} of {all} machines free, {count} more behind locked doors', {
    free,
    all: machines,
    count: behind,
  });
}

/** Type, name, state, and how many machines are free. */
export function roomLabel(room: Room): string {
  const parts = [titleOf(room), roomState(room)];
  if (room.count.machines > 0) parts.push(machinesFree(room.count));
  if (room.region !== null)
    parts.push(room.inLargestRegion ? t('too warm, in the largest warm part of the house') : t('too warm'));
  return parts.filter((part) => part !== '').join(', ');
}

export function doorState(door: { readonly state: unknown }): string {
  switch (door.state) {
    case 'open':
      return t('open');
    case 'locked':
      return t('locked');
    default:
      return t('no data');
  }
}

export function doorLabel(door: Door): string {
  return `${t('Door {id}', { id: door.id })}, ${doorState(door)}`;
}

/** Names that say themselves that they are a floor's; "2. OG" says it to readers of German alone. */
const SAYS_FLOOR = /\b(floor|level|storey|ebene|etage)\b|geschoss/i;
const SAYS_FLOOR_IN_GERMAN = /^(\d+\.\s*)?[EOUD]G$/;

/** "floor EG", but "First Floor", "Level 2" as they stand. */
export function floorTitle(name: string): string {
  const stands = SAYS_FLOOR.test(name) || (language() === 'de' && SAYS_FLOOR_IN_GERMAN.test(name));
  return stands ? name : t('floor {name}', { name });
}

/** "Kiosk 3, floor 1"; "Entrance East, 2. OG" as it stands, since it names the floor itself. */
export function onFloor(place: string, floor: string): string {
  const title = floorTitle(floor);
  // A bare number may count something else: "Kiosk 1".
  const told = /\p{L}/u.test(floor) ? [title, floor] : [title];
  const says = told.some((one) => ` ${place}`.toLowerCase().endsWith(` ${one}`.toLowerCase()));
  return says ? place : t('{place}, {floor}', { place, floor: title });
}

/** "Floor EG", "Ground Floor": as a heading begins. */
export function floorHeading(name: string): string {
  const title = floorTitle(name);
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

/** "21.4 °C", "39 %", "1,240 lx": in the reader's unit, with as many digits as tell something. */
export function amount(value: number, unit: string, digits?: number): string {
  const [shown, as] = preferred(value, unit);
  const telling = Math.abs(shown) >= 100 || unit === '%' || unit === 'lx' ? 0 : 1;
  const text = decimal(shown, digits ?? telling);
  return as === '' ? text : `${text} ${as}`;
}

/** "14:05", and "Tue 14:05" on another day; the reader's own zone, named where `zone` is set. */
export function clockTime(atS: number, nowS: number, zone = false): string {
  const at = new Date(atS * 1000);
  const sameDay = at.toDateString() === new Date(nowS * 1000).toDateString();
  return at.toLocaleString(locale(), {
    hour: '2-digit',
    minute: '2-digit',
    ...(sameDay ? {} : { weekday: 'short' }),
    ...(zone ? { timeZoneName: 'short' } : {}),
  });
}

/** "just now", "6 min ago", "2 h ago". */
export function age(atS: number, nowS: number): string {
  const past = Math.max(0, nowS - atS);
  if (past < 10) return t('just now');
  if (past < 60) return t('{count} s ago', { count: Math.round(past) });
  if (past < 3600) return t('{count} min ago', { count: Math.round(past / 60) });
  if (past < 172_800) return t('{count} h ago', { count: Math.round(past / 3600) });
  return t('{count} days ago', { count: Math.round(past / 86_400) });
}

/** Twice as old as sensors usually let a reading become: shown grey. */
export const STALE_AFTER_S = 120;

/** Older than that, and than twice the interval of a sensor that reports rarely. */
export function isStale(reading: Reading, nowS: number): boolean {
  return nowS - reading.atS > Math.max(STALE_AFTER_S, 2 * (reading.periodS ?? 0));
}
