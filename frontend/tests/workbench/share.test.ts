import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlRows, curlSubmit, fileHref, onceOf, quoted, withoutOnce } from '../../src/workbench/share';
import { lateness, parts, question, summary } from '../../src/workbench/held';

const said = (line: string): string[] =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    .split('\n')
    .slice(0, -1);

test('a shell reads a quoted text as one word, whatever is in it', () => {
  for (const text of ["a 'b' c", '$HOME `id` "x" \\', "''"]) expect(said(quoted(text))).toEqual([text]);
});

test('the line for a shell sends the text as JSON', () => {
  const sql = "SELECT host\nFROM machine WHERE host = 'it''s'";
  const words = execFileSync(
    '/bin/sh',
    ['-c', curlSubmit('http://h', sql).replace(/^curl/, "printf '%s\\036'")],
    { encoding: 'utf8' },
  );
  const [url, , type, , body] = words.split('\u001E');
  expect([url, type]).toEqual(['http://h/api/v1/queries/', 'Content-Type: application/json']);
  expect(JSON.parse(body ?? '')).toEqual({ sql });
  expect(curlRows('http://h', 'a/b')).toBe(`curl 'http://h/api/v1/queries/a%2Fb/rows/?format=csv'`);
  expect(fileHref('q', 'json', 10)).toBe('/api/v1/queries/q/rows/?format=json&limit=10');
});

test('a problem of a text asked once lies where it lies in the editor', () => {
  const fields = { code: 'c', message: 'm', found: '', exists: [], try: '' };
  const at = { line: 3, column: 5, length: 2 };
  expect(onceOf('SELECT 1').split('\n')).toEqual(['ONCE', 'SELECT 1']);
  expect(withoutOnce({ ...fields, position: at }).position).toEqual({ ...at, line: 2 });
  expect(withoutOnce({ ...fields, position: { ...at, line: 1 } }).position).toBeNull();
  expect(withoutOnce({ ...fields, position: null }).position).toBeNull();
});

test('what the engine holds is asked once and summed', () => {
  expect(question("o'neill").match(/q\.view = 'o''neill'/g)).toHaveLength(2);
  expect(question('v').startsWith('ONCE ')).toBe(true);
  const stands = { epoch: 1, position: 1, at_s: 0, complete_since_s: null };
  const answer = { kind: 'answer' as const, columns: [], ...stands, total: 3 };
  const rows = [
    ['EventTimeWindow', 'reading', 0, 1, 3, false],
    ['Index', 'door', 7, 2, 0, true],
    ['Scan', 'door', 5, 3, 0, false],
  ];
  const held = parts({ ...answer, rows });
  expect(held.map(({ kind, users }) => [kind, users])).toEqual([
    ['Index', 2],
    ['Scan', 3],
    ['EventTimeWindow', 1],
  ]);
  expect(summary(held)).toBe('12 rows in 2 operators and 1 index');
  expect(lateness(held)).toBe('3 late rows');
  expect(lateness([])).toBe('');
  expect(summary([])).toBe('0 rows in 0 operators');
});
