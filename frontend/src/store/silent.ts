/** Sources outside the house of which there is no data: named, so that nothing is silently old. */
import { locale, t } from '../language';
import { number, records, type Table } from './table';
import { titleOf, type World } from './world';

export interface Silent {
  readonly id: string;
  /** The source, and the room or machine it speaks for. */
  readonly title: string;
  readonly name: string;
  /** The room it speaks for, empty for none. */
  readonly rid: string;
  /** The machine it speaks for, empty for none. */
  readonly mid: string;
  readonly sinceS: number;
  readonly reason: string;
}

/** The silent sources, longest silent first. */
export function silent(table: Table, world: Pick<World, 'rooms' | 'machines'>): Silent[] {
  return records(table)
    .map((record) => {
      const name = String(record.name ?? '') || String(record.source);
      const mid = String(record.mid ?? '');
      const rid = String(record.rid ?? '');
      const machine = world.machines.get(mid);
      const room = world.rooms.get(rid);
      const place = machine ? machine.host : room ? titleOf(room) : '';
      return {
        id: String(record.source),
        title: place === '' ? name : `${name} (${place})`,
        name,
        rid,
        mid,
        sinceS: number(record.since_s) ?? 0,
        reason: String(record.reason ?? ''),
      };
    })
    .sort((a, b) => a.sinceS - b.sinceS || a.id.localeCompare(b.id));
}

const DAY_S = 86_400;

/** "no data since 09:12", with the day where it is another one. */
export function noDataSince(sinceS: number, nowS: number): string {
  if (sinceS <= 0) return t('no data');
  const at = new Date(sinceS * 1000);
  const clock = at.toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });
  if (nowS - sinceS < DAY_S) return t('no data since {time}', { time: clock });
  const day = at.toLocaleDateString(locale(), { day: 'numeric', month: 'short' });
  return t('no data since {time}', { time: `${day}, ${clock}` });
}
