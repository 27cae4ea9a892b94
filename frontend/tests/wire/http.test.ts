import { afterEach, expect, test, vi } from 'vitest';
import { http, Problem } from '../../src/api/http';

const late = { code: 'smartcis.why.no_answer', message: 'the engine did not answer', try: 'again soon' };
const given = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });

function server(...answers: Response[]) {
  const asked = vi.fn(() => Promise.resolve(answers.shift() ?? given(500, {})));
  vi.stubGlobal('fetch', asked);
  vi.stubGlobal('document', { cookie: 'csrftoken=t', documentElement: { lang: 'en' } });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a busy engine is asked again', async () => {
  const asked = server(given(503, late), given(200, { rows: [] }));
  expect(await http.ask('queries/why/', {})).toEqual({ rows: [] });
  expect(asked).toHaveBeenCalledTimes(2);
});

test('and given up in the end, with what to try', async () => {
  const asked = server(given(503, late), given(503, late), given(503, late), given(200, {}));
  const problem = await http.ask('queries/why/', {}).catch((error: unknown) => error as Problem);
  expect((problem as Problem).said).toBe('the engine did not answer; again soon');
  expect(asked).toHaveBeenCalledTimes(3);
});

test('a refusal is not asked again, nor is anything that changes the building', async () => {
  const asked = server(given(404, { ...late, code: 'smartcis.why.not_there' }), given(503, late));
  await expect(http.ask('queries/why/', {})).rejects.toThrow(Problem);
  await expect(http.post('doors/', {})).rejects.toThrow(Problem);
  expect(asked).toHaveBeenCalledTimes(2);
});
