/** A query on the map: followed, drawn, listed, taken off; nothing for axe to say. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import LayerShapes from '../../src/map/LayerShapes.svelte';
import { Scale } from '../../src/map/scale.svelte';
import LayerPanel from '../../src/panels/LayerPanel.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { Layer } from '../../src/store/layer.svelte';
import { BUILDING, GROUND, UPPER } from '../store/scene';
import { delta, Hand, snapshot } from '../wire/hand';
import { one } from '../page';

let hand: Hand;
let stores: Stores;
let layer: Layer;
let parts: object[];
let query: object;
let nodes: Response;

beforeEach(() => {
  query = { id: 'q1', name: 'Warm hosts', sql: 'SELECT …', state: 'running', columns: [], located_by: 'mid' };
  vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
    Promise.resolve(
      init.method === 'POST'
        ? nodes
        : url.endsWith('/q1/')
          ? new Response(JSON.stringify(query))
          : new Response(
              JSON.stringify({ code: 'smartcis.actions.not_found', message: 'there is no query' }),
              { status: 404 },
            ),
    ),
  );
  document.body.innerHTML = '<main></main><svg id="map"></svg>';
  hand = new Hand();
  stores = openStores(hand);
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  stores.live.start([]);
  hand.socket.opens();
  layer = new Layer(stores.live, stores.house);
  parts = [
    mount(LayerPanel, { target: one('main'), props: { ...stores, layer } }),
    mount(LayerShapes, {
      target: document.getElementById('map') as Element,
      props: { ...stores, layer, scale: new Scale() },
    }),
  ];
});

afterEach(() => {
  layer.show(null);
  for (const part of parts) void unmount(part);
  stores.live.client.stop();
  vi.unstubAllGlobals();
});

const all = (id: string): Element[] => [...document.querySelectorAll(`[data-testid="${id}"]`)];
const id = (): number => hand.socket.asked.find(({ view }) => view === 'q1')?.id ?? 0;

async function shown(rows: string[][]): Promise<void> {
  layer.show('q1');
  await vi.waitFor(() => {
    expect(id()).toBeGreaterThan(0);
  });
  hand.socket.says(snapshot(id(), 'q1', 1, rows, ['mid', 'host']));
  await vi.waitFor(() => {
    expect(layer.known).toBe(true);
  });
  flushSync();
}

test('rows are drawn where they lie, follow the query, and are listed', async () => {
  await shown([
    ['m1', 'one'],
    ['m3', 'three'],
    ['m4', 'four'],
    ['m9', 'lost'],
  ]);
  expect(all('layer-mark').map((mark) => mark.getAttribute('aria-label'))).toEqual(['one', 'three']);
  expect(all('layer-rows')[0]?.textContent).toContain('4 rows, 1 of them nowhere');
  expect(all('layer-list')[0]?.textContent).toMatch(/one\s*three/);
  hand.socket.says(delta(id(), 1, 2, [[-1, 'm1', 'one']]));
  await vi.waitFor(() => {
    expect(layer.rows).toBe(3);
  });
  flushSync();
  expect(all('layer-mark').map((mark) => mark.getAttribute('aria-label'))).toEqual(['three']);
  const found = await axe.run(document.body, {
    rules: { region: { enabled: false }, 'page-has-heading-one': { enabled: false } },
  });
  expect(found.violations).toEqual([]);
});

test('rows on another floor only bring that floor into view, once', async () => {
  await shown([['m4', 'four']]);
  expect(stores.selection.levelId).toBe('L1');
  stores.nav.go({ level: 'L0' }, false);
  hand.socket.says(
    delta(id(), 1, 2, [
      [1, 'm1', 'one'],
      [-1, 'm1', 'one'],
    ]),
  );
  flushSync();
  expect(stores.selection.levelId).toBe('L0');
});

test('a query that is not there, or has no place, says so', async () => {
  layer.show('gone');
  await vi.waitFor(() => {
    flushSync();
    expect(all('layer-problem')[0]?.textContent).toContain('there is no query');
  });
  query = { ...query, located_by: null };
  layer.show('q1');
  await vi.waitFor(() => {
    flushSync();
    expect(all('layer-nowhere')).toHaveLength(1);
  });
  expect(hand.socket.asked).toEqual([]);
});

test('walking points, which no plan draws, are asked for once; if they cannot be had, that is said', async () => {
  query = { ...query, located_by: 'node' };
  nodes = new Response(JSON.stringify({ kind: 'answer', rows: [[7, 'L0', 3, 4]] }));
  layer.show('q1');
  await vi.waitFor(() => {
    expect(id()).toBeGreaterThan(0);
  });
  hand.socket.says(snapshot(id(), 'q1', 1, [[7, 'here']], ['node', 'what']));
  await vi.waitFor(() => {
    flushSync();
    expect(all('layer-mark').map((mark) => mark.getAttribute('aria-label'))).toEqual(['here']);
  });

  layer = new Layer(stores.live, stores.house);
  nodes = new Response(
    JSON.stringify({ code: 'smartcis.why.no_answer', message: 'the engine did not answer' }),
    { status: 503 },
  );
  layer.show('q1');
  await vi.waitFor(() => {
    expect(layer.lostNodes?.message).toBe('the engine did not answer');
  });
});

test('a stopped query is said to be stopped; taken off, nothing is left', async () => {
  await shown([['m1', 'one']]);
  hand.socket.says({ type: 'closed', id: id(), view: 'q1' });
  flushSync();
  expect(all('layer-closed')).toHaveLength(1);
  stores.nav.address = { ...stores.nav.address, layer: 'q1' };
  (all('layer-off')[0] as HTMLButtonElement).click();
  expect(stores.nav.address.layer).toBeNull();
  layer.show(null);
  flushSync();
  expect([...all('layer'), ...all('layer-panel')]).toEqual([]);
  expect(hand.socket.sent.at(-1)).toMatchObject({ type: 'unsubscribe' });
});
