/** Pages in German: all that people read on them went through the catalogue, or comes as data. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import KioskPage from '../../src/kiosk/KioskPage.svelte';
import { loadLanguage } from '../../src/language';
import MapPage from '../../src/map/MapPage.svelte';
import { openStores, type Stores } from '../../src/store/stores';
import { PROTOCOL } from '../../src/wire/protocol';
import { alarmRow, BUILDING, COLUMNS, GROUND, ROWS, UPPER } from '../store/scene';
import { Hand, snapshot } from '../wire/hand';

// What is translated is put between marks, so that the rest shows.
vi.mock(import('../../src/language'), async (original) => {
  const real = await original();
  const marked = <T extends unknown[]>(give: (...of: T) => string) => {
    return (...of: T): string => `⟦${give(...of)}⟧`;
  };
  return {
    ...real,
    t: marked(real.t as (...of: unknown[]) => string),
    n: marked(real.n as (...of: unknown[]) => string),
    word: marked(real.word),
  };
});

const SESSION = ['s', 4, 'free-machine:QGIS', false];
const VIEWS: Readonly<Record<string, readonly [string[], unknown[][]]>> = {
  machine_power: [['mid', 'source', 'watts', 'at_s'], [['m1', 's1', 60, 1005]]],
  machine_load: [['mid', 'cpu_pct', 'memory_pct', 'users', 'jobs', 'at_s'], [['m1', 12, 31, 1, 2, 1004]]],
  machine_task: [
    ['mid', 'place', 'pid', 'name', 'cpu_pct', 'memory_mb', 'watts', 'at_s'],
    [['m1', 1, 100, 'matlab', 6, 1450, 30, 1004]],
  ],
  room_booking: [
    ['rid', 'moment', 'title', 'start_s', 'end_s'],
    [
      ['lab', 'now', 'Algebra', 900, 4000],
      ['lab', 'next', 'Algebra', 5000, 8000],
    ],
  ],
  visitors_in_room: [['rid', 'level_id', 'visitors'], [['lab', 'L0', 4]]],
  sensor_reading: [['sid', 'value', 'unit', 'at_s'], [['t1', 22, '°C', 1000]]],
  mote_health: [
    ['sid', 'parent', 'hops', 'link_quality', 'energy_mj', 'battery_pct', 'at_s'],
    [['t1', 't2', 2, 0.9, 5000, 88, 1000]],
  ],
  mote_power: [
    ['view', 'sid', 'level_id', 'x_m', 'y_m', 'power_mw', 'sent_bytes_per_s', 'at_s'],
    [['q1', 't1', 'L0', 3, 3, 0.4, 1, 1000]],
  ],
  room_exit: [['rid', 'step_free', 'lifts', 'exit', 'cost_mm'], [['lab', false, false, 50, 12000]]],
  cut_off_room: [['rid', 'step_free', 'lifts', 'by_doors'], [['store', false, false, true]]],
  room_occupancy: [['rid', 'taken_pct'], [['lab', 50]]],
  room_power: [['rid', 'watts'], [['lab', 350]]],
  room_air: [['rid', 'humidity_pct', 'co2_ppm'], [['lab', 41, 1100]]],
  silent_source: [COLUMNS.silent_source, [['c1', 'Kalender', 'ics', 'lab', '', 500, '']]],
  active_alarm: [COLUMNS.active_alarm, [alarmRow(1), alarmRow(2, { kind: 'no data', severity: 'info' })]],
  nearest_destination: [COLUMNS.nearest_destination, [[...SESSION, 'm4', 'hall1', 'm4', 104, 36_000]]],
  route_step: [
    COLUMNS.route_step,
    [
      [...SESSION, 'm4', 4, 0, 'L0', 38, 7.5],
      [...SESSION, 'm4', 6, 3000, 'L1', 38, 7.5],
      [...SESSION, 'm4', 5, 23_000, 'L1', 18, 7.5],
      [...SESSION, 'm4', 104, 36_000, 'L1', 5, 7],
    ],
  ],
  route_news: [COLUMNS.route_news, [[...SESSION, 'm1', 12_000, 'm4', 36_000, 'in use', 'm1', 'seat']]],
};
const REST: Readonly<Record<string, unknown>> = {
  'building/': BUILDING,
  'levels/L0/plan/': GROUND,
  'levels/L1/plan/': UPPER,
  'routes/': { session: 's' },
  'status/': { down: ['engine', 'clock'] },
  'me/': { username: 'ann' },
  'visitors/policy/': { held_s: 5, log_keeps_s: 600, renamed_at_hour: 3 },
  'queries/weak-points/': { points: [{ relation: 'door', row: { door_id: 'd1' }, lost: 2 }], complete: true },
};

const HOUR = { unit: 'kg', period_s: 15, since_s: 0, at_s: 3600, samples: [{ at_s: 60, value: 70 }] };

let hand: Hand;
let stores: Stores;
let page: object;

beforeAll(async () => {
  document.documentElement.lang = 'de';
  await loadLanguage();
});

beforeEach(() => {
  vi.stubGlobal('fetch', (url: string) => {
    const path = url.replace('/api/v1/', '').replace(/\?.*/, '');
    const answer = path.endsWith('/hour/') ? HOUR : (REST[path] ?? { results: [], count: 0 });
    return Promise.resolve(new Response(JSON.stringify(answer)));
  });
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  history.replaceState(null, '', '/?kiosk=k1&to=free-machine%3AQGIS');
  document.body.innerHTML = '';
  hand = new Hand();
});

