/** What editing does to the features that are sent. */
import { expect, test } from 'vitest';
import {
  drawn,
  fileOf,
  joined,
  recategorised,
  renamed,
  reshaped,
  sortOf,
  title,
  without,
  type Feature,
  type Geometry,
  type Own,
} from '../../src/editor/drawing';

const SQUARE: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
};
const DOT: Geometry = { type: 'Point', coordinates: [0, 0] };

function stored(id: string, own: Own, geometry: Geometry, more: object = {}): Feature {
  return { type: 'Feature', id, geometry, properties: { level: 0, name: null, ...more, smartcis: own } };
}
const unit = (rid: string): Feature => stored(rid, { is: 'unit', rid }, SQUARE, { category: 'office' });
const door = (id: string, between: string[]): Feature => stored(id, { is: 'opening', between }, DOT);

const HOUSE = [
  unit('A'),
  unit('B'),
  unit('C'),
  door('ab', ['A', 'B']),
  door('bc', ['B', 'C']),
  stored('in', { is: 'entrance', rid: 'B' }, DOT),
  stored('tie', { is: 'shaft', between: ['B', 'C'] }, DOT),
];
const [A, B] = HOUSE as [Feature, Feature];
const ids = (features: readonly Feature[]): string[] => features.map(({ id }) => id);

test('everything that can be changed is told by its sort', () => {
  expect(HOUSE.map(sortOf)).toEqual(['space', 'space', 'space', 'door', 'door', 'entrance', null]);
  expect(sortOf(drawn('office', [0], SQUARE))).toBe('space');
  expect(sortOf(drawn('path', [0], { type: 'LineString', coordinates: [] }))).toBe('path');
  expect(sortOf(drawn('stairs', [0, 1], DOT))).toBe('riser');
  expect(sortOf(drawn('tree', [0], DOT))).toBeNull();
});

test('a room keeps its name for the product when it is reshaped, a door looks for its rooms again', () => {
  expect(reshaped(A, DOT).properties.smartcis?.rid).toBe('A');
  const moved = reshaped(door('ab', ['A', 'B']), DOT);
  expect(moved.properties.smartcis).toBeUndefined();
  expect(moved.properties.kind).toBe('door');
  expect(moved.id).toBe('ab');
});

test('a room that goes takes its doors and entrances, and no others', () => {
  expect(ids(without(HOUSE, B))).toEqual(['A', 'C']);
  expect(ids(without(HOUSE, A))).toEqual(['B', 'C', 'bc', 'in', 'tie']);
});

test('one room of two has the doors of both, but for those between them', () => {
  const left = joined(HOUSE, [A, B], SQUARE);
  expect(ids(left)).toEqual(['A', 'C', 'bc', 'in', 'tie']);
  expect(left.find(({ id }) => id === 'bc')?.properties.smartcis?.between).toEqual(['A', 'C']);
  expect(left.find(({ id }) => id === 'in')?.properties.smartcis?.rid).toBe('A');
});

test('a new room that swallows an old one leaves its doors to be found again', () => {
  const fresh = drawn('office', [0], SQUARE);
  const left = joined([...HOUSE, fresh], [fresh, B], SQUARE);
  expect(ids(left)).toEqual(['A', 'C', 'ab', 'bc', 'in', fresh.id]);
  expect(left.find(({ id }) => id === 'bc')?.properties.smartcis).toBeUndefined();
});

test('names and kinds are written where every reader looks for them', () => {
  expect(renamed(A, 'Library').properties.name).toBe('Library');
  expect(renamed(A, '').properties.name).toBeNull();
  expect(recategorised(A, 'walkway').properties).toMatchObject({ category: 'walkway', kind: 'walkway' });
  expect(title(renamed(A, 'Library'))).toBe('Office Library');
  expect(title(A)).toBe('Office A');
});

test('what nobody touched is sent as it came', () => {
  const plan = { id: 'h', name: 'H', attribution: '', origin: [9, 48] as const, levels: [], features: HOUSE };
  const sent = JSON.parse(fileOf(plan)) as { type: string; features: unknown };
  expect(sent.type).toBe('FeatureCollection');
  expect(sent.features).toEqual(JSON.parse(JSON.stringify(HOUSE)));
});
