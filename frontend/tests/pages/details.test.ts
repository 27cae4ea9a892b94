/** The panels of single things: every item, its source, why something is absent; nothing for axe to say. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Details from '../../src/panels/Details.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { BUILDING, COLUMNS, GROUND, ROWS, UPPER } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';
import { one } from '../page';

const MORE: Readonly<Record<string, string[]>> = {
  machine_power: ['mid', 'source', 'watts', 'at_s'],
  machine_load: ['mid', 'cpu_pct', 'memory_pct', 'users', 'jobs', 'at_s'],
  machine_task: ['mid', 'place', 'pid', 'name', 'cpu_pct', 'memory_mb', 'watts', 'at_s'],
  room_booking: ['rid', 'moment', 'title', 'start_s', 'end_s'],
  visitors_in_room: ['rid', 'level_id', 'visitors'],
  sensor_reading: ['sid', 'value', 'unit', 'at_s'],
  mote_health: ['sid', 'parent', 'hops', 'link_quality', 'energy_mj', 'battery_pct', 'at_s'],
  mote_power: ['view', 'sid', 'level_id', 'x_m', 'y_m', 'power_mw', 'sent_bytes_per_s', 'at_s'],
};
const HOUR = {
  sid: 's1',
  name: 'Seat',
  unit: 'kg',
  simulated: true,
  period_s: 15,
  since_s: 0,
  at_s: 3600,
  samples: Array.from({ length: 25 }, (_, i) => ({ at_s: i * 60, value: i })),
};

let hand: Hand;
let stores: Stores;
let part: object;

beforeEach(() => {
  vi.stubGlobal('fetch', (url: string) =>
    Promise.resolve(new Response(JSON.stringify(url.includes('/hour/') ? HOUR : { results: [] }))),
  );
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  document.body.innerHTML = '<main></main>';
  hand = new Hand();
  stores = openStores(hand);
  stores.house.building = BUILDING;
  stores.house.plans = [GROUND, UPPER];
  stores.live.start();
  hand.socket.opens();
  stores.live.nowS = 1010;
  part = mount(Details, { target: one('main'), props: { ...stores, staff: false } });
});

afterEach(() => {
  void unmount(part);
  stores.live.client.stop();
  vi.unstubAllGlobals();
});

const text = (testid: string): string =>
  one(`[data-testid="${testid}"]`).textContent.replace(/\s+/g, ' ').trim();
const followed = (view: string): boolean => hand.socket.asked.some((asked) => asked.view === view);

async function says(rows: Readonly<Record<string, (string | number)[][]>>): Promise<void> {
  const columns: Readonly<Record<string, string[]>> = { ...COLUMNS, ...MORE };
  for (const [view, given] of Object.entries({ ...(ROWS as typeof rows), ...rows })) {
    const id = hand.socket.asked.find((asked) => asked.view === view)?.id;
    if (id !== undefined) hand.socket.says(snapshot(id, view, 1, given, columns[view] ?? []));
  }
  await vi.waitFor(() => {
    expect(stores.live.table('door_state').known).toBe(true);
  });
  flushSync();
}

async function shown(key: string, rows: Readonly<Record<string, (string | number)[][]>> = {}): Promise<void> {
  stores.nav.go({ select: key });
  flushSync();
  await says(rows);
  await vi.waitFor(() => {
    flushSync();
    expect(one('main').textContent).not.toContain('Asking');
  });
}

async function quiet(): Promise<void> {
  const rules = { runOnly: ['wcag2a', 'wcag2aa'], rules: { 'color-contrast': { enabled: false } } };
  expect((await axe.run(one('main'), rules)).violations).toEqual([]);
}

test('a machine tells every item of its own, and what each task draws', async () => {
  await shown('machine:m1', {
    machine_power: [['m1', 's1', 60, 1005]],
    machine_load: [['m1', 12, 31, 1, 2, 1004]],
    machine_task: [
      ['m1', 2, 200, 'firefox', 3, 620, 15, 1004],
      ['m1', 1, 100, 'matlab', 6, 1450, 30, 1004],
    ],
  });
  expect(text('cpu-type')).toBe('AMD Ryzen 5');
  expect(text('users')).toBe('one person, 2 processes at work');
  expect(text('memory')).toBe('31 %');
  expect(text('top-tasks')).toContain('matlab 6 %, firefox 3 %');
  expect(text('top-tasks')).toContain('as the machine said just now, simulated');
  expect(one('main').textContent).toContain('60.0 W');
  await quiet();
  one('[data-testid=show-tasks]').click();
  flushSync();
  expect(text('tasks')).toContain('The machine draws 60.0 W');
  const rows = [...document.querySelectorAll('[data-testid=tasks] tbody tr')].map((row) =>
    row.textContent.replace(/\s+/g, ' ').trim(),
  );
  expect(rows[0]).toContain('matlab');
  expect(rows[0]).toContain('30.0 W');
  expect(rows[2]).toContain('15.0 W'); // everything else
  await quiet();
});

test('what no source gives is absent with a reason', async () => {
  await shown('machine:m4', { machine_power: [], machine_load: [], machine_task: [] });
  expect(text('users')).toBe('no program on it tells');
  expect(one('main').textContent).toContain('no meter, no metered outlet');
  expect(one('main').textContent).toContain('no sensor of its load');
});

test('a room tells its bookings, its people from three on, and what of it is simulated', async () => {
  await shown('room:lab', {
    room_booking: [['lab', 'next', 'Numerics', 5000, 6000]],
    visitors_in_room: [['lab', 'L0', 4]],
  });
  expect(text('booked-now')).toBe('nothing');
  expect(text('booked-next')).toContain('Numerics');
  expect(text('free-until')).toContain('until');
  expect(text('people')).toBe('4 with a tag');
  expect(text('simulated')).toBe('Seat, Temperature');
  await quiet();
  await shown('room:store', { visitors_in_room: [] });
  expect(text('people')).toContain('fewer than three');
});

test('a sensor is a thing: its battery, its link, its parent, what queries cost it', async () => {
  await shown('sensor:t1', {
    sensor_reading: [['t1', 22.5, '°C', 1000]],
    mote_health: [['t1', 't2', 3, 0.9, 54_000, 99.8, 990]],
    mote_power: [['q_1', 't1', 'L0', 0, 0, 0.25, 1, 1000]],
  });
  expect(text('sensor-state')).toBe('reporting');
  expect(text('battery')).toBe('99.8 % of two AA cells left');
  expect(text('link')).toBe('90 % of frames acknowledged, 3 links to the base station');
  expect(text('energy-per-query')).toBe('q_1: 250 µW');
  await quiet();
  one('[data-testid=parent] button').click();
  flushSync();
  expect(stores.nav.address.select).toBe('sensor:t2');
});

test('what is followed for a panel is followed while it is open, and no longer', async () => {
  expect(followed('machine_task')).toBe(false);
  await shown('machine:m1');
  expect(followed('machine_task')).toBe(true);
  const gone = hand.socket.asked.find(({ view }) => view === 'machine_task')?.id;
  stores.selection.select(null);
  flushSync();
  expect(hand.socket.sent).toContainEqual({
    type: 'unsubscribe',
    id: gone,
  });
});

test('the last hour is a line, a sentence and a table in pages', async () => {
  await shown('sensor:s1', { sensor_reading: [], mote_health: [], mote_power: [] });
  await vi.waitFor(() => {
    flushSync();
    expect(text('hour-summary')).toContain('25 readings');
  });
  expect(text('sensor-state')).toBe('never heard');
  expect(document.querySelectorAll('.hour tbody tr')).toHaveLength(10);
  expect(text('hour-page')).toBe('1 of 3');
  const older = [...document.querySelectorAll<HTMLElement>('.hour button')].at(-1);
  older?.click();
  older?.click();
  older?.click();
  flushSync();
  expect(text('hour-page')).toBe('3 of 3');
  expect(document.querySelectorAll('.hour tbody tr')).toHaveLength(5);
  await quiet();
});
