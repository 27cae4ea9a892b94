/**
 * Rows kept in an order while they change, so that a repaint costs what changed and not what stands.
 *
 * The rows stand in blocks of at most `BLOCK`: a change finds its block and its index there by halving,
 * and moves at most one block's references.
 */
import { elementAt } from '../lists';
import type { Row } from '../wire/protocol';

/** `−`: the row has left, and is shown for a moment more. */
export type Mark = '+' | '−' | '';

export interface ShownRow {
  readonly key: string;
  readonly row: Row;
  readonly weight: number;
  readonly mark: Mark;
}

export type Comparison = (a: Row, b: Row) => number;

/** One row of the order; what is shown of it is replaced when its weight or mark changes. */
interface Slot {
  readonly key: string;
  readonly row: Row;
  /** Rows that compare equal stand in the order they came. */
  readonly turn: number;
  shown: ShownRow;
  changedMs: number;
}

/** Slots in a block at most; a fuller one is halved. */
const BLOCK = 512;

export class Ordered {
  private blocks: Slot[][] = [];
  private readonly byKey = new Map<string, Slot>();
  private turn = 0;

  constructor(private order: Comparison | null = null) {}

  /** Rows shown, those that have just left included. */
  get length(): number {
    return this.byKey.size;
  }

  /** Forget everything and hold these rows. */
  replace(rows: Iterable<{ readonly row: Row; readonly weight: number; readonly key: string }>): void {
    this.byKey.clear();
    for (const { key, row, weight } of rows) {
      const shown: ShownRow = { key, row, weight, mark: '' };
      this.byKey.set(key, { key, row, turn: this.turn++, shown, changedMs: 0 });
    }
    this.sortBy(this.order);
  }

  /** Show a row with a weight and a mark, as changed at a moment. */
  put(key: string, row: Row, weight: number, mark: Mark, atMs: number): void {
    const shown: ShownRow = { key, row, weight, mark };
    const held = this.byKey.get(key);
    if (held) {
      held.shown = shown;
      held.changedMs = atMs;
      return;
    }
    const slot: Slot = { key, row, turn: this.turn++, shown, changedMs: atMs };
    this.byKey.set(key, slot);
    const number = Math.min(this.blockOf(slot), this.blocks.length - 1);
    const block = this.blocks[number];
    if (block === undefined) {
      this.blocks.push([slot]);
      return;
    }
    block.splice(this.indexIn(block, slot), 0, slot);
    if (block.length > BLOCK) this.blocks.splice(number + 1, 0, block.splice(BLOCK / 2));
  }

  /** Take the mark off a row that has not changed since a moment; one that has left goes. */
  settle(key: string, beforeMs: number): void {
    const held = this.byKey.get(key);
    if (!held || held.changedMs > beforeMs) return;
    if (held.shown.mark !== '−') {
      held.shown = { ...held.shown, mark: '' };
      return;
    }
    this.byKey.delete(key);
    const number = this.blockOf(held);
    const block = elementAt(this.blocks, number);
    block.splice(this.indexIn(block, held), 1);
    if (block.length === 0) this.blocks.splice(number, 1);
  }

  /** Change the order; null is the order in which rows came. */
  sortBy(order: Comparison | null): void {
    this.order = order;
    const sorted = [...this.byKey.values()].sort(this.compare);
    this.blocks = [];
    for (let i = 0; i < sorted.length; i += BLOCK / 2) this.blocks.push(sorted.slice(i, i + BLOCK / 2));
  }

  /** The rows from an index on, at most so many. */
  window(from: number, count: number): ShownRow[] {
    const found: ShownRow[] = [];
    let skip = from;
    for (const block of this.blocks) {
      if (found.length === count) break;
      for (const slot of block.slice(skip, skip + count - found.length)) found.push(slot.shown);
      skip = Math.max(0, skip - block.length);
    }
    return found;
  }

  private readonly compare = (a: Slot, b: Slot): number =>
    (this.order?.(a.row, b.row) ?? 0) || a.turn - b.turn;

  /** The first block whose last slot does not come before this one. */
  private blockOf(slot: Slot): number {
    return first(
      this.blocks.length,
      (i) => this.compare(elementAt(elementAt(this.blocks, i), -1), slot) >= 0,
    );
  }

  /** The first index of a block whose slot does not come before this one. */
  private indexIn(block: readonly Slot[], slot: Slot): number {
    return first(block.length, (i) => this.compare(elementAt(block, i), slot) >= 0);
  }
}

/** The first index at which a condition holds that goes on holding; `length` where it never does. */
function first(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
