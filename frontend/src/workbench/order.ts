/** The order a query asks for: a maintained view has none, so whoever shows it sorts. */
import type { Order } from '../api/schema';
import type { Cell, ViewColumn, Row } from '../wire/protocol';

/** Order two values as the engine does: a null comes first, unless the key says otherwise. */
function step(a: Cell | undefined, b: Cell | undefined, descending: boolean, nullsLast: boolean): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : nullsLast ? 1 : -1;
  if (b === null || b === undefined) return nullsLast ? -1 : 1;
  const rises = a < b;
  return rises === descending ? 1 : -1;
}

/** Give the comparison of rows that an order stands for. */
export function comparison(order: Order, columns: readonly ViewColumn[]): (a: Row, b: Row) => number {
  const keys = order.keys.map((key) => ({
    ...key,
    at: columns.findIndex(({ name }) => name === key.column),
  }));
  return (a, b) => {
    for (const { at, descending, nulls_last } of keys) {
      const found = step(a[at], b[at], descending, nulls_last);
      if (found !== 0) return found;
    }
    return 0;
  };
}
