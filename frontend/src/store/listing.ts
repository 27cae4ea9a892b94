/** The building as floor → room → machine, from the same world the map draws. */
import type { Level } from '../api/schema';
import { countOf, titleOf, type Count, type Door, type Machine, type Room, type World } from './world';

export interface ListedRoom {
  readonly room: Room;
  readonly machines: readonly Machine[];
}

export interface ListedFloor {
  readonly level: Level;
  readonly rooms: readonly ListedRoom[];
  readonly doors: readonly Door[];
  readonly count: Count;
  readonly closed: number;
  readonly locked: number;
}

/** Rooms with machines come first, passages last: the order of what people look for. */
function rank(entry: ListedRoom): number {
  if (entry.machines.length > 0) return 0;
  return entry.room.state === 'passage' ? 2 : 1;
}

/** @param wanted keys of the rooms, machines and doors that are listed; null for all. */
export function listing(
  seen: World,
  levels: readonly Level[],
  wanted: ReadonlySet<string> | null = null,
): ListedFloor[] {
  const matches = (key: string): boolean => wanted === null || wanted.has(key);
  const inRoom = new Map<string, Machine[]>();
  for (const machine of seen.machines.values()) {
    const list = inRoom.get(machine.rid);
    if (list) list.push(machine);
    else inRoom.set(machine.rid, [machine]);
  }
  return levels.map((level) => {
    const all = [...seen.rooms.values()].filter((room) => room.levelId === level.id);
    const rooms = all
      .map((room) => {
        const machines = (inRoom.get(room.rid) ?? []).toSorted((a, b) => a.host.localeCompare(b.host));
        const whole = matches(`room:${room.rid}`);
        return {
          room,
          machines: whole ? machines : machines.filter((m) => matches(`machine:${m.mid}`)),
          whole,
        };
      })
      .filter((entry) => entry.whole || entry.machines.length > 0)
      .sort(
        (a, b) =>
          rank(a) - rank(b) ||
          titleOf(a.room).localeCompare(titleOf(b.room), 'en', { numeric: true }) ||
          a.room.rid.localeCompare(b.room.rid),
      );
    const machines = [...seen.machines.values()].filter((m) => m.levelId === level.id);
    const doors = [...seen.doors.values()].filter(
      (door) => door.levelId === level.id && matches(`door:${door.id}`),
    );
    return {
      level,
      rooms: rooms.map(({ room, machines: listed }) => ({ room, machines: listed })),
      doors,
      count: countOf(machines),
      closed: all.filter((room) => room.state === 'closed').length,
      locked: doors.filter((door) => door.state === 'locked').length,
    };
  });
}
