/** The order a query asks for: a maintained view has none, so whoever shows it sorts. */
import type { Order } from '../api/types';
import type { Cell, Column, Row } from '../wire/protocol';

/** Order two values as the engine does: a null comes first, unless the key says otherwise. */
function step(a: Cell | undefined, b: Cell | undefined, descending: boolean, nullsLast: boolean): number {
  const none = (cell: Cell | undefined): boolean => cell === null || cell === undefined;
  if (none(a) || none(b)) return none(a) && none(b) ? 0 : none(a) === nullsLast ? 1 : -1;
  if (a === b) return 0;
  const rises = (a as number | string | boolean) < (b as number | string | boolean);
  return rises === descending ? 1 : -1;
}

/** Give the comparison of rows that an order stands for. */
export function comparison(order: Order, columns: readonly Column[]): (a: Row, b: Row) => number {
  const keys = order.keys.map((key) => ({ ...key, at: columns.findIndex(({ name }) => name === key.column) }));
  return (a, b) => {
    for (const { at, descending, nulls_last } of keys) {
      const found = step(a[at], b[at], descending, nulls_last);
      if (found !== 0) return found;
    }
    return 0;
  };
}
