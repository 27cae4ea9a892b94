/**
 * A view as the fold of its messages: a bag of rows with the epoch it stands at.
 *
 * Law: after a snapshot and the deltas that follow it without a gap, the bag equals the
 * server's view at `epoch`. A message that would break this is answered with "gap" and
 * leaves the bag untouched.
 */
import type { Column, Delta, Row, Snapshot } from './protocol';

export type Folded = 'applied' | 'seen' | 'gap';

export interface Change {
  readonly weight: number;
  readonly row: Row;
}

interface Entry {
  readonly row: Row;
  weight: number;
}

export class Bag {
  columns: readonly Column[] = [];
  epoch: number | null = null;
  atS = 0;
  private entries = new Map<string, Entry>();

  /** Take the whole view; whatever was held before is forgotten. */
  replace(message: Snapshot): void {
    this.columns = message.columns;
    this.epoch = message.epoch;
    this.atS = message.at_s;
    this.entries = new Map();
    for (const row of message.rows) this.add(this.entries, row, 1);
  }

  /** Apply one delta, or say why it cannot be applied. */
  apply(message: Delta): Folded {
    if (this.epoch === null) return 'gap';
    if (message.epoch <= this.epoch) return 'seen';
    if (message.prev !== this.epoch) return 'gap';
    const touched = new Map<string, Entry>();
    for (const [weight, ...row] of message.changes) {
      const key = JSON.stringify(row);
      if (!touched.has(key)) touched.set(key, { row, weight: this.entries.get(key)?.weight ?? 0 });
      this.add(touched, row, weight);
    }
    // A negative multiplicity means that an insertion was missed, so the bag is not the view.
    for (const entry of touched.values()) if (entry.weight < 0) return 'gap';
    for (const [key, entry] of touched) {
      if (entry.weight === 0) this.entries.delete(key);
      else this.entries.set(key, entry);
    }
    this.epoch = message.epoch;
    this.atS = message.at_s;
    return 'applied';
  }

  /** Rows with multiplicity, each distinct row once. */
  counted(): Change[] {
    return [...this.entries.values()].map(({ row, weight }) => ({ row, weight }));
  }

  /** Distinct rows. */
  rows(): Row[] {
    return [...this.entries.values()].map(({ row }) => row);
  }

  /** Rows held, multiplicities counted. */
  get size(): number {
    let total = 0;
    for (const { weight } of this.entries.values()) total += weight;
    return total;
  }

  private add(into: Map<string, Entry>, row: Row, weight: number): void {
    const key = JSON.stringify(row);
    const held = into.get(key);
    if (held) held.weight += weight;
    else into.set(key, { row, weight });
  }
}
