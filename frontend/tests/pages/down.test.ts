/** What of the service is down is said in plain sentences, and taken back when it is up again. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Down from '../../src/panels/Down.svelte';
import { one } from '../page';

let down: string[];
let asked: string[];
let broken: boolean;
let part: object;

beforeEach(() => {
  vi.useFakeTimers();
  [down, asked, broken] = [[], [], false];
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url);
    return Promise.resolve(
      new Response(JSON.stringify({ engine: 'live', down }), { status: broken ? 503 : 200 }),
    );
  });
  document.body.innerHTML = '<main></main>';
});

afterEach(() => {
  void unmount(part);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function after(waitMs: number): Promise<string[]> {
  await vi.advanceTimersByTimeAsync(waitMs);
  flushSync();
  return [...document.querySelectorAll('[data-testid=down] p')].map((said) => said.textContent);
}

function show(): void {
  part = mount(Down, { target: one('main') });
}

test('nothing is said while all is up; what is down is said, until it is up again', async () => {
  show();
  expect(await after(0)).toEqual([]);
  down = ['simulator', 'another'];
  expect(await after(10_000)).toEqual([
    'Readings are delayed: the simulator is down.',
    'Something may be delayed: another is down.',
    'All are started again without your doing anything.',
  ]);
  vi.useRealTimers();
  const rules = { region: { enabled: false }, 'page-has-heading-one': { enabled: false } };
  expect((await axe.run(document.body, { rules })).violations).toEqual([]);
});

test('what is up again is no longer named', async () => {
  down = ['simulator'];
  show();
  expect(await after(0)).toHaveLength(2);
  down = [];
  expect(await after(10_000)).toEqual([]);
  expect(asked).toEqual(['/api/v1/status/', '/api/v1/status/']);
});

test('an answer that is none changes nothing, and a page nobody looks at does not ask', async () => {
  down = ['engine'];
  show();
  const said = await after(0);
  broken = true;
  expect(await after(10_000)).toEqual(said);
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  await after(60_000);
  expect(asked).toHaveLength(2);
});
