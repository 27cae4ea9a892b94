/** Which chart rows have: numbers over time as lines, numbers by name as bars, or none. */
import type { Cell, ViewColumn, Row } from '../wire/protocol';
import { asNumber, isMoment, isNumber } from './values';

/** More lines than this cannot be told apart. */
export const LINES_AT_MOST = 8;
export const BARS_AT_MOST = 24;

export interface Point {
  readonly atS: number;
  readonly value: number;
}

export interface Line {
  readonly key: string;
  readonly points: readonly Point[];
}

export interface Bar {
  readonly key: string;
  readonly value: number;
}

interface Drawn {
  /** The column that is drawn, and the index of each that could be. */
  readonly value: ViewColumn;
  readonly at: number;
  readonly choices: readonly number[];
  /** What the names are of: "rid", "sid, place". */
  readonly by: string;
  /** How many lines or bars there would be, were all drawn. */
  readonly total: number;
}

export interface Lines extends Drawn {
  readonly form: 'lines';
  readonly lines: readonly Line[];
}

export interface Bars extends Drawn {
  readonly form: 'bars';
  readonly bars: readonly Bar[];
  /** Where the scale begins and ends. */
  readonly low: number;
  readonly high: number;
}

export type Chart = Lines | Bars;

/** Whole numbers without a unit that name something, and places, which the map shows. */
const NAMES = /(^|_)(id|node|src|dst|epoch|position|number|ordinal|level|floor|x|y|lon|lat)$|id$/i;
const PLACES = /^(x|y)_m$/;

/** Whether a column's numbers say how much, rather than which or where. */
function measures(column: ViewColumn): boolean {
  if (!isNumber(column) || PLACES.test(column.name)) return false;
  return column.unit !== '' || !/INT/i.test(column.type) || !NAMES.test(column.name);
}

const known = (value: Cell | undefined): boolean => value !== null && value !== undefined;

/**
 * Give the chart of rows, null where there is none.
 *
 * @param chosen the index of the column to draw, where there are several.
 * @param inOrder whether the rows stand in an order the query asks for; bars keep it.
 */
export function chartOf(
  columns: readonly ViewColumn[],
  given: readonly Row[],
  chosen: number | null,
  inOrder: boolean,
): Chart | null {
  const rows = given.map((row) => row.map((value, i) => asNumber(value, columns[i]) ?? null));
  const timed = columns.map((column, i) => rows.some((row) => isMoment(row[i], column)));
  const choices = columns
    .map((_, i) => i)
    .filter((i) => {
      const column = columns[i];
      return column !== undefined && !timed[i] && measures(column);
    })
    .sort((a, b) => rank(columns[a]) - rank(columns[b]) || a - b);
  const at = chosen !== null && choices.includes(chosen) ? chosen : choices[0];
  const value = at === undefined ? undefined : columns[at];
  if (at === undefined || value === undefined) return null;
  const names = namesOf(columns, timed, choices);
  const key = (row: Row): string => {
    const told = names.map((i) => String(row[i] ?? '')).filter((one) => one !== '');
    return [...new Set(told)].join(' · ') || '–';
  };
  const by = names.map((i) => columns[i]?.name ?? '').join(', ');
  const told = rows.filter((row) => typeof row[at] === 'number');
  const time = timed.indexOf(true);
  const drawn = { value, at, choices, by };
  if (time >= 0) {
    const lines = linesOf(told, time, at, key);
    if (lines.some(({ points }) => points.length > 1)) {
      const shown = [...lines].sort((a, b) => b.points.length - a.points.length).slice(0, LINES_AT_MOST);
      const order = new Intl.Collator(undefined, { numeric: true });
      shown.sort((a, b) => order.compare(a.key, b.key));
      return { form: 'lines', ...drawn, lines: shown, total: lines.length };
    }
  }
  if (names.length === 0 || told.length < 2) return null;
  const bars = told.map((row) => ({ key: key(row), value: Number(row[at]) }));
  if (!inOrder) bars.sort((a, b) => b.value - a.value);
  const shown = bars.slice(0, BARS_AT_MOST);
  return { form: 'bars', ...drawn, bars: shown, ...scaleOf(shown), total: bars.length };
}

/** From zero; but values that lie close together, far from it, are told apart on a scale of their own. */
function scaleOf(bars: readonly Bar[]): { low: number; high: number } {
  const values = bars.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const far = least > 0 ? least > most / 2 : most < 0 && most < least / 2;
  const marks = far && least !== most ? ticks(least, most, 4) : [Math.min(0, least), Math.max(0, most)];
  return { low: Math.min(...marks), high: Math.max(...marks) };
}

/** What has a unit says most, then what has a point. */
function rank(column: ViewColumn | undefined): number {
  if (column === undefined) return 3;
  return column.unit !== '' ? 0 : /INT/i.test(column.type) ? 2 : 1;
}

/** The columns that name a row: texts, else the first number that is no amount. */
function namesOf(
  columns: readonly ViewColumn[],
  timed: readonly boolean[],
  choices: readonly number[],
): number[] {
  const others = columns.map((_, i) => i).filter((i) => timed[i] !== true && !choices.includes(i));
  const texts = others.filter((i) => /TEXT|BOOL/i.test(columns[i]?.type ?? ''));
  return texts.length > 0 ? texts : others.slice(0, 1);
}

function linesOf(rows: readonly Row[], time: number, at: number, key: (row: Row) => string): Line[] {
  const found = new Map<string, Point[]>();
  for (const row of rows) {
    if (!known(row[time])) continue;
    const name = key(row);
    const points = found.get(name) ?? [];
    if (points.length === 0) found.set(name, points);
    points.push({ atS: Number(row[time]), value: Number(row[at]) });
  }
  return [...found].map(([name, points]) => ({
    key: name,
    points: points.sort((a, b) => a.atS - b.atS),
  }));
}

/** Round numbers from at most the least to at least the greatest, `count` or so of them. */
export function ticks(least: number, greatest: number, count: number): number[] {
  const span = greatest - least || Math.abs(greatest) || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const first = Math.floor(least / step) * step;
  const found = [];
  for (let at = first; at < greatest + step * (greatest === least ? 1.01 : 0.99); at += step) {
    found.push(Number(at.toPrecision(12)));
  }
  return found;
}

const TIME_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/** Whole moments of the clock between two, `count` or so of them. */
export function timeTicks(sinceS: number, untilS: number, count: number): number[] {
  const rough = (untilS - sinceS) / count;
  const step = TIME_STEPS_S.find((one) => one >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
  // Whole hours and days are those of the reader's zone.
  const shiftS = new Date(sinceS * 1000).getTimezoneOffset() * -60;
  const found = [];
  for (let at = Math.ceil((sinceS + shiftS) / step) * step - shiftS; at <= untilS; at += step) found.push(at);
  return found;
}
