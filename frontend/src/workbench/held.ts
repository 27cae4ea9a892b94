/** What the engine holds for a view, asked of the engine itself, and only when somebody wants to know. */
import { n, t } from '../language';
import type { Answer } from '../api/schema';

/** One operator or index at work for a view. */
export interface Part {
  readonly kind: string;
  readonly reads: string;
  readonly rows: number;
  /** Views, or operators, that use it. */
  readonly users: number;
  /** Rows a window did not count, as their own time was out of reach. */
  readonly late: number;
  readonly index: boolean;
}

/** The question, which every lane answers for itself; a standing query over sys.operators would make every tick dearer for everybody. */
export function question(view: string): string {
  const name = `'${view.replaceAll("'", "''")}'`;
  return `ONCE SELECT o.kind, o.reads, o.rows, o.views, o.late_rows, FALSE AS is_index
FROM sys.operators o JOIN sys.queries q ON q.dataflow = o.view AND q.lane = o.lane
WHERE q.view = ${name}
UNION ALL
SELECT 'Index', a.reads, a.rows, a.readers, 0, TRUE
FROM sys.arrangements a JOIN sys.queries q ON q.dataflow = a.view AND q.lane = a.lane
WHERE q.view = ${name}`;
}

export function parts(answer: Answer): Part[] {
  return answer.rows
    .map(([kind, reads, rows, users, late, index]) => ({
      kind: String(kind),
      reads: String(reads),
      rows: Number(rows),
      users: Number(users),
      late: Number(late),
      index: index === true,
    }))
    .sort((a, b) => b.rows - a.rows || a.kind.localeCompare(b.kind));
}

/** "812 rows in 4 operators and 2 indexes". */
export function summary(held: readonly Part[]): string {
  const rows = held.reduce((sum, part) => sum + part.rows, 0);
  const indexes = held.filter((part) => part.index).length;
  const told = {
    rows: n('{count} row', '{count} rows', rows),
    operators: n('{count} operator', '{count} operators', held.length - indexes),
  };
  if (indexes === 0) return t('{rows} in {operators}', told);
  return t('{rows} in {operators} and {indexes}', {
    ...told,
    indexes: n('{count} index', '{count} indexes', indexes),
  });
}

/** "3 late rows", nothing where none was. */
export function lateness(held: readonly Part[]): string {
  const late = held.reduce((sum, part) => sum + part.late, 0);
  return late === 0 ? '' : n('{count} late row', '{count} late rows', late);
}
