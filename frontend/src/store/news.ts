/** Why a visitor is led otherwise than before: the engine's reasons, in words. */
import { t } from '../language';
import { metres } from './path';
import { number, type Fields } from './table';
import { machineState, roomState } from './words';
import { titleOf, type World } from './world';

type Seen = Pick<World, 'machines' | 'rooms'>;

/** Rows of `route_news` that answer one question as one text; empty without any. */
export function newsOf(rows: readonly Fields[], seen: Seen): string {
  const [first] = rows;
  if (first === undefined) return '';
  const reasons = new Set(rows.map((row) => reason(row, seen)).filter((one) => one !== ''));
  return [...[...reasons].sort(), consequence(first, seen)].join(' ');
}

function reason(row: Fields, seen: Seen): string {
  const subject = String(row.subject ?? '');
  const detail = String(row.detail ?? '');
  const name = named(subject, seen);
  switch (row.cause) {
    case 'door locked':
      return t('Door {id} was locked.', { id: subject });
    case 'door opened':
      return t('Door {id} was opened.', { id: subject });
    case 'in use':
      return t('{name} was taken ({state}).', {
        name,
        state: machineState({ state: 'in-use', reason: detail }),
      });
    case 'closed':
      return seen.machines.has(subject)
        ? `${name}: ${machineState({ state: 'closed', reason: detail })}.`
        : t('{name} is {state}.', { name, state: roomState({ state: 'closed', reason: detail }) });
    case 'no data':
      return t('There is no data of {name} any more.', { name });
    case 'nearer':
      return '';
    case null:
    case undefined:
      return '';
    default:
      return t('{name} is no longer offered.', { name });
  }
}

function consequence(row: Fields, seen: Seen): string {
  const was = number(row.was_cost_mm) ?? 0;
  const cost = number(row.cost_mm);
  if (cost === null || typeof row.target !== 'string') return t('Nothing else can be reached now.');
  if (row.target === row.was) {
    return lengthened(named(row.target, seen), cost - was);
  }
  return moved(named(row.target, seen), cost - was);
}

/** Changes of a way that nobody would notice, mm. */
const UNNOTICED_MM = 500;

function lengthened(name: string, lengthMm: number): string {
  const length = metres(Math.abs(lengthMm));
  if (Math.abs(lengthMm) < UNNOTICED_MM) return t('The way to {name} is now as far as before.', { name });
  return lengthMm > 0
    ? t('The way to {name} is now {length} longer.', { name, length })
    : t('The way to {name} is now {length} shorter.', { name, length });
}

function moved(name: string, lengthMm: number): string {
  const length = metres(Math.abs(lengthMm));
  if (Math.abs(lengthMm) < UNNOTICED_MM) return t('Now {name}, as far as before.', { name });
  return lengthMm > 0
    ? t('Now {name}, {length} farther.', { name, length })
    : t('Now {name}, {length} nearer.', { name, length });
}

function named(id: string, seen: Seen): string {
  const room = seen.rooms.get(id);
  return seen.machines.get(id)?.host ?? (room ? titleOf(room) : id);
}
