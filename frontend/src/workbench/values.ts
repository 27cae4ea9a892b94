/** Values of a result as people read them: moments in the reader's zone, durations, amounts. */
import { locale } from '../language';
import type { Cell, ViewColumn } from '../wire/protocol';

/** Seconds from here on are a moment, not a duration: the ninth of September 2001. */
const MOMENT_FROM_S = 1_000_000_000;

const SECONDS: Readonly<Record<string, number>> = { s: 1, ms: 0.001, min: 60, h: 3600 };

/** Formats are dear to make, and a table needs them thousands of times a second. */
class Formats<F> extends Map<string, F> {
  constructor(private readonly make: (locale: string) => F) {
    super();
  }

  own(): F {
    const key = locale();
    let found = this.get(key);
    if (found === undefined) this.set(key, (found = this.make(key)));
    return found;
  }
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const figures = new Formats((name) => new Intl.NumberFormat(name, { maximumFractionDigits: 3 }));
const ungrouped = new Formats(
  (name) => new Intl.NumberFormat(name, { maximumFractionDigits: 3, useGrouping: false }),
);
const seconds = new Formats((name) => new Intl.DateTimeFormat(name, { ...CLOCK, second: '2-digit' }));
const minutes = new Formats((name) => new Intl.DateTimeFormat(name, CLOCK));
const days = new Formats((name) => new Intl.DateTimeFormat(name, { day: 'numeric', month: 'short' }));
const dates = new Formats(
  (name) => new Intl.DateTimeFormat(name, { day: 'numeric', month: 'short', year: 'numeric' }),
);

/** Whether a column holds numbers. */
export function isNumber(column: Pick<ViewColumn, 'type'>): boolean {
  return /^(INT|FLOAT|DOUBLE|DECIMAL)(?!.*\[\])/i.test(column.type);
}

/** Give what a decimal, which rows hold as text with all its digits, sorts and draws as; others as they are. */
export function asNumber(
  value: Cell | undefined,
  column: Pick<ViewColumn, 'type'> | undefined,
): Cell | undefined {
  return typeof value === 'string' && column?.type.startsWith('DECIMAL') ? Number(value) : value;
}

/** Whether a value is a moment: seconds of a column that counts them, since 1970. */
export function isMoment(value: Cell | undefined, column: Pick<ViewColumn, 'unit'>): boolean {
  return column.unit === 's' && typeof value === 'number' && value >= MOMENT_FROM_S;
}

/** The unit that a column's heading names; values that carry their own name none there. */
export function headingUnit(column: ViewColumn): string {
  return column.unit in SECONDS ? '' : column.unit;
}

/** The reader's zone: "CET, UTC+1". */
export function zoneName(atS: number): string {
  const at = new Date(atS * 1000);
  const name = (style: 'short' | 'shortOffset'): string =>
    new Intl.DateTimeFormat(locale(), { timeZoneName: style })
      .formatToParts(at)
      .find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [short, offset] = [name('short'), name('shortOffset').replace('GMT', 'UTC')];
  if (short === 'UTC') return short;
  return short.startsWith('GMT') && short !== 'GMT' ? offset : `${short}, ${offset}`;
}

/** "14:05:09", with the day before it where that is another than today. */
export function momentText(atS: number, nowS: number): string {
  const at = new Date(atS * 1000);
  const time = seconds.own().format(at);
  if (at.toDateString() === new Date(nowS * 1000).toDateString()) return time;
  const sameYear = at.getFullYear() === new Date(nowS * 1000).getFullYear();
  return `${(sameYear ? days : dates).own().format(at)}, ${time}`;
}

/** "14:05", or "14:05:30" within a minute. */
export function timeText(atS: number): string {
  return (atS % 60 === 0 ? minutes : seconds).own().format(new Date(atS * 1000));
}

/** "250 ms", "4.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h": as exact as it is worth reading. */
export function durationText(lengthS: number): string {
  const size = Math.abs(lengthS);
  const sign = lengthS < 0 ? '−' : '';
  if (size === 0) return '0 s';
  if (size < 1) return `${sign}${figures.own().format(size * 1000)} ms`;
  if (size < 60) return `${sign}${figures.own().format(Math.round(size * 10) / 10)} s`;
  const whole = Math.round(size);
  const parts: readonly (readonly [number, string, number, string])[] = [
    [86_400, 'd', 3600, 'h'],
    [3600, 'h', 60, 'min'],
    [60, 'min', 1, 's'],
  ];
  for (const [large, name, small, rest] of parts) {
    if (whole < large) continue;
    const left = Math.floor((whole % large) / small);
    return `${sign}${Math.floor(whole / large)} ${name}${left > 0 ? ` ${left} ${rest}` : ''}`;
  }
  return `${sign}${whole} s`;
}

/** A value as the table shows it. */
export function cellText(value: Cell | undefined, column: ViewColumn, nowS: number): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'object') return `[${value.map((one) => cellText(one, column, nowS)).join(', ')}]`;
  if (typeof value !== 'number') return String(value);
  if (isMoment(value, column)) return momentText(value, nowS);
  const unitS = SECONDS[column.unit];
  if (unitS !== undefined) return durationText(value * unitS);
  // Whole numbers without a unit may be names of things, which nobody parts into thousands.
  return (column.unit === '' && Number.isInteger(value) ? ungrouped : figures).own().format(value);
}

/** A value as the service gave it, with its unit; a moment in UTC. Empty where the table says as much. */
export function exactText(value: Cell | undefined, column: ViewColumn): string {
  if (typeof value !== 'number') return '';
  if (isMoment(value, column)) return `${new Date(value * 1000).toISOString()} (${value} s)`;
  const own = column.unit in SECONDS || !Number.isInteger(value);
  return own ? `${value}${column.unit === '' ? '' : ` ${column.unit}`}` : '';
}
