import { locale, t } from '../language';

/** Moments of alarms in words: the time, with the day where it is another one than today. */
export function moment(atS: number, nowS: number): string {
  const at = new Date(atS * 1000);
  const time = at.toLocaleTimeString(locale(), {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const today = at.toDateString() === new Date(nowS * 1000).toDateString();
  return today ? time : `${at.toLocaleDateString(locale(), { day: 'numeric', month: 'short' })}, ${time}`;
}

/** "45 s", "12 min", "3 h", "2 days": how long something lasted. */
export function span(lengthS: number): string {
  if (lengthS < 90) return `${Math.round(lengthS)} s`;
  if (lengthS < 5400) return `${Math.round(lengthS / 60)} min`;
  if (lengthS < 172_800) return `${Math.round(lengthS / 3600)} h`;
  return t('{count} days', { count: Math.round(lengthS / 86_400) });
}
