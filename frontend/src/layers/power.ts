/** What motes spend for queries, as the layer of the map shows it. */
import { decimal } from '../language';
import type { Point } from '../store/geometry';
import { number, records, type Table } from '../store/table';

export interface Spender {
  readonly sid: string;
  readonly levelId: string;
  readonly at: Point;
  /** mW, of radio and computing, during the last minute. */
  readonly powerMw: number;
}

/** The motes that spend something for one view. */
export function spenders(table: Table, view: string): Spender[] {
  return records(table)
    .filter((record) => record.view === view)
    .map((record) => ({
      sid: String(record.sid),
      levelId: String(record.level_id),
      at: [number(record.x_m) ?? 0, number(record.y_m) ?? 0],
      powerMw: number(record.power_mw) ?? 0,
    }));
}

/** The views that motes spend something for, and how much all of them do, mW. */
export function totals(table: Table): Map<string, number> {
  const found = new Map<string, number>();
  for (const record of records(table)) {
    const view = String(record.view);
    found.set(view, (found.get(view) ?? 0) + (number(record.power_mw) ?? 0));
  }
  return found;
}

/** A circle's radius in metres: its area grows with the power, so that sums look like sums. */
export function radiusM(powerMw: number, greatestMw: number): number {
  return greatestMw <= 0 ? 0 : 0.4 + 2.1 * Math.sqrt(powerMw / greatestMw);
}

/** "0.42 mW", "12 µW". */
export function powerText(powerMw: number): string {
  if (powerMw >= 100) return `${decimal(powerMw, 0)} mW`;
  if (powerMw >= 0.1) return `${decimal(powerMw, 2)} mW`;
  return `${decimal(powerMw * 1000, powerMw >= 0.01 ? 0 : 1)} µW`;
}
