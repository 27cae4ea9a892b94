/** Tells of each alarm once in a tab: never again for a new value, a reload or a new connection. */
import { n } from '../language';
import { isQuiet, phrase, type Alarm } from './alarms';
import type { World } from './world';

const KEY = 'smartcis.alarms-told';
/** Ids remembered; an id is never used again, so the newest are enough. */
const REMEMBERED = 500;
/** Said one by one; of more, how many there are. */
const SAID = 3;

export class Herald {
  private readonly told: Set<number>;

  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.told = new Set(read(storage));
  }

  /** What is to be read out of the alarms that stand; empty when all of them are known. */
  news(standing: readonly Alarm[], world: World | null, nowS: number): string {
    const fresh = standing.filter(({ id }) => !this.told.has(id));
    if (fresh.length === 0) return '';
    for (const { id } of fresh) this.told.add(id);
    this.storage.setItem(KEY, JSON.stringify([...this.told].slice(-REMEMBERED)));
    const loud = fresh.filter((alarm) => !isQuiet(alarm, nowS));
    const said = loud.slice(0, SAID).map((alarm) => phrase(alarm, world));
    if (loud.length > SAID)
      said.push(n('And one more alarm.', 'And {count} more alarms.', loud.length - SAID));
    return said.join(' ');
  }
}

function read(storage: Pick<Storage, 'getItem'>): number[] {
  try {
    const known: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(known) ? known.filter((id) => typeof id === 'number') : [];
  } catch {
    return [];
  }
}
