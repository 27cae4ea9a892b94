/** The buttons that suppose and that ask why not: what they send, what they say, and axe's silence. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Details from '../../src/panels/Details.svelte';
import WhatIf from '../../src/panels/WhatIf.svelte';
import WhyNot from '../../src/panels/WhyNot.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { BUILDING, COLUMNS, GROUND, ROWS, UPPER } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';
import { one } from '../page';

let part: object;
let sent: unknown[];
let answer: () => Response;
let hand: Hand;
let stores: Stores;

beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push([url, JSON.parse(init.body as string)]);
    return Promise.resolve(answer());
  });
  document.body.innerHTML = '<main></main>';
  hand = new Hand();
  stores = openStores(hand);
  stores.route.session = 'mine';
});

afterEach(() => {
  void unmount(part);
  vi.unstubAllGlobals();
});

const main = (): Element => one('main');
const json =
  (body: unknown, status = 200) =>
  (): Response =>
    new Response(JSON.stringify(body), { status });

async function press(testid: string): Promise<void> {
  const button = one(`[data-testid="${testid}"]`);
  button.click();
  flushSync();
  await vi.waitFor(() => {
    expect(button.getAttribute('aria-disabled')).toBe('false');
  });
  flushSync();
}

async function quiet(): Promise<void> {
  const rules = { runOnly: ['wcag2a', 'wcag2aa'], rules: { 'color-contrast': { enabled: false } } };
  expect((await axe.run(main(), rules)).violations).toEqual([]);
}

test('supposes that a door closes, for this visitor', async () => {
  part = mount(WhatIf, { target: main(), props: { ...stores, doorId: 'd1', state: 'locked' } });
  flushSync();
  answer = json({ gone: [{ target: 'm1', cost_mm: 1 }], come: [] });
  await press('what-if');
  expect(sent).toEqual([
    [
      '/api/v1/queries/what-if/',
      {
        view: 'nearest_destination',
        row: { session: 'mine' },
        updates: "UPDATE door SET state = 'locked' WHERE door_id = 'd1'",
      },
    ],
  ]);
  expect(main().textContent).toContain('Then nothing that answers could be reached.');
  await quiet();
  answer = json({ code: 'x', message: 'no answer', try: 'again' }, 503);
  await press('what-if');
  expect(main().textContent).toContain('no answer; again');
});

test('has nothing to suppose while nothing was asked', () => {
  stores.route.session = null;
  part = mount(WhatIf, { target: main(), props: { ...stores, doorId: 'd1', state: 'open' } });
  flushSync();
  expect(document.querySelector('[data-testid="what-if"]')).toBeNull();
});

test('asks why a machine is not free, tells, and folds away again', async () => {
  part = mount(WhyNot, { target: main(), props: { ...stores, mid: 'm1' } });
  flushSync();
  const edit = {
    action: 'insert',
    relation: 'seat_reading',
    before: null,
    hidden: false,
    after: { mid: 'm1', weight_kg: { open: 'weight_kg' } },
  };
  answer = json({ repairs: [{ edits: [edit], conditions: ['weight_kg < 5.0'] }], complete: true });
  await press('why-not');
  expect(sent).toEqual([['/api/v1/queries/why-not/', { view: 'free_machine', row: { mid: 'm1' } }]]);
  expect(main().textContent).toContain('the seat at m1 read less than 5 kg');
  await quiet();
  await press('why-not');
  expect(main().textContent).not.toContain('seat');
  expect(sent).toHaveLength(1);
});

test('an answer that comes when another door is shown reads nothing of the first', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  let come = (): void => undefined;
  vi.stubGlobal(
    'fetch',
    () =>
      new Promise(
        (resolve) =>
          (come = () => {
            resolve(json({ gone: [], come: [] })());
          }),
      ),
  );
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  const end = stores.live.start();
  hand.socket.opens();
  const id = hand.socket.asked.find(({ view }) => view === 'door_state')?.id ?? 0;
  hand.socket.says(snapshot(id, 'door_state', 1, (ROWS.door_state ?? []) as never, COLUMNS.door_state));
  stores.nav.go({ select: 'door:d1' });
  part = mount(Details, { target: main(), props: { ...stores, staff: false } });
  await vi.waitFor(() => {
    one('[data-testid="door-hangs"]').click();
  });
  stores.nav.go({ select: null });
  flushSync();
  come();
  await new Promise((resolve) => setTimeout(resolve));
  expect(warned).not.toHaveBeenCalled();
  end();
  stores.nav.go({ select: null, level: null });
});
