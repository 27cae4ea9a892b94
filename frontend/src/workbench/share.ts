/** What leaves the page: addresses, files, and the line for a shell. */
import type { ProblemFields } from '../api/http';

const API = '/api/v1/';

/** A query's rows as a file; JSON gives at most `limit`. */
export function fileHref(id: string, format: 'csv' | 'geojson' | 'json', limit?: number): string {
  const most = limit === undefined ? '' : `&limit=${limit}`;
  return `${API}queries/${encodeURIComponent(id)}/rows/?format=${format}${most}`;
}

/** The map with a query's rows drawn on it. */
export function mapHref(id: string): string {
  return `/?layer=${encodeURIComponent(id)}`;
}

/** The workbench with a query in it. */
export function queryHref(id: string): string {
  return `/queries/?query=${encodeURIComponent(id)}`;
}

/** The page that shows what a query answers, and nothing else. */
export function pageHref(id: string): string {
  return `/queries/${encodeURIComponent(id)}/`;
}

/** The query that an address of the workbench names. */
export function queryIn(search: string): string | null {
  return new URLSearchParams(search).get('query');
}

/** A text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The line that reads a query's rows. */
export function curlRows(origin: string, id: string): string {
  return `curl ${quoted(origin + fileHref(id, 'csv'))}`;
}

/** The line that submits a text; what is answered once comes as `accept`. */
export function curlSubmit(origin: string, sql: string, accept = ''): string {
  const body = JSON.stringify({ sql });
  const as = accept === '' ? '' : ` -H ${quoted(`Accept: ${accept}`)}`;
  return `curl ${quoted(`${origin}${API}queries/`)} -H 'Content-Type: application/json'${as} -d ${quoted(body)}`;
}

const ONCE = 'ONCE\n';

/** A text with ONCE in front, on a line of its own; the editor keeps what it has. */
export function onceOf(sql: string): string {
  return ONCE + sql;
}

/** A problem of `onceOf(sql)`, with its place in `sql`. */
export function withoutOnce(problem: ProblemFields): ProblemFields {
  const at = problem.position;
  return at === null || at.line === 1
    ? { ...problem, position: null }
    : { ...problem, position: { ...at, line: at.line - 1 } };
}
