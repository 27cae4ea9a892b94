/** What an answer rests on, in plain words: one sentence for each base row the engine named. */
import type { Fact, Reasons } from '../api/schema';
import { decimal, t, word } from '../language';
import type { Cell } from '../wire/protocol';
import { age, doorState } from './words';
import { titleOf, type World } from './world';

export interface Sentence {
  readonly text: string;
  /** What the loss of it alone would mean; empty where that goes without saying. */
  readonly mark: string;
  /** The door it speaks of. */
  readonly doorId?: string;
}

export interface Wording {
  readonly heading: string;
  readonly sentences: readonly Sentence[];
}

type Seen = Pick<World, 'machines' | 'rooms'>;

/** The order in which a person would say it; unknown relations come last. */
const ORDER = [
  'seat_reading',
  'cpu_reading',
  'machine_software',
  'machine',
  'door',
  'route_request',
  'route_target',
  'route_rule',
];

/** What of an answer's reasons is put in words. */
type Rested = Pick<Reasons, 'sets' | 'complete' | 'at_s'>;

/** The smallest set of reasons in sentences, and how many others there are. */
export function inWords(reasons: Rested, seen: Seen): Wording {
  const facts = [...(reasons.sets[0] ?? [])].sort((a, b) => place(a) - place(b));
  const sentences = facts.map((fact) => ({
    text: sentence(fact, seen, reasons.at_s),
    mark: mark(fact, reasons),
    ...(fact.relation === 'door' && !fact.hidden ? { doorId: text(fact.row.door_id) } : {}),
  }));
  for (const rid of new Set(facts.map((fact) => roomOf(fact, seen)))) {
    const room = rid === null ? undefined : seen.rooms.get(rid);
    // That nothing closes a room is no row, so the engine cannot name it.
    if (room?.state === 'open')
      sentences.push({ text: t('{room} is open', { room: titleOf(room) }), mark: '' });
  }
  if (sentences.length === 0) {
    return { heading: t('This rests only on what cannot change.'), sentences };
  }
  return { heading: heading(reasons), sentences };
}

function heading(reasons: Rested): string {
  if (!reasons.complete) return t('One of many ways to see it:');
  if (reasons.sets.length > 1) return t('One of {count} ways to see it:', { count: reasons.sets.length });
  return t('As long as all of this is so:');
}

function place(fact: Fact): number {
  const at = ORDER.indexOf(fact.relation);
  return at < 0 ? ORDER.length : at;
}

function mark(fact: Fact, reasons: Rested): string {
  if (!fact.necessary) return '';
  if (fact.relation === 'door') return t('without this door there is no such way');
  return reasons.sets.length > 1 || !reasons.complete ? t('part of every way') : '';
}

function roomOf(fact: Fact, seen: Seen): string | null {
  if (fact.relation !== 'machine') return null;
  return seen.machines.get(text(fact.row.mid))?.rid ?? text(fact.row.rid);
}

function sentence(fact: Fact, seen: Seen, nowS: number): string {
  if (fact.hidden)
    return fact.relation === 'route_request'
      ? t('Another visitor asked for the same')
      : t('Something about a person, which is not told');
  const { row } = fact;
  const host = seen.machines.get(text(row.mid))?.host ?? text(row.mid);
  const when = typeof row.at_s === 'number' ? ` (${age(row.at_s, nowS)})` : '';
  switch (fact.relation) {
    case 'seat_reading':
      return `${t('Seat at {host} reads {weight} kg', { host, weight: rounded(row.weight_kg, 1) })}${when}`;
    case 'cpu_reading':
      return `${t('Processor of {host} at {load} %', { host, load: rounded(row.cpu_pct, 0) })}${when}`;
    case 'machine_software':
      return t('{software} is installed', { software: text(row.software) });
    case 'machine': {
      const room = seen.rooms.get(text(row.rid));
      return t('{host} stands in {room}', {
        host: text(row.host),
        room: room ? titleOf(room) : text(row.rid),
      });
    }
    case 'door':
      return t('Door {id} is {state}', { id: text(row.door_id), state: doorState({ state: row.state }) });
    case 'route_request': {
      const goal = goalOf(text(row.goal), seen);
      return row.step_free === true
        ? t('You asked for {goal}, step-free', { goal })
        : t('You asked for {goal}', { goal });
    }
    case 'route_target':
      return t('You are on your way there');
    case 'route_rule':
      return t('Nothing else is nearer by more than {share} % or {length} m', {
        share: text(row.gain_pct),
        length: rounded(Number(row.gain_mm) / 1000, 0),
      });
    default:
      return `${fact.relation}(${Object.values(row).map(text).join(', ')})`;
  }
}

/** "a machine with LaTeX", "Room V101", "exit". */
function goalOf(goal: string, seen: Seen): string {
  const [kind, ...rest] = goal.split(':');
  const name = rest.join(':');
  if (kind === 'free-machine') return t('a machine with {software}', { software: name });
  const room = seen.rooms.get(name);
  return seen.machines.get(name)?.host ?? (room ? titleOf(room) : name || word(goal));
}

function text(value: Cell | undefined): string {
  return value === null || value === undefined ? t('none') : String(value);
}

function rounded(value: Cell | undefined, digits: number): string {
  return typeof value === 'number' ? decimal(value, digits) : text(value);
}
