import { expect, test } from 'vitest';
import { newsOf } from '../../src/store/news';
import { world } from '../../src/store/world';
import { GROUND, tables, UPPER } from './scene';

const seen = world([GROUND, UPPER], tables());
const row = (
  cause: string | null,
  subject: string | null,
  over: Record<string, string | number | null> = {},
) => ({
  was: 'm2',
  was_cost_mm: 10_000,
  target: 'm1',
  cost_mm: 121_000,
  cause,
  subject,
  detail: '',
  ...over,
});

test.each([
  [[row('door locked', '155.d1')], 'Door 155.d1 was locked. Now host-m1, 111 m farther.'],
  [
    [row('in use', 'm2', { detail: 'seat', cost_mm: 10_200 })],
    'host-m2 was taken (in use: somebody is sitting there). Now host-m1, as far as before.',
  ],
  [
    [row('closed', 'store', { detail: 'reserved', was: 'store', target: 'lab' })],
    'Room H2 is closed: reserved. Now Room H1, 111 m farther.',
  ],
  [
    [row('closed', 'm2', { detail: 'dark' })],
    'host-m2: room closed: the room is dark. Now host-m1, 111 m farther.',
  ],
  [[row('no data', 'm2')], 'There is no data of host-m2 any more. Now host-m1, 111 m farther.'],
  [[row('free', 'm2')], 'host-m2 is no longer offered. Now host-m1, 111 m farther.'],
  [[row('nearer', 'm1', { cost_mm: 4000 })], 'Now host-m1, 6 m nearer.'],
  [
    [row('door opened', 'd2', { target: 'm2', cost_mm: 4000 })],
    'Door d2 was opened. The way to host-m2 is now 6 m shorter.',
  ],
  [[row(null, null, { target: 'm2' })], 'The way to host-m2 is now 111 m longer.'],
  [
    [row('door locked', 'd1', { target: null, cost_mm: null })],
    'Door d1 was locked. Nothing else can be reached now.',
  ],
  [
    [row('door locked', 'd2'), row('door locked', 'd1')],
    'Door d1 was locked. Door d2 was locked. Now host-m1, 111 m farther.',
  ],
  [[], ''],
])('%j', (rows, said) => {
  expect(newsOf(rows, seen)).toBe(said);
});
