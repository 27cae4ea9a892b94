/** What is missing for an answer, in plain words: one list of sentences for each way to have it. */
import type { Edit, Missing, Repair } from '../api/schema';
import { decimal, t } from '../language';
import type { Cell } from '../wire/protocol';
import { preferred } from './units.svelte';
import { doorState } from './words';
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
        ? t('Nothing that can change would make it free.')
        : t('No way was found to make it free.'),
      ways,
    };
  }
  return {
    heading:
      ways.length === 1
        ? t('It would be free, if only')
        : t('It would be free, if any one of these were so:'),
    ways,
  };
}

function sentences(repair: Repair, seen: Seen): string[] {
  return repair.edits.map((edit) => sentence(edit, repair.conditions, seen));
}

function sentence(edit: Edit, conditions: readonly string[], seen: Seen): string {
  if (edit.hidden) return t('another visitor asked for something else');
  const row = edit.after ?? edit.before ?? {};
  const host = seen.machines.get(text(row.mid))?.host ?? text(row.mid);
  switch (edit.relation) {
    case 'seat_reading':
      if (edit.action === 'insert')
        return t('the seat at {host} read {bound}', { host, bound: bound(row.weight_kg, conditions, 'kg') });
      break;
    case 'cpu_reading':
      if (edit.action === 'insert')
        return t('the processor of {host} were at {bound}', {
          host,
          bound: bound(row.cpu_pct, conditions, '%'),
        });
      break;
    case 'reservation':
      if (edit.action === 'delete')
        return t('{room} were not reserved ({title})', { room: room(row.rid, seen), title: text(row.title) });
      break;
    case 'light_reading':
      if (edit.action === 'delete')
        return t('{room} were not dark: {lux} lx', { room: room(row.rid, seen), lux: text(row.lux) });
      break;
    case 'door':
      if (edit.action === 'change')
        return t('door {id} were {state}', { id: text(row.door_id), state: doorState({ state: row.state }) });
      break;
  }
  const values = `${edit.relation}(${Object.values(row).map(text).join(', ')})`;
  if (edit.action === 'insert') return t('there were {values}', { values });
  return edit.action === 'delete'
    ? t('there were no {values}', { values })
    : t('it were so: {values}', { values });
}

function compared(sign: string, value: string): string | null {
  switch (sign) {
    case '<':
      return t('less than {value}', { value });
    case '<=':
      return t('at most {value}', { value });
    case '>':
      return t('more than {value}', { value });
    case '>=':
      return t('at least {value}', { value });
    default:
      return null;
  }
}

/** "less than 5 kg" where a condition says so. */
function bound(value: unknown, conditions: readonly string[], unit: string): string {
  const name = open(value);
  if (name === null) return `${text(value)} ${unit}`;
  for (const condition of conditions) {
    const [left, sign = '', limit = '', ...rest] = condition.split(' ');
    if (left !== name || rest.length > 0) continue;
    const [bounding, as] = preferred(Number(limit), unit);
    const said = compared(sign, `${decimal(bounding)} ${as}`);
    if (said !== null) return said;
  }
  return t('anything at all');
}

function room(rid: unknown, seen: Seen): string {
  const found = seen.rooms.get(text(rid));
  return found ? titleOf(found) : text(rid);
}

function open(value: unknown): string | null {
  return typeof value === 'object' && value !== null && 'open' in value ? String(value.open) : null;
}

function text(value: unknown): string {
  return open(value) === null ? String((value as Cell) ?? t('none')) : t('any');
}
