/** An explanation as REST gives it: what the optimizer chose, among what, and who runs what. */
import { decimal, locale, t } from '../language';
import type { Cost } from '../api/schema';

/** What the optimizer may be asked to save; the words are those of `explain --weights`. */
export const metrics = (): readonly { name: string; weights: string }[] => [
  { name: t('as the house weighs'), weights: '' },
  { name: t('batteries'), weights: 'energy=1, bytes=0, latency=0, cpu=0' },
  { name: t('radio traffic'), weights: 'energy=0, bytes=1, latency=0, cpu=0' },
  { name: t('waiting'), weights: 'energy=0, bytes=0, latency=1, cpu=0' },
];

/** Three figures that count, no more. */
export function figure(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return decimal(value, 0);
  return Number(value.toPrecision(3)).toLocaleString(locale(), { maximumFractionDigits: 20 });
}

/** A time people can feel. */
export function wait(ms: number): string {
  return ms < 1000 ? `${figure(ms)} ms` : `${figure(ms / 1000)} s`;
}

/** The terms of a cost, as columns; what a search weighs besides is in its verdicts. */
export const terms = (): readonly {
  field: keyof Cost;
  name: string;
  /** Beside the figure; empty where the figure says it. */
  unit: string;
  show: (value: number) => string;
}[] => [
  { field: 'energy_mj_per_s', name: t('Energy'), unit: 'mJ/s', show: figure },
  { field: 'bytes_per_s', name: t('Radio'), unit: 'B/s', show: figure },
  { field: 'latency_ms', name: t('Wait'), unit: '', show: wait },
  { field: 'rows_per_s', name: t('Rows'), unit: t('rows/s'), show: figure },
];

/** How far a bar reaches, 0 to 100, where the dearest shown fills it. */
export function reach(weighed: number, most: number): number {
  return most > 0 ? Math.max(1, Math.min(100, (100 * weighed) / most)) : 0;
}

/** The factor between what was expected and what is measured, as people say it. */
export function beside(expected: number, measured: number): string {
  if (expected <= 0 || measured <= 0) return '';
  const factor = measured / expected;
  return factor >= 1
    ? t('{factor} times the estimate', { factor: figure(factor) })
    : t('1/{factor} of the estimate', { factor: figure(1 / factor) });
}
