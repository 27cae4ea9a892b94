/** A running query's result: the rows that stand, and for a moment those that just left. */
import type { Answer, Order } from '../api/schema';
import type { Live } from '../store/live.svelte';
import type { ViewEvent } from '../wire/client';
import { Bag, type Change } from '../wire/fold';
import type { Cell, ViewColumn, Row, WireError } from '../wire/protocol';
import { comparison } from './order';
import { Ordered, type Comparison, type ShownRow } from './ordered';
import { Rate } from './rate';
import { asNumber } from './values';

/** How long a change stays marked, ms. */
export const FLASH_MS = 1600;
/** Rows on a page of the table. */
export const PAGE_ROWS = 200;
const KEPT_CHANGES = 60;
/** Rows that a chart is drawn of, at most, and how often anew, ms. */
const CHARTED_ROWS = 2000;
const CHART_MS = 1000;

export interface LoggedChange {
  readonly number: number;
  readonly epoch: number;
  readonly weight: number;
  readonly row: Row;
}

const texts = new Intl.Collator('en', { numeric: true });

/** Order cells as a person would: numbers by size, everything else as text, nulls last. */
export function compare(a: Cell | undefined, b: Cell | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return texts.compare(String(a), String(b));
}

export class Results {
  columns = $state.raw<readonly ViewColumn[]>([]);
  rows = $state.raw<readonly ShownRow[]>([]);
  /** Rows to draw a chart of. */
  charted = $state.raw<readonly Row[]>([]);
  log = $state.raw<readonly LoggedChange[]>([]);
  total = $state(0);
  epoch = $state<number | null>(null);
  /** Since when nothing is missing of what windows reach back to, s; null where nothing is. */
  completeSinceS = $state<number | null>(null);
  inserted = $state(0);
  deleted = $state(0);
  /** The index of the first row drawn, and how many there are to draw. */
  from = $state(0);
  length = $state(0);
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
  private readonly ordered = new Ordered();
  /** When each marked row changed, oldest first. */
  private marked: { readonly key: string; readonly atMs: number }[] = [];
  private count = 0;
  private chartedMs = -Infinity;
  private readonly counting = new Rate(performance.now());
  private end: () => void = () => undefined;

  private constructor(
    private readonly order: Order | null,
    /** What was answered once; null for what is maintained. */
    readonly answer: Answer | null = null,
  ) {
    if (order || answer) this.sortBy = null;
  }

  /** Follow a query that is maintained. */
  static of(live: Live, view: string, order: Order | null): Results {
    const results = new Results(order);
    const end = live.client.subscribe(view, (event) => {
      results.take(event);
      live.repaint.soon(results.publish);
    });
    const second = setInterval(() => {
      results.rate = results.counting.perS(performance.now());
      // Marks fade even when no further change comes.
      if (results.marked.length > 0) live.repaint.soon(results.publish);
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
    const bag = new Bag();
    bag.replace(answer);
    results.start(bag);
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
    this.from = 0;
    this.ordered.sortBy(this.comparison());
    this.publish();
  }

  /** Draw the page of rows after or before this one. */
  turn(by: 1 | -1): void {
    this.from += by * PAGE_ROWS;
    this.publish();
  }

  /** Whether the query itself says how its rows are ordered. */
  get inOwnOrder(): boolean {
    return this.sortBy === null && (this.order !== null || this.answer !== null);
  }

  /** How many columns of the view are shown. */
  private get width(): number | undefined {
    return this.order?.width;
  }

  private take(event: ViewEvent): void {
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
    if (event.kind === 'delta') {
      this.note(event.bag, event.changes);
      this.coalesced += Math.max(0, event.merged - 1);
    } else {
      this.start(event.bag);
      this.coalesced += event.merged;
    }
  }

  private start(bag: Bag): void {
    this.bag = bag;
    this.columns = bag.columns.slice(0, this.width);
    this.marked = [];
    this.ordered.replace(bag.counted());
    this.ordered.sortBy(this.comparison());
  }

  private note(bag: Bag, changes: readonly Change[]): void {
    const atMs = performance.now();
    let [inserted, deleted] = [0, 0];
    for (const { weight, row, key } of changes) {
      if (weight > 0) inserted += weight;
      else deleted -= weight;
      const now = bag.weight(key);
      this.ordered.put(key, row, Math.max(1, now), now === 0 ? '−' : weight > 0 ? '+' : '', atMs);
      this.marked.push({ key, atMs });
    }
    this.inserted += inserted;
    this.deleted += deleted;
    this.counting.add(atMs, inserted + deleted);
    const logged = changes.slice(-KEPT_CHANGES).map(({ weight, row }, i) => ({
      number: this.count + i,
      epoch: bag.epoch ?? 0,
      weight,
      row: row.slice(0, this.width),
    }));
    this.count += logged.length;
    this.log = [...logged.reverse(), ...this.log].slice(0, KEPT_CHANGES);
  }

  /** The order the reader chose, else the query's own, else none: as the rows came. */
  private comparison(): Comparison | null {
    const at = this.sortBy;
    if (at === null) return this.order && this.bag ? comparison(this.order, this.bag.columns) : null;
    const sense = this.descending ? -1 : 1;
    const column = this.bag?.columns[at];
    return (a, b) => sense * compare(asNumber(a[at], column), asNumber(b[at], column));
  }

  private readonly publish = (): void => {
    if (!this.bag) return;
    this.fade(performance.now() - FLASH_MS);
    this.length = this.ordered.length;
    this.from = Math.max(0, Math.min(this.from, Math.floor((this.length - 1) / PAGE_ROWS) * PAGE_ROWS));
    this.rows = this.ordered.window(this.from, PAGE_ROWS);
    this.total = this.bag.size;
    this.epoch = this.bag.epoch;
    this.completeSinceS = this.bag.completeSinceS;
    // A row that changed is marked for longer than this, so that the last change is drawn, too.
    if (performance.now() - this.chartedMs < CHART_MS) return;
    this.chartedMs = performance.now();
    this.charted = this.ordered
      .window(0, CHARTED_ROWS)
      .filter(({ mark }) => mark !== '−')
      .map(({ row }) => row);
  };

  /** Take the marks off what has not changed for a moment. */
  private fade(beforeMs: number): void {
    const young = this.marked.findIndex(({ atMs }) => atMs > beforeMs);
    const old = this.marked.splice(0, young < 0 ? this.marked.length : young);
    for (const { key } of old) this.ordered.settle(key, beforeMs);
  }
}
