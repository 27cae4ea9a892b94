/** What a room is booked for, in sentences: rows of `room_booking`. */
import { t } from '../language';
import { number, records, type Table } from './table';
import { clockTime } from './words';

export interface Bookings {
  readonly now: string;
  readonly next: string;
  /** Until when nobody has booked it; empty while somebody has. */
  readonly free: string;
}

/** Tell of a room; null while nothing is known yet. */
export function bookings(table: Table, rid: string, nowS: number): Bookings | null {
  if (!table.known) return null;
  const mine = records(table)
    .filter((record) => record.rid === rid)
    .map((record) => ({
      moment: String(record.moment),
      title: String(record.title),
      startS: number(record.start_s) ?? 0,
      endS: number(record.end_s) ?? 0,
    }))
    .sort((one, other) => one.startS - other.startS || one.title.localeCompare(other.title));
  const now = mine.filter(({ moment }) => moment === 'now');
  const [next] = mine.filter(({ moment }) => moment === 'next');
  const until = Math.max(...now.map(({ endS }) => endS));
  return {
    now:
      now.length === 0
        ? t('nothing')
        : t('{titles}, until {time}', {
            titles: now.map(({ title }) => title).join(', '),
            time: clockTime(until, nowS),
          }),
    next: next
      ? t('{title}, {start} to {end}', {
          title: next.title,
          start: clockTime(next.startS, nowS),
          end: clockTime(next.endS, nowS, true),
        })
      : t('nothing'),
    free:
      now.length > 0
        ? ''
        : next
          ? t('until {time}', { time: clockTime(next.startS, nowS, true) })
          : t('no booking follows'),
  };
}