afterEach(async () => {
  await unmount(page);
  vi.unstubAllGlobals();
});

function connect(): void {
  hand.socket.opens();
  hand.socket.says({ type: 'welcome', protocol: PROTOCOL, epoch: 1, engine: 'live' });
}

/** Answer what the page follows until it shows a text. */
async function shows(text: string): Promise<void> {
  const answered = new Set<number>();
  await vi.waitFor(
    () => {
      for (const { id, view } of hand.socket.asked) {
        if (answered.has(id)) continue;
        answered.add(id);
        const [names, rows] = VIEWS[view] ?? [
          COLUMNS[view as keyof typeof COLUMNS],
          ROWS[view as keyof typeof ROWS] ?? [],
        ];
        hand.socket.says(snapshot(id, view, 1, rows as (string | number)[][], names));
      }
      flushSync();
      expect(document.body.textContent.replaceAll(/[⟦⟧]/g, '')).toContain(text);
    },
    { timeout: 15_000, interval: 50 },
  );
}

/** Names of this house, ids, and what is the same in both languages. */
const DATA =
  /Small house|Ground|First|Kiosk by the lift|host-m\d|Algebra|Kalender|matlab|Main|LaTeX|QGIS|AMD Ryzen|Ausgang|nobody|SELECT.*|SmartCIS|\bWC\b|\b(lab|store|hall|lift)\d?\b|°C|µW|\b(lx|kg|MB|Wh|min|ppm|km)\b|\b(ann|Jan)\b|(\w\w, )?\d\d:\d\d.*/g;

/** What is read on the page without having gone through the catalogue. */
function untranslated(): string[] {
  const found = new Set<string>();
  const judge = (text: string): void => {
    let rest = text;
    for (let before = ''; before !== rest;) {
      before = rest;
      rest = rest.replaceAll(/⟦[^⟦⟧]*⟧/g, ' ');
    }
    if (/\p{L}{2}/u.test(rest.replaceAll(DATA, ' '))) found.add(text.replaceAll(/\s+/g, ' ').trim());
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) judge(texts.currentNode.textContent ?? '');
  for (const element of document.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-description'])
      judge(element.getAttribute(name) ?? '');
  }
  return [...found];
}

test(
  'the map: a way and its news, each kind of thing, every overlay, the list',
  { timeout: 120_000 },
  async () => {
    stores = openStores(hand);
    page = mount(MapPage, { target: document.body, props: { stores, staff: true } });
    await vi.waitFor(() => {
      expect(stores.house.plans).toHaveLength(2);
    });
    connect();
    await shows('host-m1 ist nicht mehr frei (belegt: jemand sitzt dort). Jetzt host-m4, 24 m weiter.');
    await shows('Mit dem Aufzug nach oben: Etage First');
    await shows('Antworten sind verzögert: Die Auswertung steht.');
    expect.soft(untranslated()).toEqual([]);
    for (const [select, text] of [
      ['machine:m1', 'eine Person'],
      ['machine:m2', 'Warum nicht dieser?'],
      ['room:lab', '4 mit Transponder'],
      ['door:d1', 'Diese Tür verschließen'],
      ['sensor:t1', 'noch 88,0 % von zwei AA-Zellen'],
    ] as const) {
      stores.nav.go({ select });
      await shows(text);
      expect.soft(untranslated()).toEqual([]);
    }
    for (const [overlay, text] of [
      ['temperature', 'angenehm, unter 23 °C: ein Raum'],
      ['light', 'hell genug zum Lesen'],
      ['occupancy', 'mindestens die Hälfte belegt: ein Raum'],
      ['energy', '300 bis 600 W: ein Raum'],
      ['air', 'stickig, CO₂ ab 1.000 ppm: ein Raum'],
      ['evacuation', 'Durch verschlossene Türen abgeschnitten: ein Raum'],
      ['power', 'Ein Beispiel starten: warme Räume'],
    ] as const) {
      stores.nav.go({ overlay });
      await shows(text);
      expect.soft(untranslated()).toEqual([]);
    }
    stores.nav.go({ list: true });
    await shows('1 von 3 Rechnern frei, ein Raum geschlossen, eine Tür verschlossen, 4 Besucher');
    expect.soft(untranslated()).toEqual([]);
  },
);

test('the kiosk: what it offers, and the way', { timeout: 120_000 }, async () => {
  history.replaceState(null, '', '/kiosk/k1/');
  stores = openStores(hand, 'k1');
  page = mount(KioskPage, { target: document.body, props: { stores } });
  await vi.waitFor(() => {
    expect(stores.house.plans).toHaveLength(2);
  });
  connect();
  await shows('Ein freier Rechner mit …');
  expect.soft(untranslated()).toEqual([]);
  stores.nav.go({ goal: 'free-machine:QGIS' });
  await shows('Nehmen Sie den Weg mit');
  await shows('Diese Antwort bleibt aktuell');
  expect.soft(untranslated()).toEqual([]);
});
