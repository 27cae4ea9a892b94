/** The workbench's store: what is sent for which button, and what is never sent. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Editor } from '../../src/workbench/editor';
import { Workbench } from '../../src/workbench/bench.svelte';
import { delta, Hand, snapshot } from '../wire/hand';

const QUERY = { id: 'q1', name: null, sql: 'SELECT 1', state: 'running', columns: [], mine: true };
const REFUSED = {
  code: 'aspen.bind.unknown_column',
  message: 'no',
  position: { line: 2, column: 8, length: 1 },
  found: 'x',
  exists: ['y'],
  try: 'y',
};

let hand: Hand;
let bench: Workbench;
let text: string;
let marked: unknown;
let sent: { method: string; path: string; body: { sql?: string; name?: string } }[];
let answers: Record<string, { status: number; body: unknown }>;
let end: () => void;
let warnings: object[];

function answer(path: string, method: string): { status: number; body: unknown } {
  const found = answers[`${method} ${path}`] ?? answers[path];
  if (found) return found;
  if (path === 'queries/check/')
    return { status: 200, body: { ok: true, kind: kindOf(text), columns: [], ways: waysOf(text), warnings } };
  if (path.startsWith('queries/?')) return { status: 200, body: { results: [] } };
  if (path === 'queries/' && method === 'POST') return { status: 201, body: QUERY };
  if (path === 'queries/q1/') return { status: 200, body: QUERY };
  return { status: 200, body: [] };
}

const kindOf = (sql: string): string =>
  sql.startsWith('ONCE') ? 'once' : sql.startsWith('SELECT') ? 'query' : 'DROP';
const waysOf = (sql: string): object => ({
  live: sql.startsWith('SELECT') ? '' : 'not live',
  once: /^(SELECT|ONCE)/.test(sql) ? '' : 'not once',
});

beforeEach(() => {
  sent = [];
  answers = {};
  marked = null;
  warnings = [];
  text = 'SELECT 1';
  history.replaceState(null, '', '/queries/');
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const path = url.replace('/api/v1/', '');
    const method = init.method ?? 'GET';
    sent.push({ method, path, body: JSON.parse((init.body ?? '{}') as string) as { sql?: string } });
    const { status, body } = answer(path, method);
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  hand = new Hand();
  bench = new Workbench(hand);
  const editor: Editor = {
    text: () => text,
    replace: (given) => {
      text = given;
    },
    mark: (problem) => {
      marked = problem;
    },
    fix: () => undefined,
    catalogue: () => undefined,
    focus: () => undefined,
    destroy: () => undefined,
  };
  end = bench.start(editor);
});

afterEach(() => {
  end();
  vi.unstubAllGlobals();
});

const submitted = (): (string | undefined)[] =>
  sent.filter(({ method, path }) => method === 'POST' && path === 'queries/').map(({ body }) => body.sql);

const ANSWER = {
  status: 200,
  body: {
    kind: 'answer',
    columns: [{ name: 'a', type: 'INT', unit: '' }],
    rows: [[1]],
    epoch: 3,
    position: 9,
    at_s: 1,
    complete_since_s: null,
    total: 1,
  },
};

test('a text is kept running as it stands, and asked once with ONCE in front', async () => {
  await bench.run('live');
  expect(submitted()).toEqual(['SELECT 1']);
  expect(bench.current?.id).toBe('q1');
  expect(location.search).toBe('?query=q1');
  answers['POST queries/'] = ANSWER;
  await bench.run('once');
  expect(submitted()).toEqual(['SELECT 1', 'ONCE\nSELECT 1']);
  expect(text).toBe('SELECT 1');
  expect([bench.current, bench.results?.total, bench.asked, location.search]).toEqual([
    null,
    1,
    'SELECT 1',
    '',
  ]);
});

test('a verdict that comes late, of the text before, is not taken for that of this one', async () => {
  const late = bench.check();
  text = 'ONCE SELECT 2';
  bench.typed();
  await late;
  expect(bench.verdict).toBe('checking');
  answers['POST queries/'] = ANSWER;
  await bench.run('once');
  expect(submitted()).toEqual(['ONCE SELECT 2']);
});

test('neither way is ever taken for the other, not even before the text was checked', async () => {
  text = 'ONCE SELECT 1';
  bench.typed();
  await bench.run('live');
  expect(submitted()).toEqual([]);
  expect(bench.said).toContain('not live');
  answers['POST queries/'] = ANSWER;
  await bench.run('once');
  expect(submitted()).toEqual(['ONCE SELECT 1']);
  text = 'DROP TABLE t';
  bench.typed();
  await bench.run('once');
  expect(submitted()).toHaveLength(1);
  answers['queries/check/'] = { status: 429, body: REFUSED };
  text = 'SELECT 2';
  bench.typed();
  await bench.run('live');
  expect(submitted()).toHaveLength(1);
  expect(bench.refused?.code).toBe(REFUSED.code);
});

test('what is wrong with a text asked once is marked where it stands in the editor', async () => {
  answers['POST queries/'] = { status: 400, body: REFUSED };
  await bench.run('once');
  expect(marked).toMatchObject({ position: { line: 1, column: 8, length: 1 } });
});

test('the key does what the text says', async () => {
  text = 'DROP TABLE t';
  answers['POST queries/'] = {
    status: 200,
    body: { kind: 'done', statement: 'DROP', name: 't', changed: 1 },
  };
  await bench.run('text');
  expect(submitted()).toEqual(['DROP TABLE t']);
  expect(bench.done?.changed).toBe(1);
});

test('forking keeps the text and leaves the query', async () => {
  await bench.run('live');
  bench.fork();
  expect([bench.current, bench.results, text, location.search]).toEqual([null, null, 'SELECT 1', '']);
});

test('a quota says what to do', async () => {
  answers['POST queries/'] = { status: 409, body: { ...REFUSED, position: null, try: 'stop one of them' } };
  await bench.run('live');
  expect(bench.refused?.try).toBe('stop one of them');
  expect(bench.busy).toBe(false);
});

test('epochs that came summed are counted', async () => {
  await bench.run('live');
  hand.socket.opens();
  const id = hand.socket.asked.find(({ view }) => view === 'q1')?.id ?? 0;
  hand.socket.says(snapshot(id, 'q1', 1, [[1]], ['a']));
  hand.socket.says(delta(id, 1, 2, [[1, 2]]));
  expect(bench.results?.coalesced).toBe(0);
  hand.socket.says(delta(id, 2, 9, [[1, 3]], 4));
  expect(bench.results?.coalesced).toBe(3);
  hand.socket.says({ ...snapshot(id, 'q1', 12, [[1]], ['a']), merged: 2 } as never);
  expect(bench.results?.coalesced).toBe(5);
  expect(bench.results?.inserted).toBe(2);
});

test('a result says that it answers the former text from the first changed letter on', async () => {
  await bench.run('live');
  expect(bench.former).toBe(false);
  text = 'SELECT 12';
  bench.typed();
  expect([bench.former, bench.asked]).toEqual([true, 'SELECT 1']);
  text = ' SELECT 1\n';
  bench.typed();
  expect(bench.former).toBe(false);
  bench.load('SELECT 3');
  expect(bench.former).toBe(true);
  bench.load(bench.asked);
  expect([text, bench.former]).toEqual(['SELECT 1', false]);
});

test('a text that is changed while its answer is on the way is the former one when it comes', async () => {
  const coming = bench.run('live');
  text = 'SELECT 2';
  bench.typed();
  await coming;
  expect([bench.asked, bench.former]).toEqual(['SELECT 1', true]);
});

test('what a statement changed, and what an explanation tells, belong to their texts, too', async () => {
  answers['POST queries/'] = {
    status: 200,
    body: { kind: 'done', statement: 'DROP', name: 't', changed: 1 },
  };
  await bench.run('text');
  await bench.explain();
  expect([bench.former, bench.explained]).toEqual([false, 'SELECT 1']);
  text = 'SELECT 2';
  bench.typed();
  expect([bench.former, bench.explained]).toEqual([true, 'SELECT 1']);
});

test('what gives very many rows runs only when somebody says so once more', async () => {
  warnings = [{ message: 'nothing ties a to b', position: null, try: 'add a condition', large: true }];
  bench.typed();
  await bench.run('live');
  expect([submitted(), bench.asking]).toEqual([[], 'live']);
  expect(bench.warnings.map(({ message }) => message)).toEqual(['nothing ties a to b']);
  await bench.run('text');
  expect([submitted(), bench.asking]).toEqual([[], 'text']);
  await bench.run('live', true);
  expect([submitted(), bench.asking]).toEqual([['SELECT 1'], null]);
});

test('another text takes the question back, and few rows are warned of without one', async () => {
  warnings = [{ message: 'nothing ties a to b', position: null, try: 'add a condition', large: true }];
  bench.typed();
  await bench.run('live');
  warnings = [{ message: 'nothing ties c to d', position: null, try: 'add a condition', large: false }];
  text = 'SELECT 2';
  bench.typed();
  expect(bench.asking).toBe(null);
  await bench.run('live');
  expect([submitted(), bench.warnings.length]).toEqual([['SELECT 2'], 1]);
});

test('an empty editor begins with an example, a written one keeps what it has', async () => {
  answers['queries/examples/'] = {
    status: 200,
    body: ['a', 'b'].map((slug) => ({ slug, title: slug, sql: `SELECT '${slug}'` })),
  };
  await bench.loadExamples();
  expect(text).toBe('SELECT 1');
  text = '';
  await bench.loadExamples();
  expect([text, bench.examples.length]).toEqual(["SELECT 'b'", 2]);
});
