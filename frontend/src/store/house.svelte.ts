/** The building: its plans, loaded once, and the state that the views give each thing in them. */
import { Problem } from '../api/http';
import type { Building, Level, Plan } from '../api/schema';
import { grouped } from '../lists';
import { Finder } from './find';
import { getOrKept } from './kept';
import type { Live } from './live.svelte';
import { sensorsOf, type Sensor } from './sensors';
import { titlesOf } from './titles';
import { world, type Room, type World } from './world';

/** After a failure the building is asked for again, ms. */
const AGAIN_MS = 3000;

export class House {
  building = $state.raw<Building | null>(null);
  plans = $state.raw<readonly Plan[]>([]);
  problem = $state.raw<Problem | null>(null);
  /** Since when the plan is the newest there is, where the service cannot be reached; null: it can. */
  keptAtMs = $state<number | null>(null);

  constructor(private readonly live: Live) {}

  readonly world: World = $derived.by(() => world(this.plans, this.live.tables));
  readonly sensors: ReadonlyMap<string, Sensor> = $derived(sensorsOf(this.plans));
  /** The highest floor first. */
  readonly levels: readonly Level[] = $derived(
    [...(this.building?.levels ?? [])].sort((a, b) => b.ordinal - a.ordinal),
  );
  /** What each room is called where many stand in a row. */
  readonly titles: ReadonlyMap<string, string> = $derived(titlesOf(this.plans, this.levels));
  /** All that has a name, by it. */
  readonly finder: Finder = $derived.by(() => new Finder(this.building, this.plans));
  readonly roomsByLevel: ReadonlyMap<string, readonly Room[]> = $derived.by(() =>
    grouped(this.world.rooms.values(), (room) => room.levelId),
  );

  /** Load the building, then the floor in view, then the others. */
  async load(inView: () => string): Promise<void> {
    const kept: number[] = [];
    const get = async <T>(path: string): Promise<T> => {
      const { value, keptAtMs } = await getOrKept<T>(path);
      if (keptAtMs !== null) kept.push(keptAtMs);
      return value;
    };
    try {
      const building = await get<Building>('building/');
      this.building = building;
      const first = inView();
      this.plans = [await get<Plan>(`levels/${first}/plan/`)];
      const others = building.levels.filter((level) => level.id !== first);
      const plans = await Promise.all(others.map((level) => get<Plan>(`levels/${level.id}/plan/`)));
      this.plans = [...this.plans, ...plans];
      this.problem = null;
      this.keptAtMs = kept.length > 0 ? Math.min(...kept) : null;
      if (kept.length > 0) setTimeout(() => void this.load(inView), AGAIN_MS);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      setTimeout(() => void this.load(inView), AGAIN_MS);
    }
  }
}
