/** Alarms on the page: listed, marked, counted, told once, and seen to by staff; nothing for axe. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import AlarmShapes from '../../src/map/AlarmShapes.svelte';
import { Scale } from '../../src/map/scale.svelte';
import Alarms from '../../src/panels/Alarms.svelte';
import Details from '../../src/panels/Details.svelte';
import FloorSwitcher from '../../src/panels/FloorSwitcher.svelte';
import ListView from '../../src/panels/ListView.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import type { Row } from '../../src/wire/protocol';
import { one } from '../page';
import { alarmRow, BUILDING, COLUMNS, GROUND, UPPER } from '../store/scene';
import { delta, Hand, snapshot } from '../wire/hand';

const TOLD = {
  ...{ id: 1, title: 'too warm', kind: 'threshold', severity: 'critical', rid: 'lab', mid: '', door_id: '' },
  ...{ value: 24, unit: '°C', message: '', raised_s: 10, cleared_s: 70 },
  ...{ acknowledged_by: 'gate', assigned_to: 'gate' },
};
const EVENTS = [
  { at_s: 10, what: 'raised', account: '', whom: '' },
  { at_s: 20, what: 'assigned', account: 'gate', whom: 'ann' },
];

let hand: Hand;
let stores: Stores;
let parts: object[] = [];
let sent: [string, string, unknown][];

function answer(url: string): object {
  if (url.endsWith('/me/')) return { username: 'gate' };
  if (/alarms\/\d+\/$/.test(url)) return { ...TOLD, events: EVENTS };
  return { count: 1, results: [TOLD] };
}

beforeEach(() => {
  sessionStorage.clear();
  sent = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push([init.method ?? 'GET', url, init.body === undefined ? null : JSON.parse(init.body as string)]);
    return Promise.resolve(new Response(JSON.stringify(answer(url))));
  });
  document.body.innerHTML = '<main></main><div id="floors"></div><svg class="plan" id="map"></svg>';
  hand = new Hand();
  stores = openStores(hand);
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  stores.nav.address = { ...stores.nav.address, level: 'L0' };
  stores.live.start(['active_alarm']);
  hand.socket.opens();
});

afterEach(() => {
  for (const part of parts) void unmount(part);
  parts = [];
  stores.live.client.stop();
  vi.unstubAllGlobals();
});

function open(staff = false): void {
  parts = [
    mount(Alarms, { target: one('main'), props: { ...stores, staff } }),
    mount(FloorSwitcher, { target: one('#floors'), props: { ...stores, alarmsOf: stores.live } }),
    mount(AlarmShapes, {
      target: document.getElementById('map') as Element,
      props: { ...stores, scale: new Scale() },
    }),
  ];
}

const id = (): number => hand.socket.asked.find(({ view }) => view === 'active_alarm')?.id ?? 0;
const shown = (): string[] =>
  [...document.querySelectorAll('[data-testid="alarm"]')].map((item) =>
    item.textContent.replace(/\s+/g, ' '),
  );
const announced = (): string => one('[data-testid="alarm-announcer"]').textContent;

async function stand(...rows: Row[]): Promise<void> {
  hand.socket.says(snapshot(id(), 'active_alarm', 1, rows as never, COLUMNS.active_alarm));
  await vi.waitFor(() => {
    flushSync();
    expect(shown()).toHaveLength(rows.length);
  });
}

async function change(epoch: number, gone: Row, come: Row, says: string): Promise<void> {
  hand.socket.says(
    delta(id(), epoch - 1, epoch, [
      [-1, ...gone],
      [1, ...come],
    ] as never),
  );
  await vi.waitFor(() => {
    flushSync();
    expect(shown().join()).toContain(says);
  });
}

test('an alarm is listed, marked at its room and counted on its floor', async () => {
  open();
  await stand(alarmRow(1), alarmRow(2, { rid: 'hall1', level_id: 'L1', severity: 'info', mid: 'm4' }));
  expect(shown()[0]).toMatch(/too warm Critical Room H1 26.4 °C, .* since/);
  const marked = [...document.querySelectorAll('[data-testid="alarm-mark"]')];
  expect(marked.map((mark) => [mark.getAttribute('data-key'), mark.getAttribute('data-look')])).toEqual([
    ['room:lab', 'critical'],
  ]);
  expect(one('[data-testid="alarms-0"]').textContent).toBe('▲ 1');
  expect(one('[data-level="L0"]').textContent).toContain('one alarm');
  one('[data-testid="alarm-place"]').click();
  expect(stores.nav.address).toMatchObject({ select: 'room:lab', level: 'L0' });
  expect((await axe.run(document.body, { rules: { region: { enabled: false } } })).violations).toEqual([]);
});

test('the list and the details say which alarms stand there', async () => {
  stores.nav.address = { ...stores.nav.address, select: 'room:lab' };
  open();
  parts.push(
    mount(ListView, { target: one('main'), props: { ...stores } }),
    mount(Details, { target: one('main'), props: { ...stores, staff: false } }),
  );
  await stand(alarmRow(1, { rid: 'lab', value: 27 }));
  const here = (place: string): string[] =>
    [...one(place).querySelectorAll('[data-testid=alarm-here]')].map((item) => item.textContent.trim());
  expect(here('[data-testid=list-room-lab]')).toEqual(['Critical: too warm, 27 °C']);
  expect(here('[data-testid=details]')).toEqual(['Critical: too warm, 27 °C']);
  expect(document.querySelectorAll('[data-testid=alarm-here]')).toHaveLength(2);
});

test('it is told once: not for a new value, a new connection or a new page', async () => {
  open();
  await stand(alarmRow(1));
  expect(announced()).toBe('Critical alarm: too warm, Room H1, 26.4 °C.');
  const region = one('[data-testid="alarm-announcer"]');
  expect(region.getAttribute('aria-live')).toBe('assertive');
  const words: string[] = [];
  new MutationObserver(() => words.push(announced())).observe(region, {
    characterData: true,
    childList: true,
    subtree: true,
  });
  await change(2, alarmRow(1), alarmRow(1, { value: 27.5, changed_s: 200 }), '27.5 °C');
  hand.socket.dies();
  hand.pass(60_000);
  hand.socket.opens();
  await stand(alarmRow(1, { value: 28 }));
  expect(words).toEqual([]);
  for (const part of parts) void unmount(part);
  document.body.innerHTML = '<main></main><div id="floors"></div><svg class="plan" id="map"></svg>';
  open();
  flushSync();
  expect(announced()).toBe('');
});

test('what is acknowledged and what is muted look and read otherwise', async () => {
  open();
  const untilS = Date.now() / 1000 + 3600;
  await stand(
    alarmRow(1, { acknowledged: true, assigned: true }),
    alarmRow(2, { muted_until_s: untilS }),
    alarmRow(3, { kind: 'no data' }),
  );
  const items = shown().sort();
  expect(items.find((text) => text.includes('✓ Acknowledged'))).toContain('Somebody is seeing to it');
  expect(items.find((text) => text.includes('Muted until'))).toBeDefined();
  expect(items.find((text) => text.includes('No data'))).toContain('the last value was 26.4 °C');
  expect(one('h2').textContent).toMatch(/3 alarms\s*2 taken note of, or muted/);
  expect(one('.alarm.muted').dataset.id).toBe('2');
  expect(document.querySelector('[data-testid="alarm-acknowledge"]')).toBeNull();
});

test('staff acknowledge, mute, assign and end, and see by whom', async () => {
  open(true);
  await stand(alarmRow(1, { acknowledged: true, assigned: true, kind: 'no data' }));
  await vi.waitFor(() => {
    flushSync();
    expect(one('[data-testid="alarm-acknowledged"]').textContent).toContain('by gate');
  });
  expect(one('[data-testid="alarm-assigned"]').textContent).toContain(': gate');
  sent = [];
  for (const [count, button] of ['acknowledge', 'mute-28800', 'assign', 'end'].entries()) {
    await vi.waitFor(() => {
      one(`[data-testid="alarm-${button}"]`).click(); // one deed after the other
      expect(sent).toHaveLength(count + 1);
    });
  }
  expect(sent).toEqual([
    ['PATCH', '/api/v1/alarms/1/', { acknowledged: false }],
    ['PATCH', '/api/v1/alarms/1/', { muted_for_s: 28_800 }],
    ['PATCH', '/api/v1/alarms/1/', { assigned_to: null }],
    ['DELETE', '/api/v1/alarms/1/', null],
  ]);
  expect((await axe.run(document.body, { rules: { region: { enabled: false } } })).violations).toEqual([]);
});

test('history says what happened, and which alarms there were', async () => {
  open();
  await stand(alarmRow(1));
  (one('.alarm .events') as HTMLDetailsElement).open = true;
  await vi.waitFor(() => {
    flushSync();
    expect(one('.alarm .events ol').textContent).toMatch(/: raised.*: assigned: ann, by gate/);
  });
  (one('.past') as HTMLDetailsElement).open = true;
  await vi.waitFor(() => {
    flushSync();
    expect(one('[data-testid="past-alarm"]').textContent.replace(/\s+/g, ' ')).toMatch(
      /too warm \(Critical\) Room H1 24 °C from .*, 60 s/,
    );
  });
  expect(sent.some(([, url]) => url.includes('state=cleared'))).toBe(true);
});
