/** A sensor's last hour: as a sentence, as a line, as pages of a table. */
import type { Hour } from '../api/schema';
import { amount } from './words';

export const PER_PAGE = 10;
const HOUR_S = 3600;

/** "21.4 to 24.0 °C in the last hour, 22.8 °C on average, now 23.1 °C and rising; 58 readings." */
export function summary(hour: Pick<Hour, 'samples' | 'unit'>): string {
  const values = hour.samples.map(({ value }) => value);
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return 'Nothing was measured in the last hour.';
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const told = (value: number): string => amount(value, hour.unit);
  const count = values.length === 1 ? 'one reading' : `${values.length} readings`;
  if (least === most) return `${told(last)} for all of the last hour; ${count}.`;
  return (
    `${told(least)} to ${told(most)} in the last hour, ${told(mean)} on average, ` +
    `now ${told(last)}${trend(values, most - least)}; ${count}.`
  );
}

/** Whether the last sixth differs from the one before by a tenth of the whole range. */
function trend(values: readonly number[], range: number): string {
  const part = Math.max(1, Math.floor(values.length / 6));
  const mean = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0) / some.length;
  const before = values.slice(-2 * part, -part);
  if (before.length === 0) return '';
  const change = mean(values.slice(-part)) - mean(before);
  if (Math.abs(change) < range / 10) return '';
  return change > 0 ? ' and rising' : ' and falling';
}

/** Watt-hours of an hour of power, where it was measured for most of it; otherwise null. */
export function wattHours(hour: Pick<Hour, 'samples' | 'unit'>): number | null {
  const { samples, unit } = hour;
  const [first, last] = [samples[0], samples.at(-1)];
  if (unit !== 'W' || first === undefined || last === undefined) return null;
  let wattSeconds = 0;
  for (const [at, one] of samples.entries()) {
    const next = samples[at + 1];
    if (next !== undefined) wattSeconds += ((one.value + next.value) / 2) * (next.at_s - one.at_s);
  }
  return wattSeconds / HOUR_S;
}

/** Points of a line in a box of `width` × `height`; gaps of more than three minutes part it. */
export function lines(
  hour: Pick<Hour, 'samples' | 'since_s' | 'at_s' | 'period_s'>,
  width: number,
  height: number,
): string[] {
  const values = hour.samples.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const gapS = Math.max(180, 3 * hour.period_s);
  const found: string[][] = [];
  let beforeS = -Infinity;
  for (const { at_s, value } of hour.samples) {
    const x = ((at_s - hour.since_s) / Math.max(1, hour.at_s - hour.since_s)) * width;
    const y = most === least ? height / 2 : height - ((value - least) / (most - least)) * height;
    if (at_s - beforeS > gapS) found.push([]);
    found.at(-1)?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
    beforeS = at_s;
  }
  return found.map((points) => points.join(' '));
}
