/** States in words: one place, so that map, list, panels and labels say the same. */
import type { Door, Machine, Reading, Room } from './world';
import { titleOf } from './world';

const MACHINE_REASON: Readonly<Record<string, string>> = {
  seat: 'somebody is sitting there',
  cpu: 'the processor is busy',
  reserved: 'the room is reserved',
  dark: 'the room is dark',
};

const ROOM_REASON: Readonly<Record<string, string>> = {
  reserved: 'reserved',
  dark: 'lights are off',
};

/** "free", "in use: somebody is sitting there", "room closed: the room is dark", "no data". */
export function machineState(machine: Pick<Machine, 'state' | 'reason'>): string {
  const why = MACHINE_REASON[machine.reason] ?? machine.reason;
  switch (machine.state) {
    case 'free':
      return 'free';
    case 'in-use':
      return why === '' ? 'in use' : `in use: ${why}`;
    case 'closed':
      return why === '' ? 'room closed' : `room closed: ${why}`;
    case 'no-data':
      return 'no data';
  }
}

/** "open", "closed: reserved", "no data"; passages have no state of their own. */
export function roomState(room: Pick<Room, 'state' | 'reason'>): string {
  switch (room.state) {
    case 'open':
      return 'open';
    case 'closed':
      return `closed: ${ROOM_REASON[room.reason] ?? room.reason}`;
    case 'no-data':
      return 'no data';
    case 'passage':
      return '';
  }
}

/** Type, name, state: the accessible name of a machine. */
export function machineLabel(machine: Machine): string {
  return `Machine ${machine.host}, ${machineState(machine)}`;
}

/** Type, name, state, and how many machines are free. */
export function roomLabel(room: Room): string {
  const parts = [titleOf(room), roomState(room)];
  if (room.machines > 0) parts.push(`${room.free} of ${room.machines} machines free`);
  if (room.region !== null)
    parts.push(room.inLargestRegion ? 'too warm, in the largest warm part of the house' : 'too warm');
  return parts.filter((part) => part !== '').join(', ');
}

export function doorState(door: Pick<Door, 'state'>): string {
  return door.state === 'no-data' ? 'no data' : door.state;
}

export function doorLabel(door: Door): string {
  return `Door ${door.id}, ${doorState(door)}`;
}

/** "floor EG", but "First Floor", "Level 2" as they stand. */
export function floorTitle(name: string): string {
  return /\b(floor|level|storey|ebene|etage)\b|geschoss/i.test(name) ? name : `floor ${name}`;
}

/** "Floor EG", "Ground Floor": as a heading begins. */
export function floorHeading(name: string): string {
  const title = floorTitle(name);
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

/** "21.4 °C", "39 %", "1,240 lx": as many digits as tell something. */
export function amount(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 || unit === '%' || unit === 'lx' ? 0 : 1;
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === '' ? text : `${text} ${unit}`;
}

/** "14:05", and "Tue 14:05" on another day; the reader's own zone, named where `zone` is set. */
export function clockTime(atS: number, nowS: number, zone = false): string {
  const at = new Date(atS * 1000);
  const sameDay = at.toDateString() === new Date(nowS * 1000).toDateString();
  return at.toLocaleString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(sameDay ? {} : { weekday: 'short' }),
    ...(zone ? { timeZoneName: 'short' } : {}),
  });
}

/** "just now", "6 min ago", "2 h ago". */
export function age(atS: number, nowS: number): string {
  const past = Math.max(0, nowS - atS);
  if (past < 10) return 'just now';
  if (past < 60) return `${Math.round(past)} s ago`;
  if (past < 3600) return `${Math.round(past / 60)} min ago`;
  if (past < 172_800) return `${Math.round(past / 3600)} h ago`;
  return `${Math.round(past / 86_400)} days ago`;
}

/** Twice as old as sensors usually let a reading become: shown grey. */
export const STALE_AFTER_S = 120;

/** Older than that, and than twice the interval of a sensor that reports rarely. */
export function isStale(reading: Reading, nowS: number): boolean {
  return nowS - reading.atS > Math.max(STALE_AFTER_S, 2 * (reading.periodS ?? 0));
}
