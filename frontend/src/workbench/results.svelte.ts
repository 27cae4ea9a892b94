/** A running query's result: the rows that stand, and for a moment those that just left. */
import type { Answer, Order } from '../api/types';
import type { LiveClient, ViewEvent } from '../wire/client';
import { Bag } from '../wire/fold';
import type { Cell, Column, Row, WireError } from '../wire/protocol';
import { comparison } from './order';
import { Rate } from './rate';

/** How long a change stays marked, ms. */
export const FLASH_MS = 1600;
/** Rows drawn; the rest are counted. */
export const SHOWN_ROWS = 300;
const KEPT_CHANGES = 60;
/** Repaints are bundled to at most ten a second, ms. */
const PUBLISH_MS = 100;

export interface ShownRow {
  readonly key: string;
  readonly row: Row;
  readonly weight: number;
  readonly mark: '+' | '−' | '';
}

export interface LoggedChange {
  readonly number: number;
  readonly epoch: number;
  readonly weight: number;
  readonly row: Row;
}

/** Order cells as a person would: numbers by size, everything else as text, nulls last. */
export function compare(a: Cell | undefined, b: Cell | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

export class Results {
  columns = $state.raw<readonly Column[]>([]);
  rows = $state.raw<readonly ShownRow[]>([]);
  log = $state.raw<readonly LoggedChange[]>([]);
  total = $state(0);
  epoch = $state<number | null>(null);
  inserted = $state(0);
  deleted = $state(0);
  hidden = $state(0);
  /** Changes per second, lately. */
  rate = $state(0);
  /** Epochs whose changes came summed with those of others. */
  coalesced = $state(0);
  closed = $state(false);
  error = $state.raw<WireError | null>(null);
  /** The column the reader sorts by; none while the query's own order holds. */
  sortBy = $state<number | null>(0);
  descending = $state(false);
  private bag: Bag | null = null;
  private readonly fresh = new Map<string, number>();
  private readonly gone = new Map<string, { row: Row; atMs: number }>();
  private pending = false;
  private count = 0;
  private readonly counting = new Rate(performance.now());
  private end: () => void = () => undefined;

  private constructor(
    private readonly order: Order | null,
    /** What was answered once; null for what is maintained. */
    readonly answer: Answer | null = null,
  ) {
    if (order) this.sortBy = null;
  }

  /** Follow a query that is maintained. */
  static of(client: LiveClient, view: string, order: Order | null): Results {
    const results = new Results(order);
    const end = client.subscribe(view, (event) => {
      results.hear(event);
    });
    const second = setInterval(() => {
      results.rate = results.counting.perS(performance.now());
    }, 1000);
    results.end = () => {
      clearInterval(second);
      end();
    };
    return results;
  }

  /** Show what a one-shot query found, in the order it came. */
  static answered(answer: Answer): Results {
    const results = new Results(null, answer);
    results.columns = answer.columns;
    results.sortBy = null;
    const { columns, rows, epoch, position, at_s } = answer;
    results.bag = new Bag();
    results.bag.replace({
      type: 'snapshot',
      id: 0,
      view: '',
      columns,
      rows,
      epoch,
      position,
      at_s,
      merged: 0,
    });
    results.publish();
    return results;
  }

  stop(): void {
    this.end();
  }

  /** Sort by a column; again for the other direction. */
  sort(column: number): void {
    this.descending = this.sortBy === column ? !this.descending : false;
    this.sortBy = column;
    this.publish();
  }

  /** How many columns of the view are shown. */
  private get width(): number | undefined {
    return this.order?.width;
  }

  private hear(event: ViewEvent): void {
    if (event.kind === 'error') {
      this.error = event.error;
      return;
    }
    if (event.kind === 'closed') {
      this.closed = true;
      return;
    }
    this.error = null;
    this.closed = false;
    this.bag = event.bag;
    if (event.kind === 'delta') {
      this.note(event.bag, event.changes);
      this.coalesced += Math.max(0, event.merged - 1);
    } else {
      this.columns = event.bag.columns.slice(0, this.width);
      this.coalesced += event.merged;
    }
    this.publishSoon();
  }

  private note(bag: Bag, changes: readonly { weight: number; row: Row }[]): void {
    const atMs = performance.now();
    for (const { weight, row } of changes) {
      const key = JSON.stringify(row);
      if (weight > 0) {
        this.inserted += weight;
        this.fresh.set(key, atMs);
        this.gone.delete(key);
      } else {
        this.deleted -= weight;
        this.fresh.delete(key);
        this.gone.set(key, { row, atMs });
      }
    }
    this.counting.add(
      atMs,
      changes.reduce((sum, { weight }) => sum + Math.abs(weight), 0),
    );
    const logged = changes.map(({ weight, row }) => ({
      number: ++this.count,
      epoch: bag.epoch ?? 0,
      weight,
      row: row.slice(0, this.width),
    }));
    this.log = [...logged.reverse(), ...this.log].slice(0, KEPT_CHANGES);
  }

  private publishSoon(): void {
    if (this.pending) return;
    this.pending = true;
    setTimeout(() => {
      this.pending = false;
      this.publish();
    }, PUBLISH_MS);
  }

  /** The order the reader chose, else the query's own, else none: as the rows came. */
  private comparison(): ((a: Row, b: Row) => number) | null {
    const at = this.sortBy;
    if (at === null) return this.order && this.bag ? comparison(this.order, this.bag.columns) : null;
    const sense = this.descending ? -1 : 1;
    return (a, b) => sense * compare(a[at], b[at]);
  }

  private publish(): void {
    if (!this.bag) return;
    const now = performance.now();
    for (const [key, atMs] of this.fresh) if (now - atMs > FLASH_MS) this.fresh.delete(key);
    for (const [key, { atMs }] of this.gone) if (now - atMs > FLASH_MS) this.gone.delete(key);
    const standing: ShownRow[] = this.bag.counted().map(({ row, weight }) => {
      const key = JSON.stringify(row);
      return { key, row, weight, mark: this.fresh.has(key) ? '+' : '' };
    });
    const keys = new Set(standing.map((shown) => shown.key));
    const leaving: ShownRow[] = [...this.gone]
      .filter(([key]) => !keys.has(key))
      .map(([key, { row }]) => ({ key: `gone${key}`, row, weight: 1, mark: '−' }));
    const all = [...standing, ...leaving];
    const order = this.comparison();
    if (order) all.sort((a, b) => order(a.row, b.row) || a.key.localeCompare(b.key));
    this.rows = all.slice(0, SHOWN_ROWS);
    this.hidden = all.length - this.rows.length;
    this.total = this.bag.size;
    this.epoch = this.bag.epoch;
    // Marks fade even when no further change comes.
    if (this.fresh.size > 0 || this.gone.size > 0)
      setTimeout(() => {
        this.publishSoon();
      }, FLASH_MS);
  }
}
