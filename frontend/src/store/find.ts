/** Finding things by name: rooms, machines, doors, software, destinations; misspelt, in two languages. */
import MiniSearch from 'minisearch';
import type { Building, Plan } from '../api/schema';
import { t } from '../language';
import { destinationName, freeMachineWith } from './goal';
import { floorTitle } from './words';
import { titleOf } from './world';

/** Something that is found. */
export interface Found {
  /** A goal to be led to, or what the address selects. */
  readonly key: string;
  readonly kind: 'goal' | 'machine' | 'room' | 'door';
  readonly title: string;
  readonly where: string;
}

/** What else people call rooms of a category. */
const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  elevator: 'lift elevator Aufzug Fahrstuhl',
  stairs: 'stairs staircase Treppe Treppenhaus',
  escalator: 'escalator Rolltreppe',
  ramp: 'ramp Rampe',
  walkway: 'corridor hallway passage Flur Gang Korridor',
  room: 'room Raum Zimmer',
};
const TOILET_WORDS = 'WC toilet restroom bathroom lavatory loo Toilette Klo';

/** Found at once, without typing: at most so many. */
const SHOWN = 40;

export class Finder {
  private readonly entries = new Map<string, Found>();
  private readonly index = new MiniSearch<Found & { id: string; words: string }>({
    fields: ['title', 'words', 'where'],
    searchOptions: {
      boost: { title: 3, words: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 3 && !/\d/.test(term) ? 0.25 : false),
      combineWith: 'AND',
    },
    tokenize: (text) => text.split(/[\s,()/]+/u).filter((one) => one !== ''),
  });

  constructor(building: Building | null, plans: readonly Plan[]) {
    if (building === null) return;
    for (const one of building.destinations) {
      this.add(
        { key: one.slug, kind: 'goal', title: destinationName(one), where: t('nearest') },
        `${one.slug} ${one.name} ${one.name_de} ${one.words}`,
      );
    }
    for (const name of building.software) {
      const title = t('Free machine with {software}', { software: name });
      this.add(
        { key: freeMachineWith(name), kind: 'goal', title, where: t('nearest') },
        'free machine computer PC seat software program Rechner Programm Platz freier',
      );
    }
    for (const plan of plans) {
      const level = building.levels.find(({ id }) => id === plan.level_id);
      const floor = floorTitle(level?.name ?? plan.level_id);
      const rooms = new Map(plan.units.map((unit) => [unit.id, titleOf({ ...unit, rid: unit.id })]));
      for (const unit of plan.units) {
        const words = unit.category.startsWith('restroom')
          ? TOILET_WORDS
          : (CATEGORY_WORDS[unit.category] ?? '');
        const found = { key: `room:${unit.id}`, kind: 'room', title: rooms.get(unit.id) ?? unit.id } as const;
        this.add({ ...found, where: floor }, `${words} ${unit.id}`);
      }
      for (const { mid, host, rid, software } of plan.machines) {
        const where = `${rooms.get(rid) ?? rid}, ${floor}`;
        const words = `machine computer Rechner ${mid} ${software.join(' ')}`;
        this.add({ key: `machine:${mid}`, kind: 'machine', title: host, where }, words);
      }
      for (const { id } of plan.doors) {
        this.add(
          { key: `door:${id}`, kind: 'door', title: t('Door {id}', { id }), where: floor },
          'door Tür',
        );
      }
    }
  }

  /** What is meant by a text, the best first; without one, what one may be led to. */
  find(text: string): Found[] {
    if (text.trim() === '') return [...this.entries.values()].filter((one) => one.kind === 'goal');
    return this.index
      .search(text.trim())
      .slice(0, SHOWN)
      .flatMap(({ id }) => this.entries.get(String(id)) ?? []);
  }

  /** The keys of all that is meant by a text; null without one. */
  keys(text: string): ReadonlySet<string> | null {
    if (text.trim() === '') return null;
    return new Set(this.index.search(text.trim()).map(({ id }) => String(id)));
  }

  private add(found: Found, words: string): void {
    if (this.entries.has(found.key)) return;
    this.entries.set(found.key, found);
    this.index.add({ ...found, id: found.key, words });
  }
}
