/** Reasons in plain words. */
import { expect, test } from 'vitest';
import type { Fact, Reasons } from '../../src/api/schema';
import { inWords } from '../../src/store/reasons';
import { rowWith } from '../../src/store/table';
import { world } from '../../src/store/world';
import type { Cell } from '../../src/wire/protocol';
import { GROUND, table, tables, UPPER } from './scene';

const seen = world([GROUND, UPPER], tables());
const NOW_S = 1000;

const fact = (relation: string, row: Record<string, Cell>, necessary = true): Fact => ({
  relation,
  row,
  necessary,
  hidden: false,
});
const seat = fact('seat_reading', { mid: 'm1', sid: 's1', weight_kg: 0, at_s: 988 });
const door = fact('door', { door_id: 'd1', state: 'open', x_m: 1, y_m: 2, level_id: 'L0' });
const machine = fact('machine', { mid: 'm1', host: 'host-m1', rid: 'lab', node: 101 });

const reasons = (sets: Fact[][], complete = true): Pick<Reasons, 'sets' | 'complete' | 'at_s'> => ({
  sets,
  complete,
  at_s: NOW_S,
});
const texts = (facts: Fact[]): string[] => inWords(reasons([facts]), seen).sentences.map((s) => s.text);

test('a free machine is told the way a person would tell it', () => {
  const facts = [
    fact('cpu_reading', { mid: 'm1', sid: 'c1', cpu_pct: 4.2, at_s: 999 }),
    machine,
    fact('machine_software', { mid: 'm1', software: 'LaTeX' }),
    seat,
  ];
  expect(inWords(reasons([facts]), seen)).toEqual({
    heading: 'As long as all of this is so:',
    sentences: [
      { text: 'Seat at host-m1 reads 0.0 kg (12 s ago)', mark: '' },
      { text: 'Processor of host-m1 at 4 % (just now)', mark: '' },
      { text: 'LaTeX is installed', mark: '' },
      { text: 'host-m1 stands in Room H1', mark: '' },
      { text: 'Room H1 is open', mark: '' },
    ],
  });
});

test('doors without which there is no way are marked, others are not', () => {
  const detour = fact('door', { door_id: 'd2', state: 'open' }, false);
  const { heading, sentences } = inWords(
    reasons([
      [door, detour, seat],
      [door, seat],
    ]),
    seen,
  );
  expect(heading).toBe('One of 2 ways to see it:');
  expect(sentences).toEqual([
    { text: 'Seat at host-m1 reads 0.0 kg (12 s ago)', mark: 'part of every way' },
    { text: 'Door d1 is open', mark: 'without this door there is no such way', doorId: 'd1' },
    { text: 'Door d2 is open', mark: '', doorId: 'd2' },
  ]);
});

test('what the page has no words for is shown as it is', () => {
  expect(texts([fact('reservation', { reservation_id: 7, title: null, private: false })])).toEqual([
    'reservation(7, none, false)',
  ]);
});

test('a question is told, another visitor’s wish is not', () => {
  const ask = fact('route_request', { session: 's', node: 1, goal: 'free-machine:R', step_free: true });
  expect(texts([ask])).toEqual(['You asked for a machine with R, step-free']);
  expect(texts([{ ...ask, row: {}, hidden: true }])).toEqual(['Another visitor asked for the same']);
});

test('a machine and a room the plan does not know keep their ids', () => {
  expect(
    texts([
      fact('machine', { mid: 'm9', host: 'host-m9', rid: 'attic' }),
      fact('seat_reading', { mid: 'm9', weight_kg: null }),
    ]),
  ).toEqual(['Seat at m9 reads none kg', 'host-m9 stands in attic']);
});

test('reasons that cannot all be listed, or that are none, say so', () => {
  expect(inWords(reasons([[door]], false), seen).heading).toBe('One of many ways to see it:');
  expect(inWords(reasons([[]]), seen)).toEqual({
    heading: 'This rests only on what cannot change.',
    sentences: [],
  });
});

test('the asked row is found by a column', () => {
  const free = table(['mid', 'rid', 'node'], [['m1', 'lab', 101]]);
  expect(rowWith(free, 'mid', 'm1')).toEqual(['m1', 'lab', 101]);
  expect(rowWith(free, 'mid', 'm2')).toBeNull();
  expect(rowWith(free, 'colour', 'm1')).toBeNull();
});
