/** A view's rows read by column name, so that the order of columns is nobody's business. */
import type { Cell, ViewColumn, Row } from '../wire/protocol';

export interface Table {
  readonly columns: readonly ViewColumn[];
  readonly rows: readonly Row[];
  /** False until the first snapshot: "empty" and "not known yet" are different answers. */
  readonly known: boolean;
}

export const UNKNOWN: Table = { columns: [], rows: [], known: false };

export type Fields = Readonly<Record<string, Cell>>;

/** Give each row as an object keyed by column name. */
export function records(table: Table): Fields[] {
  const names = table.columns.map((column) => column.name);
  return table.rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
}

/** Index rows by one text column; later rows win. */
export function by(table: Table, key: string): Map<string, Fields> {
  return new Map(records(table).map((record) => [String(record[key]), record]));
}

/** The row that has a value in a column, null without one. */
export function rowWith(table: Table, column: string, value: Cell): Row | null {
  const at = table.columns.findIndex(({ name }) => name === column);
  return at < 0 ? null : (table.rows.find((row) => row[at] === value) ?? null);
}

/** A number, or null where the cell is none. */
export function number(cell: Cell | undefined): number | null {
  return typeof cell === 'number' ? cell : null;
}
