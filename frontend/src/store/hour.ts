/** A sensor's last hour: as a sentence, as a line, as pages of a table. */
import type { Hour } from '../api/schema';
import { n, t } from '../language';
import { amount } from './words';

export const PER_PAGE = 10;
const HOUR_S = 3600;

/** "21.4 to 24.0 °C in the last hour, 22.8 °C on average, now 23.1 °C and rising; 58 readings." */
export function summary(hour: Pick<Hour, 'samples' | 'unit'>): string {
  const values = hour.samples.map(({ value }) => value);
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return t('Nothing was measured in the last hour.');
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const told = (value: number): string => amount(value, hour.unit);
  const count = n('one reading', '{count} readings', values.length);
  if (least === most) return t('{value} for all of the last hour; {count}.', { value: told(last), count });
  const figures = { least: told(least), most: told(most), mean: told(mean), now: told(last), count };
  switch (trend(values, most - least)) {
    case 1:
      return t(
        '{least} to {most} in the last hour, {mean} on average, now {now} and rising; {count}.',
        figures,
      );
    case -1:
      return t(
        '{least} to {most} in the last hour, {mean} on average, now {now} and falling; {count}.',
        figures,
      );
    case 0:
      return t('{least} to {most} in the last hour, {mean} on average, now {now}; {count}.', figures);
  }
}

/** Up or down, where the last sixth differs from the one before by a tenth of the whole range. */
function trend(values: readonly number[], range: number): -1 | 0 | 1 {
  const part = Math.max(1, Math.floor(values.length / 6));
  const mean = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0) / some.length;
  const before = values.slice(-2 * part, -part);
  if (before.length === 0) return 0;
  const change = mean(values.slice(-part)) - mean(before);
  if (Math.abs(change) < range / 10) return 0;
  return change > 0 ? 1 : -1;
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
