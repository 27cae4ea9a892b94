/** Which floor is shown, and what is selected on it. */
import type { Announcer } from './announcer.svelte';
import type { House } from './house.svelte';
import type { Navigation } from './navigation.svelte';
import type { RouteStore } from './route.svelte';
import type { Sensor } from './sensors';
import type { Door, Machine, Room } from './world';
import { floorHeading } from './words';

export type Selected =
  | { readonly kind: 'machine'; readonly machine: Machine }
  | { readonly kind: 'room'; readonly room: Room }
  | { readonly kind: 'sensor'; readonly sensor: Sensor }
  | { readonly kind: 'door'; readonly door: Door };

function levelOf(selected: Selected | null): string | null {
  switch (selected?.kind) {
    case 'machine':
      return selected.machine.levelId;
    case 'room':
      return selected.room.levelId;
    case 'door':
      return selected.door.levelId;
    case 'sensor':
      return selected.sensor.levelId;
    default:
      return null;
  }
}

export class Selection {
  constructor(
    private readonly house: House,
    private readonly nav: Navigation,
    private readonly route: RouteStore,
    private readonly announcer: Announcer,
  ) {}

  readonly selected: Selected | null = $derived.by(() => this.find());
  readonly levelId: string = $derived.by(() => {
    const { level } = this.nav.address;
    if (level !== null && this.house.levels.some(({ id }) => id === level)) return level;
    return levelOf(this.selected) ?? this.route.origin?.levelId ?? this.house.building?.default_level ?? '';
  });

  /** Whether the window with the power of a machine's tasks is open. */
  tasksShown = $state(false);

  /** Select a machine and open the window with the power of its tasks. */
  showTasks(mid: string): void {
    this.select(`machine:${mid}`);
    this.tasksShown = true;
  }

  /** Select something by its key, or nothing; the floor one looks at stays. */
  select(key: string | null): void {
    this.tasksShown = false;
    this.nav.go({ select: key, ...(this.levelId === '' ? {} : { level: this.levelId }) });
  }

  /** Select something and show the floor it is on. */
  show(key: string): void {
    this.nav.go({ select: key, level: null });
  }

  /** One floor up (+1) or down (-1). */
  climb(by: 1 | -1): void {
    const { levels } = this.house;
    const next = levels[levels.findIndex((level) => level.id === this.levelId) - by];
    if (!next) return;
    this.nav.go({ level: next.id });
    this.announcer.say(floorHeading(next.name));
  }

  private find(): Selected | null {
    const [kind, ...rest] = (this.nav.address.select ?? '').split(':');
    const id = rest.join(':');
    const { machines, rooms, doors } = this.house.world;
    const [machine, room, door] = [machines.get(id), rooms.get(id), doors.get(id)];
    if (kind === 'machine' && machine) return { kind, machine };
    if (kind === 'room' && room) return { kind, room };
    if (kind === 'door' && door) return { kind, door };
    const sensor = this.house.sensors.get(id);
    if (kind === 'sensor' && sensor) return { kind, sensor };
    return null;
  }
}
