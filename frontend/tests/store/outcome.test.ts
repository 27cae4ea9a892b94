import { describe, expect, test } from 'vitest';
import { changed, outcome, PATIENCE_S, type Ask } from '../../src/store/outcome';
import { machineState } from '../../src/store/words';
import { world } from '../../src/store/world';
import { GROUND, tables, UPPER } from './scene';

const ask: Ask = { node: 4, software: 'LaTeX', stepFree: false };
const seen = world([GROUND, UPPER], tables());
const nearest = (...rows: [string, string, number, number][]) =>
  tables({ nearest_machine: rows }).nearest_machine;
const judge = (table = nearest(), over: Partial<Ask> = {}, waited = PATIENCE_S, world_ = seen) =>
  outcome(table, 's', { ...ask, ...over }, waited, world_);

describe('the answer', () => {
  test('is idle without a question', () => {
    expect(outcome(nearest(), 's', null, 9, seen)).toEqual({ kind: 'idle' });
  });

  test('is the machine of my session, not of another', () => {
    expect(judge(nearest(['other', 'm2', 102, 5], ['s', 'm1', 101, 8000]))).toMatchObject({
      kind: 'found',
      costMm: 8000,
      machine: { mid: 'm1' },
    });
  });

  test('to the last question is not shown for this one', () => {
    expect(judge(nearest(['s', 'm1', 101, 8000]), { software: 'R' }, 0)).toEqual({ kind: 'waiting' });
  });

  test('is awaited for a while, and for ever while the view is unknown', () => {
    expect(judge(nearest(), {}, PATIENCE_S - 1).kind).toBe('waiting');
    expect(judge(tables().nearest_machine, {}, 99).kind).toBe('waiting');
  });
});

describe('no answer has a typed reason', () => {
  test.each([
    ['no_such_software', { software: 'Word' }, seen],
    ['all_taken', { software: 'R' }, seen],
    ['no_step_free_way', { stepFree: true }, seen],
    ['cut_off', {}, seen],
  ] as const)('%s', (reason, over, where) => {
    const found = judge(nearest(), over, PATIENCE_S, where);
    expect(found).toMatchObject({ kind: 'none', reason });
    expect(found.kind === 'none' && found.alternative).not.toBe('');
  });
});

describe('what the person is told when the answer changes', () => {
  const m1 = seen.machines.get('m1') as never;
  test('a taken machine is named with the reason', () => {
    expect(changed({ mid: 'm2', nodes: '4,102' }, { machine: m1, nodes: '4,101' }, seen, machineState)).toBe(
      'host-m2 was taken (in use: somebody is sitting there). You are re-routed to host-m1.',
    );
  });
  test('another way to the same machine', () => {
    expect(
      changed({ mid: 'm1', nodes: '4,3,101' }, { machine: m1, nodes: '4,9,101' }, seen, machineState),
    ).toBe('The way to host-m1 changed; the new path is shown.');
  });
  test('nothing when nothing changed', () => {
    expect(
      changed({ mid: 'm1', nodes: '4,101' }, { machine: m1, nodes: '4,101' }, seen, machineState),
    ).toBeNull();
  });
});
