import { afterEach, expect, test, vi } from 'vitest';
import { Problem } from '../../src/api/http';
import { getOrKept } from '../../src/store/kept';

/** The browser's cache, as far as the page uses it. */
function fakeCache(): Map<string, Response> {
  const held = new Map<string, Response>();
  const cache = {
    put: (key: string, answer: Response) => Promise.resolve(void held.set(key, answer)),
    match: (key: string) => Promise.resolve(held.get(key)?.clone()),
  };
  vi.stubGlobal('caches', { open: () => Promise.resolve(cache) });
  return held;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test('what the service says is fresh and kept; without it, the newest comes with its time', async () => {
  const held = fakeCache();
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"name":"Ulm"}')));
  expect(await getOrKept('building/')).toEqual({ value: { name: 'Ulm' }, keptAtMs: null });
  await vi.waitFor(() => {
    expect(held.size).toBe(1);
  });
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  const { value, keptAtMs } = await getOrKept('building/');
  expect(value).toEqual({ name: 'Ulm' });
  expect(Date.now() - (keptAtMs ?? 0)).toBeLessThan(10_000);
  await expect(getOrKept('levels/L9/plan/')).rejects.toThrow(Problem);
});

test('what the service refuses is not answered from what is kept', async () => {
  const held = fakeCache();
  held.set('/api/v1/building/', new Response('{}'));
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 404 })));
  await expect(getOrKept('building/')).rejects.toThrow(Problem);
});
