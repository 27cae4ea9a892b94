/** What a supposition would do to the visitor's answer, in one sentence. */
import type { Difference } from '../api/schema';
import { t } from '../language';
import { metres } from './path';
import type { Fields } from './table';
import { titleOf, type World } from './world';

export type Supposition = 'locked' | 'open';

/** The statement that stands for a door in another state; it is only ever supposed. */
export function doorStatement(doorId: string, state: Supposition): string {
  return `UPDATE door SET state = '${state}' WHERE door_id = '${doorId.replaceAll("'", "''")}'`;
}

/** Tell how the answer would change. `now`: the row as it stands. */
export function tellDifference(
  difference: Pick<Difference, 'gone' | 'come'>,
  now: Fields | null,
  seen: Pick<World, 'machines' | 'rooms'>,
): string {
  const [next] = difference.come;
  if (next === undefined) {
    if (difference.gone.length > 0) return t('Then nothing that answers could be reached.');
    return now === null ? t('There would still be no way.') : t('The way would stay as it is.');
  }
  const cost = Number(next.cost_mm);
  const machine = seen.machines.get(String(next.mid));
  const room = seen.rooms.get(String(next.rid));
  const name = machine?.host ?? (room ? titleOf(room) : String(next.target));
  const where = machine && room ? t('{name} in {room}', { name, room: titleOf(room) }) : name;
  if (now === null)
    return t('Then the way would lead to {where}, {length}.', { where, length: metres(cost) });
  const walk = { length: metres(cost), change: extra(cost - Number(now.cost_mm)) };
  return next.target === now.target
    ? t('Still {name}: {length} to walk, {change}.', { name, ...walk })
    : t('Then {where}: {length} to walk, {change}.', { where, ...walk });
}

function extra(lengthMm: number): string {
  if (Math.abs(lengthMm) < 500) return t('as far as now');
  const length = metres(Math.abs(lengthMm));
  return lengthMm > 0 ? t('{length} more', { length }) : t('{length} less', { length });
}
