/**
 * A view as the fold of its messages: a bag of rows with the epoch it stands at.
 *
 * Law: after a snapshot and the deltas that follow it without a gap, the bag equals the
 * server's view at `epoch`. A message that would break this is answered with "gap" and
 * leaves the bag untouched.
 */
import type { ViewColumn, Delta, Row, Snapshot } from './protocol';

export type Folded = 'applied' | 'seen' | 'gap';

export interface Change {
  readonly weight: number;
  readonly row: Row;
  readonly key: string;
}

/** The same text for equal rows, and for no others. */
export const keyOf = (row: Row): string => JSON.stringify(row);

/** The changes of a delta, each with its row's key. */
export const changesOf = (message: Delta): Change[] =>
  message.changes.map(([weight, ...row]) => ({ weight, row, key: keyOf(row) }));

interface Entry {
  readonly row: Row;
  weight: number;
}

export class Bag {
  columns: readonly ViewColumn[] = [];
  epoch: number | null = null;
  atS = 0;
  /** Since when nothing is missing of what windows reach back to, s; null where nothing is. */
  completeSinceS: number | null = null;
  /** Rows held, multiplicities counted. */
  size = 0;
  private entries = new Map<string, Entry>();

  /** Take the whole view; whatever was held before is forgotten. */
  replace(message: Pick<Snapshot, 'columns' | 'epoch' | 'at_s' | 'complete_since_s' | 'rows'>): void {
    this.columns = message.columns;
    this.epoch = message.epoch;
    this.atS = message.at_s;
    this.completeSinceS = message.complete_since_s;
    this.entries = new Map();
    for (const row of message.rows) {
      const key = keyOf(row);
      this.entries.set(key, { row, weight: this.weight(key) + 1 });
    }
    this.size = message.rows.length;
  }

  /** Apply one delta, or say why it cannot be applied. */
  apply(message: Delta, changes: readonly Change[] = changesOf(message)): Folded {
    if (this.epoch === null) return 'gap';
    if (message.epoch <= this.epoch) return 'seen';
    if (message.prev !== this.epoch) return 'gap';
    const touched = new Map<string, Entry>();
    for (const { key, row, weight } of changes) {
      const held = touched.get(key);
      if (held) held.weight += weight;
      else touched.set(key, { row, weight: this.weight(key) + weight });
    }
    // A negative multiplicity means that an insertion was missed, so the bag is not the view.
    for (const entry of touched.values()) if (entry.weight < 0) return 'gap';
    for (const [key, entry] of touched) {
      if (entry.weight === 0) this.entries.delete(key);
      else this.entries.set(key, entry);
    }
    for (const { weight } of changes) this.size += weight;
    this.epoch = message.epoch;
    this.atS = message.at_s;
    return 'applied';
  }

  /** Rows with multiplicity, each distinct row once. */
  counted(): Change[] {
    return Array.from(this.entries, ([key, { row, weight }]) => ({ row, weight, key }));
  }

  /** Distinct rows. */
  rows(): Row[] {
    return [...this.entries.values()].map(({ row }) => row);
  }

  /** How often a row is held, by its key. */
  weight(key: string): number {
    return this.entries.get(key)?.weight ?? 0;
  }
}
