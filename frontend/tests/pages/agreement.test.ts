/** The map and the list are two drawings of one store: they must say the same. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import PlanShapes from '../../src/map/PlanShapes.svelte';
import { Scale } from '../../src/map/scale.svelte';
import ListView from '../../src/panels/ListView.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { SHARED_VIEWS } from '../../src/store/views';
import { delta, Hand, snapshot } from '../wire/hand';
import { BUILDING, COLUMNS, GROUND, ROWS, UPPER } from '../store/scene';
import { elementAt } from '../../src/lists';
import { one } from '../page';

let hand: Hand;
let stores: Stores;
let parts: object[];
let scale: Scale;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<svg class="plan" id="map"></svg><div id="list"></div>';
  hand = new Hand();
  stores = openStores(hand);
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  stores.live.start();
  hand.socket.opens();
  hand.socket.asked.forEach(({ id, view }, i) => {
    const name = elementAt(SHARED_VIEWS, i);
    expect(view).toBe(name);
    hand.socket.says(snapshot(id, view, 1, (ROWS[name] ?? []) as (string | number)[][], COLUMNS[name]));
  });
  vi.advanceTimersByTime(100);
  scale = new Scale();
  parts = [
    mount(PlanShapes, {
      target: document.getElementById('map') as Element,
      props: { ...stores, scale, moved: () => false },
    }),
    mount(ListView, { target: document.getElementById('list') as Element, props: stores }),
  ];
  flushSync();
});

afterEach(() => {
  for (const part of parts) void unmount(part);
  stores.live.client.stop();
  vi.useRealTimers();
});

function states(prefix: string): Record<string, string | null> {
  const found: Record<string, string | null> = {};
  for (const element of document.querySelectorAll(`[data-testid^="${prefix}"]`)) {
    const id = element.getAttribute('data-testid')?.slice(prefix.length) ?? '';
    found[id] = `${element.getAttribute('data-state')} ${element.getAttribute('data-reason') ?? ''}`.trim();
  }
  return found;
}

function both(
  kind: 'machine' | 'room' | 'door',
): [Record<string, string | null>, Record<string, string | null>] {
  const map: Record<string, string | null> = {};
  for (const level of BUILDING.levels) {
    stores.nav.address = { ...stores.nav.address, level: level.id };
    flushSync();
    Object.assign(map, states(`${kind}-`));
  }
  return [map, states(`list-${kind}-`)];
}

test.each(['machine', 'room', 'door'] as const)('every %s has the same state in both', (kind) => {
  const [map, list] = both(kind);
  expect(Object.keys(map).length).toBeGreaterThan(1);
  expect(list).toEqual(map);
});

test('a change reaches both', () => {
  const id = hand.socket.asked.find((s) => s.view === 'machine_state')?.id ?? 0;
  const changes: [number, ...string[]][] = [
    [-1, 'm1', 'free', ''],
    [1, 'm1', 'in use', 'cpu'],
  ];
  hand.socket.says(delta(id, 1, 2, changes));
  vi.advanceTimersByTime(100);
  flushSync();
  const [map, list] = both('machine');
  expect(map.m1).toBe('in-use cpu');
  expect(list).toEqual(map);
});

test('what is free behind a locked door looks free in neither', () => {
  const id = hand.socket.asked.find((s) => s.view === 'locked_room')?.id ?? 0;
  hand.socket.says(delta(id, 1, 2, [[1, 'lab']]));
  vi.advanceTimersByTime(100);
  flushSync();
  expect(one('[data-testid=machine-m1] use').getAttribute('href')).toBe('#symbol-locked');
  expect(one('[data-testid=machine-m1]').getAttribute('aria-label')).toContain('behind a locked door');
  expect(one('[data-testid=list-machine-m1] .state').textContent).toBe('free, but behind a locked door');
  expect(one('[data-testid=list-floor-0] summary').textContent).toContain(
    '1 of 3 machines free, but behind a locked door',
  );
  scale.pxPerM = 3;
  flushSync();
  expect(one('.badge').textContent).toBe('1 free, locked');
});

test('every shape has a name made of type, name and state', () => {
  for (const shape of document.querySelectorAll('#map [role=button]')) {
    expect(shape.getAttribute('aria-label')).toMatch(/^(Room|Corridor|Lift|Machine|Door) ?/);
  }
  expect(document.querySelector('[data-testid=machine-m2]')?.getAttribute('aria-label')).toContain('in use');
});

test('one tab stop per kind, and arrow keys walk to the neighbour', () => {
  const stops = document.querySelectorAll('#map .machines [tabindex="0"]');
  expect(stops).toHaveLength(1);
  const first = stops[0] as SVGElement;
  first.focus();
  first.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
  flushSync();
  expect(document.activeElement?.id).toBe('machine-m2');
  expect(document.querySelectorAll('#map .machines [tabindex="0"]')).toHaveLength(1);
});

test('Enter opens what is focused', () => {
  const shape = one('[data-testid=machine-m1]');
  shape.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  flushSync();
  expect(stores.selection.selected).toMatchObject({ kind: 'machine', machine: { mid: 'm1' } });
  expect(location.search).toContain('select=machine');
});
