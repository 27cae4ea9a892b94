/** What is missing for an answer, in plain words: one list of sentences for each way to have it. */
import type { Edit, Missing, Repair } from '../api/schema';
import type { Cell } from '../wire/protocol';
import { titleOf, type World } from './world';

export interface Ways {
  readonly heading: string;
  readonly ways: readonly (readonly string[])[];
}

type Seen = Pick<World, 'machines' | 'rooms'>;

/** Ways shown at most: nobody reads more. */
const SHOWN = 4;

export function tellMissing(missing: Pick<Missing, 'repairs' | 'complete'>, seen: Seen): Ways {
  const ways = missing.repairs.slice(0, SHOWN).map((repair) => sentences(repair, seen));
  if (ways.length === 0) {
    return {
      heading: missing.complete
        ? 'Nothing that can change would make it free.'
        : 'No way was found to make it free.',
      ways,
    };
  }
  return {
    heading:
      ways.length === 1 ? 'It would be free, if only' : 'It would be free, if any one of these were so:',
    ways,
  };
}

function sentences(repair: Repair, seen: Seen): string[] {
  return repair.edits.map((edit) => sentence(edit, repair.conditions, seen));
}

function sentence(edit: Edit, conditions: readonly string[], seen: Seen): string {
  if (edit.hidden) return 'another visitor asked for something else';
  const row = edit.after ?? edit.before ?? {};
  const host = seen.machines.get(text(row.mid))?.host ?? text(row.mid);
  switch (edit.relation) {
    case 'seat_reading':
      if (edit.action === 'insert')
        return `the seat at ${host} read ${bound(row.weight_kg, conditions, 'kg')}`;
      break;
    case 'cpu_reading':
      if (edit.action === 'insert')
        return `the processor of ${host} were at ${bound(row.cpu_pct, conditions, '%')}`;
      break;
    case 'reservation':
      if (edit.action === 'delete') return `${room(row.rid, seen)} were not reserved (${text(row.title)})`;
      break;
    case 'light_reading':
      if (edit.action === 'delete') return `${room(row.rid, seen)} were not dark: ${text(row.lux)} lx`;
      break;
    case 'door':
      if (edit.action === 'change') return `door ${text(row.door_id)} were ${text(row.state)}`;
      break;
  }
  const values = `${edit.relation}(${Object.values(row).map(text).join(', ')})`;
  if (edit.action === 'insert') return `there were ${values}`;
  return edit.action === 'delete' ? `there were no ${values}` : `it were so: ${values}`;
}

const WORDS: Readonly<Record<string, string>> = {
  '<': 'less than',
  '<=': 'at most',
  '>': 'more than',
  '>=': 'at least',
};

/** "less than 5 kg" where a condition says so. */
function bound(value: unknown, conditions: readonly string[], unit: string): string {
  const name = open(value);
  if (name === null) return `${text(value)} ${unit}`;
  for (const condition of conditions) {
    const [left, sign = '', limit = '', ...rest] = condition.split(' ');
    if (left === name && rest.length === 0 && sign in WORDS) return `${WORDS[sign]} ${Number(limit)} ${unit}`;
  }
  return 'anything at all';
}

function room(rid: unknown, seen: Seen): string {
  const found = seen.rooms.get(text(rid));
  return found ? titleOf(found) : text(rid);
}

function open(value: unknown): string | null {
  return typeof value === 'object' && value !== null && 'open' in value ? String(value.open) : null;
}

function text(value: unknown): string {
  return open(value) === null ? String((value as Cell) ?? 'none') : 'any';
}
