/** What is drawn of people: no place that was not told, nobody who has hidden. */
import L from 'leaflet';
import { expect, test, vi } from 'vitest';
import { gatherings, Movers } from '../../src/map/Movers';
import type { Visitor } from '../../src/store/world';
import { one } from '../page';

const visitor = (name: string, over: Partial<Visitor> = {}): Visitor => ({
  name,
  levelId: 'L0',
  rid: 'hall',
  at: [1, 2],
  exact: true,
  simulated: true,
  ...over,
});

test('a room is drawn once, with all who are in it', () => {
  const rooms = gatherings(
    [
      visitor('a', { exact: false }),
      visitor('b', { exact: false, simulated: false }),
      visitor('c', { exact: false, rid: 'lab', at: [9, 9] }),
      visitor('d', { exact: false, levelId: 'L1' }),
      visitor('e'),
    ],
    'L0',
  );
  expect(rooms).toEqual([
    { at: [1, 2], count: 2, simulated: false },
    { at: [9, 9], count: 1, simulated: true },
  ]);
});

function drawn(): { movers: Movers; names: () => string | undefined; arcs: () => number } {
  const arc = vi.fn();
  const context = new Proxy(
    {},
    {
      get: (held, key): unknown => (key === 'arc' ? arc : (Reflect.get(held, key) ?? vi.fn())),
      set: (held, key, value) => Reflect.set(held, key, value),
    },
  );
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const host = document.createElement('div');
  const map = L.map(host, { crs: L.CRS.Simple, center: [0, 0], zoom: 1 });
  const movers = new Movers().addTo(map);
  const canvas = one('canvas', host);
  return {
    movers,
    names: () => canvas.dataset.names,
    arcs: () => {
      arc.mockClear();
      map.fire('move');
      return arc.mock.calls.length;
    },
  };
}

test('a map that stands still loses who hides, and gains and moves nobody', () => {
  const { movers, names, arcs } = drawn();
  const room = visitor('b', { exact: false });
  movers.update([visitor('a'), room, visitor('c')], 'L0', false, true);
  expect(names()).toBe('a b c');
  expect(arcs()).toBe(2 + 3 + 2); // a disc and the light middle of the simulated; around b a ring
  movers.update([visitor('c'), room, visitor('d')], 'L0', true, true);
  expect(names()).toBe('b c');
  movers.update([visitor('c', { exact: false })], 'L0', true, true);
  expect(names()).toBe('');
  expect(arcs()).toBe(0);
  movers.update([visitor('d')], 'L0', false, true);
  expect(names()).toBe('d');
});
