/** The temperature layer: rooms filled by band, and the same rooms counted beside them. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LAYERS } from '../../src/layers';
import LayerCard from '../../src/layers/LayerCard.svelte';
import { ShownLayer } from '../../src/layers/layer.svelte';
import TemperatureShapes from '../../src/layers/TemperatureShapes.svelte';
import { openStores } from '../../src/store/stores';
import { one } from '../page';
import { BUILDING, GROUND } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';

let parts: object[];

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<svg></svg><main></main>';
  parts = [];
});

afterEach(() => {
  for (const part of parts) void unmount(part);
  vi.useRealTimers();
});

test('fills rooms by band while it is open, and follows its view no longer than that', () => {
  const hand = new Hand();
  const { live, house } = openStores(hand);
  house.building = BUILDING;
  house.plans = [GROUND];
  const spec = LAYERS.find(({ id }) => id === 'temperature');
  if (!spec) throw new Error('no temperature layer');
  const layer = new ShownLayer(spec, live);
  live.client.start();
  hand.socket.opens();
  layer.open = true;
  const svg = document.querySelector('svg') as Element;
  parts = [
    mount(LayerCard, { target: one('main'), props: { layer, house } }),
    mount(TemperatureShapes, { target: svg, props: { layer, house, levelId: 'L0', pxPerM: 10 } }),
  ];
  flushSync();
  const [asked] = hand.socket.asked;
  expect(asked?.view).toBe('newest_temperature');
  const rows = [
    ['lab', 17.5, 1],
    ['store', 26, 1],
  ];
  hand.socket.says(snapshot(asked?.id ?? 0, 'newest_temperature', 1, rows, ['rid', 'celsius', 'at_s']));
  vi.advanceTimersByTime(100);
  flushSync();
  expect(one('[data-testid=temperature-lab]').dataset.band).toBe('cold');
  expect(one('[data-testid=temperature-store]').dataset.band).toBe('hot');
  expect(one('[data-testid=temperature-legend]').textContent).toMatch(/below 18 °C: one room/);
  layer.open = false;
  flushSync();
  expect(hand.socket.sent.at(-1)?.type).toBe('unsubscribe');
  live.client.stop();
});
