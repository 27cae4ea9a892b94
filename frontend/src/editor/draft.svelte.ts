/** The editor's store: the plan in the making, its history, and what is selected. */
import { t } from '../language';
import { get, del, set } from 'idb-keyval';
import { http, Problem } from '../api/http';
import type { Import } from '../api/schema';
import {
  drawn,
  fileOf,
  joined,
  levelsOf,
  nameOf,
  recategorised,
  renamed,
  reshaped,
  sortOf,
  title,
  without,
  type Feature,
  type Floor,
  type Geometry,
  type Plan,
} from './drawing';
import type { Picture } from './picture';
import { Plane, type Position } from './plane';
import { sizeAround, united } from './union';

const KEY = 'smartcis-plan-draft';
/** The floor with most rooms, of equally full ones the one nearest the ground. */
function fullest(plan: Plan | null): number {
  const rooms = (ordinal: number): number =>
    plan?.features.filter((one) => sortOf(one) === 'space' && levelsOf(one).includes(ordinal)).length ?? 0;
  const floors = (plan?.levels ?? [])
    .map(({ ordinal }) => ({ ordinal, rooms: rooms(ordinal) }))
    .sort((a, b) => b.rooms - a.rooms || Math.abs(a.ordinal) - Math.abs(b.ordinal));
  return floors[0]?.ordinal ?? 0;
}

const first = (): Floor => ({ ordinal: 0, name: t('Ground floor') });

/** What outlives a reload of the page. */
interface Kept {
  readonly base: string;
  readonly plan: Plan;
  /** The floor that was drawn on last. */
  readonly level?: number;
  readonly pictures: readonly Picture[];
  /** The import it was sent as; the draft is done with when that is accepted. */
  readonly sent?: number;
}

/** What a click on the plan does. */
export type Tool = 'select' | 'room' | 'door' | 'entrance' | 'riser' | 'path' | 'place';

export class Draft {
  plan = $state.raw<Plan | null>(null);
  pictures = $state.raw<readonly Picture[]>([]);
  level = $state(0);
  chosen = $state.raw<readonly string[]>([]);
  tool = $state<Tool>('select');
  /** Of the next room, and of the next way between floors. */
  category = $state('room');
  leadsTo = $state(1);
  /** Where something is to be put, in metres. */
  spot = $state.raw<Position | null>(null);
  said = $state('');
  problem = $state.raw<Problem | null>(null);
  saving = $state(false);
  /** Whether this goes on with what was drawn before the page was opened. */
  restored = $state(false);
  stale = $state(false);
  private past = $state.raw<readonly Plan[]>([]);
  private future = $state.raw<readonly Plan[]>([]);
  private base = '';

  readonly plane: Plane | null = $derived(this.plan === null ? null : new Plane(this.plan.origin));
  readonly floors: readonly Floor[] = $derived(
    [...(this.plan?.levels ?? [])].sort((a, b) => b.ordinal - a.ordinal),
  );
  readonly here: readonly Feature[] = $derived(
    (this.plan?.features ?? []).filter((one) => sortOf(one) !== null && levelsOf(one).includes(this.level)),
  );
  readonly selected: readonly Feature[] = $derived(this.here.filter((one) => this.chosen.includes(one.id)));
  readonly canUndo = $derived(this.past.length > 0);
  readonly canRedo = $derived(this.future.length > 0);
  readonly changed = $derived(this.past.length > 0 || this.restored);

  /** What the product calls the floor in view. */
  readonly levelId = $derived(`L${this.level}`);

  /** The smallest room of the building that is there around a point, in metres. */
  roomAt(at: Position): Feature | null {
    const { plane } = this;
    if (plane === null) return null;
    const around = this.here
      .filter((one) => one.properties.smartcis?.is === 'unit')
      .map((one) => ({ one, size: sizeAround(one.geometry, plane.degrees(at)) }))
      .filter(({ size }) => size > 0);
    return around.sort((a, b) => a.size - b.size)[0]?.one ?? null;
  }

