/** The explanation as people see it: the winner marked, losers with bars, sites with their text. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';
import ExplainPanel from '../../src/workbench/ExplainPanel.svelte';
import type { Alternative, Explanation } from '../../src/api/schema';
import { beside, figure, reach, wait } from '../../src/workbench/explained';

function way(name: string, energy: number, chosen: boolean): Alternative {
  const cost = { bytes_per_s: 10 * energy, energy_mj_per_s: energy, latency_ms: 9235, rows_per_s: 0 };
  return {
    parts: [name],
    cost,
    weighed: energy + 1,
    chosen,
    verdict: chosen ? 'chosen' : `lost: ${energy} times the weighed cost`,
  };
}

const TOLD: Explanation = {
  text: '── 1 parse ──\nSelect',
  warnings: [],
  explained: {
    plan: [{ depth: 0, node: 'Join', site: 'sensors' }],
    questions: [
      {
        about: 'how l and t reach the engine',
        alternatives: [
          way('join l, t pairwise', 2, true),
          ...Array.from({ length: 11 }, (_, i) => way(`way ${i}`, 4 + i, false)),
        ],
        refused: [{ what: 'select t', why: 'nothing to select' }],
        graph: {
          cost: 3,
          and_nodes: 12,
          or_nodes: 7,
          nodes: [
            {
              expr: 'l+t',
              prop: 'at engine',
              cost: 3,
              ways: [
                { text: 'fetch join', cost: 3, verdict: 'chosen' },
                { text: 'stay', cost: 5, verdict: 'lost: 2 more' },
              ],
            },
          ],
        },
      },
    ],
    refused: [{ what: 's', why: "motes' answers carry no s.at_s" }],
    cost: { bytes_per_s: 20, energy_mj_per_s: 2, latency_ms: 9235, rows_per_s: 0 },
    weights: { bytes: 0.001, energy: 1, latency: 0.0001, cpu: 0.05, rows: 0 },
    pieces: [
      {
        site: 'sensors',
        title: 'net_1 every 10 s, pairwise',
        sql: 'SELECT l.rid FROM light_reading l',
        plan: '',
        estimate: {
          cost: { bytes_per_s: 20, energy_mj_per_s: 2, latency_ms: 9235, rows_per_s: 0 },
          network: 'guessed',
          keeps: [{ share: 0.25, origin: 'measured' }],
          operators: [{ name: 'ship 0', rows: 3, bytes: 120, energy_mj: 8 }],
        },
        measured: { bytes_per_s: 30, energy_mj_per_s: 3, latency_ms: 9000, rows_per_s: 0 },
      },
      {
        site: 'engine',
        title: 'receives net_1; reads room',
        sql: 'SELECT n1.rid FROM net_1 n1',
        plan: '',
        estimate: null,
        measured: null,
      },
    ],
    orders: ['light_reading (light): sampled every 10 s for net_1'],
    remarks: { maintained: 'maintained by walk' },
  },
};

let part: object;
let asked: [string, boolean][];
let closed: number;

beforeEach(() => {
  document.body.innerHTML = '<div id="here"></div>';
  asked = [];
  closed = 0;
  part = mount(ExplainPanel, {
    target: document.getElementById('here') as Element,
    props: {
      explanation: TOLD,
      former: false,
      weights: '',
      single: false,
      onask: (weights: string, single: boolean) => asked.push([weights, single]),
      onclose: () => (closed += 1),
    },
  });
  flushSync();
});

afterEach(() => {
  void unmount(part);
});

const all = (id: string): Element[] => [...document.querySelectorAll(`[data-testid="${id}"]`)];
function click(name: string): void {
  const found = [...document.querySelectorAll('button')].find((one) =>
    one.textContent.trim().startsWith(name),
  );
  found?.click();
  flushSync();
}

test('the winner stands first and is marked, the dearer ones wait behind a button', () => {
  const rows = all('alternative');
  expect(
    [...(rows[0]?.querySelectorAll('td.number') ?? [])].map((cell) => cell.getAttribute('data-unit')),
  ).toEqual(['mJ/s', 'B/s', '', 'rows/s']);
  expect(rows).toHaveLength(8);
  expect(rows[0]?.getAttribute('data-chosen')).toBe('1');
  expect(rows.filter((row) => row.hasAttribute('data-chosen'))).toHaveLength(1);
  click('Show 4 dearer');
  expect(all('alternative')).toHaveLength(12);
  expect(document.body.textContent).toContain('Not select t: nothing to select');
  expect(document.body.textContent).toContain("motes' answers carry no s.at_s");
});

test('the dearest bar shown is full, and none is longer', () => {
  const bars = [...document.querySelectorAll('.weigh rect')].map((one) => Number(one.getAttribute('width')));
  expect(Math.max(...bars)).toBe(100);
  expect(bars[0]).toBe(Math.min(...bars));
});

test('each site shows its text, and the network its estimate beside what is measured', () => {
  click('Who runs what');
  const pieces = all('piece');
  expect(pieces.map((one) => one.getAttribute('data-site'))).toEqual(['sensors', 'engine']);
  expect(pieces[0]?.textContent).toContain('SELECT l.rid');
  expect(all('measured')[0]?.textContent).toContain('1.5 times the estimate');
  expect(document.body.textContent).toContain('25 % (measured)');
});

test('the search shows its OR nodes, and the text is whole', () => {
  click('Search');
  expect(all('graph')[0]?.textContent).toContain('12 AND nodes under 7 OR nodes');
  click('All borders');
  expect(document.querySelector('#explain-body pre')?.textContent).toBe(TOLD.text);
});

test('tabs are turned by arrow keys', () => {
  const first = document.getElementById('explain-tab-decision');
  first?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
  flushSync();
  expect(document.getElementById('explain-tab-borders')?.getAttribute('aria-selected')).toBe('true');
});

test('another metric or limit is asked for anew', () => {
  const metric = document.querySelector<HTMLSelectElement>('[data-testid="explain-metric"]');
  expect(metric).not.toBeNull();
  if (!metric) return;
  metric.value = 'energy=0, bytes=0, latency=1, cpu=0';
  metric.dispatchEvent(new Event('change', { bubbles: true }));
  document.querySelector<HTMLInputElement>('.check input')?.click();
  expect(asked).toEqual([
    ['energy=0, bytes=0, latency=1, cpu=0', false],
    ['', true],
  ]);
  click('Close');
  expect(closed).toBe(1);
});

test('figures are short', () => {
  expect([figure(0), figure(1234.6), figure(0.012345), figure(44.298)]).toEqual([
    '0',
    '1,235',
    '0.0123',
    '44.3',
  ]);
  expect([wait(432.7), wait(9235)]).toEqual(['433 ms', '9.23 s']);
  expect([reach(0, 0), reach(50, 100), reach(0.0001, 100)]).toEqual([0, 50, 1]);
  expect([beside(2, 3), beside(3, 1.5), beside(0, 1)]).toEqual([
    '1.5 times the estimate',
    '1/2 of the estimate',
    '',
  ]);
});
