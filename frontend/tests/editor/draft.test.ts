/** The editor's store: what is drawn, undone, kept by the browser and sent. */
import { beforeEach, expect, test, vi } from 'vitest';

const { kept } = vi.hoisted(() => ({ kept: new Map<string, unknown>() }));
vi.mock('idb-keyval', () => ({
  get: (key: string) => Promise.resolve(kept.get(key)),
  set: (key: string, value: unknown) => Promise.resolve(kept.set(key, value)),
  del: (key: string) => Promise.resolve(kept.delete(key)),
}));

import { Draft } from '../../src/editor/draft.svelte';
import type { Geometry } from '../../src/editor/drawing';

const SQUARE: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [9, 48],
      [9.0001, 48],
      [9.0001, 48.0001],
      [9, 48],
    ],
  ],
};
const THERE = {
  type: 'FeatureCollection',
  id: 'house',
  name: 'House',
  attribution: '',
  origin: [9, 48],
  levels: [{ ordinal: 0, name: 'Ground floor' }],
  features: [
    {
      type: 'Feature',
      id: 'a',
      geometry: SQUARE,
      properties: { level: 0, name: 'A', category: 'office', smartcis: { is: 'unit', rid: 'A' } },
    },
  ],
};

let answers: Record<string, { status: number; body: unknown }>;
let sent: { path: string; body: unknown }[];

beforeEach(() => {
  kept.clear();
  sent = [];
  answers = { 'building/export/?format=geojson': { status: 200, body: THERE } };
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const path = url.replace('/api/v1/', '');
    sent.push({ path, body: init.body });
    const { status, body } = answers[path] ?? { status: 404, body: {} };
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
});

async function opened(): Promise<Draft> {
  const draft = new Draft();
  await draft.load();
  return draft;
}

test('the building that is there is opened, and nothing is to be sent', async () => {
  const draft = await opened();
  expect(draft.plan?.name).toBe('House');
  expect(draft.here.map(({ id }) => id)).toEqual(['a']);
  expect(draft.changed).toBe(false);
});

test('it opens on the floor with most rooms, or on the one drawn on last', async () => {
  const [room] = THERE.features;
  const upstairs = ['b', 'c'].map((id) => ({
    ...room,
    id,
    properties: { ...room?.properties, level: 2, smartcis: { is: 'unit', rid: id } },
  }));
  const levels = [0, 1, 2].map((ordinal) => ({ ordinal, name: `Floor ${ordinal}` }));
  const body = { ...THERE, levels, features: [...THERE.features, ...upstairs] };
  answers['building/export/?format=geojson'] = { status: 200, body };
  const draft = await opened();
  expect(draft.level).toBe(2);
  draft.level = 1;
  draft.add('office', [1], SQUARE);
  expect((await opened()).level).toBe(1);
  await draft.discard();
  expect(draft.level).toBe(1);
});

test('each stroke can be undone and done again', async () => {
  const draft = await opened();
  draft.add('office', [0], SQUARE);
  const [, made] = draft.here;
  if (!made) throw new Error('nothing was drawn');
  draft.rename(made, 'Library');
  draft.remove(made);
  expect(draft.here).toHaveLength(1);
  draft.undo();
  draft.undo();
  expect(draft.here.map(({ properties }) => properties.name)).toEqual(['A', null]);
  draft.redo();
  expect(draft.here.map(({ properties }) => properties.name)).toEqual(['A', 'Library']);
  draft.undo();
  draft.undo();
  expect(draft.plan).toEqual(THERE);
});

test('a draft outlives the page, and says when the building has changed meanwhile', async () => {
  (await opened()).add('office', [0], SQUARE);
  const again = await opened();
  expect([again.here.length, again.restored, again.stale, again.changed]).toEqual([2, true, false, true]);
  answers['building/export/?format=geojson'] = { status: 200, body: { ...THERE, name: 'Renamed' } };
  expect((await opened()).stale).toBe(true);
  await again.discard();
  expect([again.here.length, again.restored]).toEqual([1, false]);
});

test.each([
  ['ready', 2],
  ['refused', 2],
  ['accepted', 1],
  ['undone', 1],
])('what was sent is done with when it is taken: %s', async (state, rooms) => {
  answers['imports/'] = { status: 202, body: { id: 7, state: 'reading' } };
  const draft = await opened();
  draft.add('office', [0], SQUARE);
  expect(await draft.save()).toBe('/admin/smartcis/buildingimport/7/change/');
  const form = sent.find(({ path }) => path === 'imports/')?.body as FormData;
  const file = JSON.parse(await (form.get('file') as File).text()) as typeof THERE;
  expect(file.features.map(({ id }) => id)).toEqual(draft.here.map(({ id }) => id));
  answers['imports/7/'] = { status: 200, body: { id: 7, state } };
  expect((await opened()).here).toHaveLength(rooms);
});

test('what is refused is told, and nothing is lost', async () => {
  answers['imports/'] = { status: 503, body: { code: 'x', message: 'the broker is away' } };
  const draft = await opened();
  draft.add('office', [0], SQUARE);
  expect(await draft.save()).toBeNull();
  expect(draft.problem?.fields.message).toBe('the broker is away');
  expect((await opened()).here).toHaveLength(2);
});

test('where no building is, one is begun', async () => {
  answers = {};
  const draft = await opened();
  expect(draft.plan).toBeNull();
  draft.begin('Altes Schloß', [9, 48]);
  expect(draft.plan).toMatchObject({ id: 'altes-schlo', name: 'Altes Schloß', origin: [9, 48] });
  draft.addFloor({ ordinal: 1, name: 'Upstairs' });
  draft.addFloor({ ordinal: 1, name: 'Twice' });
  expect(draft.floors.map(({ name }) => name)).toEqual(['Upstairs', 'Ground floor']);
  expect(draft.level).toBe(1);
});

test('rooms that share no wall are not joined', async () => {
  const draft = await opened();
  draft.add('office', [0], {
    type: 'Polygon',
    coordinates: [
      [
        [9.001, 48],
        [9.0011, 48],
        [9.0011, 48.0001],
        [9.001, 48],
      ],
    ],
  });
  const [one, other] = draft.here;
  if (!one || !other) throw new Error('two rooms are needed');
  draft.join(one, other);
  expect(draft.said).toContain('do not lie wall to wall');
  expect(draft.here).toHaveLength(2);
});
