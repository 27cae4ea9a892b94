/** Why a visitor is led otherwise than before: the engine's reasons, in words. */
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
  switch (row.cause) {
    case 'door locked':
      return `Door ${subject} was locked.`;
    case 'door opened':
      return `Door ${subject} was opened.`;
    case 'in use':
      return `${named(subject, seen)} was taken (${machineState({ state: 'in-use', reason: detail })}).`;
    case 'closed':
      return seen.machines.has(subject)
        ? `${named(subject, seen)}: ${machineState({ state: 'closed', reason: detail })}.`
        : `${named(subject, seen)} is ${roomState({ state: 'closed', reason: detail })}.`;
    case 'no data':
      return `There is no data of ${named(subject, seen)} any more.`;
    case 'nearer':
      return '';
    case null:
    case undefined:
      return '';
    default:
      return `${named(subject, seen)} is no longer offered.`;
  }
}

function consequence(row: Fields, seen: Seen): string {
  const was = number(row.was_cost_mm) ?? 0;
  const cost = number(row.cost_mm);
  if (cost === null || typeof row.target !== 'string') return 'Nothing else can be reached now.';
  if (row.target === row.was) {
    return `The way to ${named(row.target, seen)} is now ${difference(cost - was, 'longer', 'shorter')}.`;
  }
  return `Now ${named(row.target, seen)}, ${difference(cost - was, 'farther', 'nearer')}.`;
}

function difference(lengthMm: number, more: string, less: string): string {
  if (Math.abs(lengthMm) < 500) return 'as far as before';
  return `${metres(Math.abs(lengthMm))} ${lengthMm > 0 ? more : less}`;
}

function named(id: string, seen: Seen): string {
  const room = seen.rooms.get(id);
  return seen.machines.get(id)?.host ?? (room ? titleOf(room) : id);
}
