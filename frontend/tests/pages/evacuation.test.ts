/** The panel of the ways out: what the engine says, what a drill says, by keyboard, nothing for axe to say. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EVACUATION, LAYERS } from '../../src/layers';
import EvacuationShapes from '../../src/layers/EvacuationShapes.svelte';
import { ShownLayer } from '../../src/layers/layer.svelte';
import LayerCard from '../../src/layers/LayerCard.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { BUILDING, GROUND, UPPER } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';
import { one } from '../page';

let hand: Hand;
let stores: Stores;
let parts: object[];
let layer: ShownLayer;
let sent: { url: string; body: Record<string, unknown> }[];

beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push({ url, body: JSON.parse(init.body as string) as Record<string, unknown> });
    const row = { rid: 'lab', step_free: false, lifts: false, node: 1, exit: 50, cost_mm: 20_000 };
    const answer = url.includes('weak-points')
      ? { points: [{ relation: 'door', row: { door_id: 'd1' }, lost: 2, hidden: false }], complete: true }
      : { gone: [row], come: [] };
    return Promise.resolve(new Response(JSON.stringify(answer)));
  });
  document.body.innerHTML = '<main></main><svg></svg>';
  hand = new Hand();
  stores = openStores(hand);
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  const spec = LAYERS.find(({ id }) => id === EVACUATION);
  if (!spec) throw new Error('no such layer');
  layer = new ShownLayer(spec, stores.live, stores.nav);
  stores.live.start([]);
  hand.socket.opens();
  parts = [
    mount(LayerCard, { target: one('main'), props: { layer, house: stores.house, around: stores } }),
    mount(EvacuationShapes, {
      target: document.querySelector('svg') as Element,
      props: { layer, house: stores.house, levelId: 'L0', pxPerM: 10 },
    }),
  ];
  flushSync();
});

afterEach(() => {
  for (const part of parts) void unmount(part);
  stores.live.client.stop();
  vi.unstubAllGlobals();
});

const text = (testid: string): string =>
  one(`[data-testid="${testid}"]`).textContent.replace(/\s+/g, ' ').trim();

function says(view: string, columns: string[], rows: (string | number | boolean)[][]): void {
  const id = hand.socket.asked.find((asked) => asked.view === view)?.id ?? 0;
  hand.socket.says(snapshot(id, view, 1, rows as never, columns));
}

async function open(): Promise<void> {
  stores.nav.go({ overlay: EVACUATION, from: 'lab' });
  flushSync();
  says('cut_off_room', ['rid', 'step_free', 'lifts', 'by_doors'], [['store', false, false, true]]);
  await vi.waitFor(() => {
    flushSync();
    expect(layer.table.known).toBe(true);
  });
  flushSync();
  says(
    'room_exit',
    ['rid', 'step_free', 'lifts', 'node', 'exit', 'cost_mm'],
    [
      ['lab', false, false, 1, 50, 20_000],
      ['hall', false, false, 3, 50, 9_000],
    ],
  );
  await vi.waitFor(() => {
    flushSync();
    expect(text('evacuation-weak')).toContain('Door d1');
  });
}

test('nothing is asked of the engine before it is opened', () => {
  expect(hand.socket.asked).toEqual([]);
  expect(sent).toEqual([]);
});

test('it tells who has a way out, from where one stands, and what most rooms hang on', async () => {
  await open();
  expect(text('evacuation-summary')).toBe('2 rooms with a way out under the doors as they are, 1 without.');
  says(
    'way_out_walk',
    ['step_free', 'lifts', 'node', 'next', 'cost_mm', 'level_id', 'x_m', 'y_m'],
    [
      [false, false, 1, 2, 20_000, 'L0', 10, 15],
      [false, false, 2, 50, 12_000, 'L0', 10, 7],
      [true, false, 1, 51, 1_000, 'L0', 10, 15],
    ],
  );
  await vi.waitFor(() => {
    flushSync();
    expect(
      [...document.querySelectorAll('[data-testid=way-out-step]')].map((li) => li.textContent.trim()),
    ).toEqual([
      'Start at Room H1, floor Ground',
      'Go straight 8 m through Room H1',
      'Turn right and go 10 m along the corridor',
      'Arrive at exit Main',
    ]);
  });
  expect(text('evacuation-here')).toBe('From Room H1 to exit Main, floor Ground: 20 m.');
  expect(text('cut-by-doors')).toContain('Cut off by locked doors: one room');
  expect(text('evacuation-weak')).toContain('Door d1 without it 2 rooms without a way out');
  expect(document.querySelectorAll('.cut')).toHaveLength(1);
  expect(document.querySelectorAll('.exit')).toHaveLength(2);
  expect(sent[0]?.body).toMatchObject({ view: 'leavable_room', among: ['door', 'riser_step'] });
  const rules = { runOnly: ['wcag2a', 'wcag2aa'], rules: { 'color-contrast': { enabled: false } } };
  expect((await axe.run(one('main'), rules)).violations).toEqual([]);
});

test('a drill supposes that a door is closed, and locks nothing', async () => {
  await open();
  const field = one('[data-testid=drill-door]') as HTMLInputElement;
  field.value = 'd1';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  flushSync();
  one('[data-testid=drill]').click();
  await vi.waitFor(() => {
    flushSync();
    expect(text('drill-answer')).toContain('One room would be cut off');
  });
  expect(text('drill-answer')).toContain('Cut off: Room H1');
  expect(text('drill-answer')).toContain('Nothing was locked.');
  expect(sent.at(-1)).toEqual({
    url: '/api/v1/queries/what-if/',
    body: {
      view: 'room_exit',
      row: { step_free: false, lifts: false },
      updates: "UPDATE door SET state = 'locked' WHERE door_id = 'd1'",
    },
  });
});