  /** Load the building that is there, and go on with a draft of it. */
  async load(level = NaN): Promise<void> {
    let there: Plan | null = null;
    try {
      there = await http.get<Plan>('building/export/?format=geojson', { Accept: '*/*' });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status !== 404) {
        this.problem = error;
        return;
      }
    }
    this.base = there === null ? '' : fileOf(there);
    let kept = await get<Kept>(KEY).catch(() => undefined);
    if (kept?.sent !== undefined && (await taken(kept.sent))) {
      await del(KEY);
      kept = undefined;
    }
    if (kept !== undefined) {
      this.restored = true;
      this.stale = kept.base !== this.base;
      this.pictures = kept.pictures;
    }
    this.open(kept?.plan ?? there, kept?.level ?? level);
  }

  private open(plan: Plan | null, level = NaN): void {
    this.plan = plan;
    this.past = this.future = [];
    this.chosen = [];
    this.level = plan?.levels.some(({ ordinal }) => ordinal === level) ? level : fullest(plan);
  }

  /** Begin a building where none is. */
  begin(name: string, origin: Position): void {
    const id =
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, '') || 'building';
    this.open({ id, name, attribution: '', origin, levels: [first()], features: [] });
    this.keep();
  }

  /** Forget what was drawn since the building was imported. */
  async discard(): Promise<void> {
    await del(KEY).catch(() => undefined);
    this.restored = this.stale = false;
    this.pictures = [];
    this.plan = null;
    await this.load(this.level);
  }

  private keep(sent?: number): void {
    if (this.plan === null) return;
    const kept = {
      base: this.base,
      plan: this.plan,
      level: this.level,
      pictures: this.pictures,
      ...(sent && { sent }),
    };
    set(KEY, kept satisfies Kept).catch(() => {
      this.said = t('This browser keeps nothing: the drawing is lost when the page is closed.');
    });
  }

  private change(features: readonly Feature[], said: string, levels = this.plan?.levels ?? []): void {
    if (this.plan === null) return;
    this.past = [...this.past, this.plan];
    this.future = [];
    this.plan = { ...this.plan, features, levels };
    this.said = said;
    this.keep();
  }

  private swap(feature: Feature, by: Feature, said: string): void {
    this.change(this.plan?.features.map((one) => (one.id === feature.id ? by : one)) ?? [], said);
  }

  undo(): void {
    const last = this.past.at(-1);
    if (last === undefined || this.plan === null) return;
    [this.past, this.future, this.plan] = [this.past.slice(0, -1), [this.plan, ...this.future], last];
    this.said = t('Undone');
    this.keep();
  }

  redo(): void {
    const [next, ...rest] = this.future;
    if (next === undefined || this.plan === null) return;
    [this.past, this.future, this.plan] = [[...this.past, this.plan], rest, next];
    this.said = t('Done again');
    this.keep();
  }

  add(kind: string, levels: readonly number[], geometry: Geometry): void {
    const made = drawn(kind, levels, geometry);
    this.change([...(this.plan?.features ?? []), made], t('Drawn: {what}', { what: title(made) }));
    this.chosen = [made.id];
  }

  reshape(feature: Feature, geometry: Geometry): void {
    this.swap(feature, reshaped(feature, geometry), t('Moved: {what}', { what: title(feature) }));
  }

  rename(feature: Feature, name: string): void {
    if (name !== nameOf(feature))
      this.swap(feature, renamed(feature, name), t('Renamed: {what}', { what: title(feature) }));
  }

  recategorise(feature: Feature, category: string): void {
    this.swap(feature, recategorised(feature, category), t('Changed: {what}', { what: title(feature) }));
  }

  remove(feature: Feature): void {
    this.change(without(this.plan?.features ?? [], feature), t('Removed: {what}', { what: title(feature) }));
    this.chosen = [];
  }

  /** Make one room of two. */
  join(one: Feature, other: Feature): void {
    if (this.plan === null || this.plane === null || one.geometry === null || other.geometry === null) return;
    const whole = united(one.geometry, other.geometry, this.plane);
    if (whole === null) {
      this.said = t('These two do not lie wall to wall: move a corner first.');
      return;
    }
    this.change(
      joined(this.plan.features, [one, other], whole),
      t('{part} is part of {whole} now', { part: title(other), whole: title(one) }),
    );
    this.chosen = [one.id];
  }

  addFloor(floor: Floor): void {
    if (this.plan === null || this.plan.levels.some(({ ordinal }) => ordinal === floor.ordinal)) return;
    this.change(this.plan.features, t('Added: {what}', { what: floor.name }), [...this.plan.levels, floor]);
    this.level = floor.ordinal;
  }

  setPicture(picture: Picture | null): void {
    const others = this.pictures.filter(({ level }) => level !== this.level);
    this.pictures = picture === null ? others : [...others, picture];
    this.keep();
  }

  /** Send the plan to be read; give where to look at what comes of it. */
  async save(): Promise<string | null> {
    if (this.plan === null) return null;
    this.saving = true;
    this.problem = null;
    try {
      const form = new FormData();
      form.append('file', new Blob([fileOf(this.plan)]), `${this.plan.id}-drawn.geojson`);
      const made = await http.upload<Import>('imports/', form);
      this.keep(made.id);
      return `/admin/smartcis/buildingimport/${made.id}/change/`;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      return null;
    } finally {
      this.saving = false;
    }
  }
}

/** Whether an import was accepted, be it undone since. */
async function taken(number: number): Promise<boolean> {
  try {
    return !['reading', 'ready', 'refused'].includes((await http.get<Import>(`imports/${number}/`)).state);
  } catch (error) {
    if (error instanceof Problem) return false; // removed: the drawing is still here
    throw error;
  }
}
