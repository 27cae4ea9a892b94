/** Overlays: rooms filled by band, the same rooms counted beside them, one at a time, in the address. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LAYERS } from '../../src/layers';
import { AIR, ENERGY, LIGHT, OCCUPANCY, TEMPERATURE } from '../../src/layers/bands';
import BandShapes from '../../src/layers/BandShapes.svelte';
import LayerCard from '../../src/layers/LayerCard.svelte';
import { ShownLayer } from '../../src/layers/layer.svelte';
import { readAddress, writeAddress } from '../../src/store/address';
import { openStores } from '../../src/store/stores';
import { one } from '../page';
import { BUILDING, GROUND } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';

let parts: object[];

beforeEach(() => {
  document.body.innerHTML = '<svg></svg><main></main>';
  parts = [];
});

afterEach(() => {
  for (const part of parts) void unmount(part);
});

test('an overlay fills rooms while it is open, and follows its view no longer than that', async () => {
  const hand = new Hand();
  const stores = openStores(hand);
  const { live, house, nav } = stores;
  house.building = BUILDING;
  house.plans = [GROUND];
  const layers = LAYERS.map((spec) => new ShownLayer(spec, live, nav));
  const layer = layers.find(({ spec }) => spec.id === 'temperature');
  const other = layers.find(({ spec }) => spec.id === 'light');
  if (!layer || !other) throw new Error('no such layers');
  live.client.start();
  hand.socket.opens();
  layer.open = true;
  parts = [
    mount(LayerCard, { target: one('main'), props: { layer, house, around: stores } }),
    mount(BandShapes, {
      target: document.querySelector('svg') as Element,
      props: { layer, house, levelId: 'L0', pxPerM: 10, banded: TEMPERATURE },
    }),
  ];
  flushSync();
  const [asked] = hand.socket.asked;
  expect(asked?.view).toBe('newest_temperature');
  const rows = [
    ['lab', 17.5, 1],
    ['store', 26, 1],
  ];
  hand.socket.says(snapshot(asked?.id ?? 0, 'newest_temperature', 1, rows, ['rid', 'celsius', 'at_s']));
  await vi.waitFor(() => {
    flushSync();
    expect(one('[data-testid=temperature-lab]').dataset.tone).toBe('lowest');
  });
  expect(one('[data-testid=temperature-store]').dataset.tone).toBe('highest');
  expect([...document.querySelectorAll('text')].map((one) => one.textContent)).toEqual([
    '17.5 °C',
    '26.0 °C',
  ]);
  expect(one('[data-testid=temperature-legend]').textContent).toMatch(/cold, below 18 °C: one room/);
  expect(one('[data-testid=temperature-legend]').textContent).toMatch(/too warm, 26 °C and above: one room/);
  const fahrenheit = one('[data-testid=temperature-unit] [value="°F"]');
  fahrenheit.click();
  flushSync();
  expect([...document.querySelectorAll('text')].map((one) => one.textContent)).toEqual([
    '63.5 °F',
    '78.8 °F',
  ]);
  expect(one('[data-testid=temperature-legend]').textContent).toMatch(/cold, below 64 °F: one room/);
  expect(localStorage.getItem('smartcis.temperature')).toBe('°F');
  one('[data-testid=temperature-unit] [value="°C"]').click();
  const rules = { runOnly: ['wcag2a', 'wcag2aa'], rules: { 'color-contrast': { enabled: false } } };
  expect((await axe.run(one('main'), rules)).violations).toEqual([]);
  other.open = true;
  flushSync();
  expect(layer.open).toBe(false);
  expect(hand.socket.sent.at(-1)?.type).toBe('unsubscribe');
  expect(writeAddress(nav.address)).toContain('overlay=light');
  expect(readAddress('?overlay=air').overlay).toBe('air');
  live.client.stop();
});

test('bands end where their words say', () => {
  expect([17.9, 18, 22.9, 25.9, 26].map((celsius) => TEMPERATURE.tone({ celsius }))).toEqual([
    'lowest',
    'low',
    'middle',
    'high',
    'highest',
  ]);
  expect([49, 50, 300, 5000].map((lux) => LIGHT.tone({ lux }))).toEqual(['lowest', 'low', 'middle', 'high']);
  expect([0, 20, 50, 100].map((taken_pct) => OCCUPANCY.tone({ taken_pct }))).toEqual([
    'lowest',
    'low',
    'high',
    'highest',
  ]);
  expect(ENERGY.figure({ watts: 512.4 })).toBe('512 W');
  expect(TEMPERATURE.tone({ celsius: null })).toBeUndefined();
});

test('bad air is told by CO₂ before humidity', () => {
  const tone = (humidity_pct: number | null, co2_ppm: number | null) => AIR.tone({ humidity_pct, co2_ppm });
  expect([tone(20, null), tone(45, null), tone(70, null), tone(null, 600), tone(null, null)]).toEqual([
    'lowest',
    'middle',
    'low',
    'middle',
    undefined,
  ]);
  expect([tone(70, 1000), tone(20, 1400)]).toEqual(['high', 'highest']);
  expect(AIR.figure({ humidity_pct: 44.6, co2_ppm: 800 })).toBe('45 %, 800 ppm');
  expect(AIR.figure({ humidity_pct: 44.6, co2_ppm: null })).toBe('45 %');
});
