import { describe, expect, test } from 'vitest';
import { outcome, type Ask } from '../../src/store/outcome';
import { world } from '../../src/store/world';
import type { Row } from '../../src/wire/protocol';
import { BUILDING, GROUND, tables, UPPER } from './scene';

const ask: Ask = { node: 4, goal: 'free-machine:LaTeX', stepFree: false };
const known = { destinations: BUILDING.destinations, seen: world([GROUND, UPPER], tables()) };
const answer = (over: Partial<Record<number, string | number | boolean>> = {}): Row =>
  Object.assign(['s', 4, 'free-machine:LaTeX', false, 'm1', 'lab', 'm1', 101, 8000] as Row[number][], over);
const judge = (nearest: Row[], none: Row[], over: Partial<Ask> = {}) => {
  const { nearest_destination, no_route } = tables({ nearest_destination: nearest, no_route: none });
  return outcome(nearest_destination, no_route, 's', { ...ask, ...over }, known);
};

describe('the answer', () => {
  test('is idle without a question', () => {
    const { nearest_destination, no_route } = tables();
    expect(outcome(nearest_destination, no_route, 's', null, known)).toEqual({ kind: 'idle' });
  });

  test('is what my session is led to, not another', () => {
    expect(judge([answer({ 0: 'other', 4: 'm2' }), answer()], [])).toMatchObject({
      kind: 'found',
      costMm: 8000,
      target: { id: 'm1', key: 'machine:m1', name: 'host-m1', room: 'Room H1' },
    });
  });

  test('to another question is never shown for this one', () => {
    const others: Partial<Ask>[] = [{ node: 3 }, { goal: 'free-machine:R' }, { stepFree: true }];
    for (const over of others) expect(judge([answer()], [], over)).toEqual({ kind: 'waiting' });
  });

  test('may be a room', () => {
    const row: Row = ['s', 4, 'room:store', false, 'store', 'store', '', 2, 5000];
    expect(judge([row], [], { goal: 'room:store' })).toMatchObject({
      kind: 'found',
      target: { key: 'room:store', name: 'Room H2', room: '' },
    });
  });

  test('is awaited until the engine says that there is none', () => {
    expect(judge([], []).kind).toBe('waiting');
    expect(judge([], [['s', 4, 'free-machine:LaTeX', true, 'no open way']]).kind).toBe('waiting');
  });
});

describe('no answer has a typed reason', () => {
  test.each([
    ['no_such_software', 'nothing there', { goal: 'free-machine:Word' }],
    ['nothing_there', 'nothing there', { goal: 'free-machine:R' }],
    ['nothing_there', 'nothing there', { goal: 'exit' }],
    ['no_step_free_way', 'no open way', { stepFree: true }],
    ['cut_off', 'no open way', {}],
  ] as const)('%s, as %s', (reason, said, over) => {
    const { node, goal, stepFree } = { ...ask, ...over };
    const found = judge([], [['s', node, goal, stepFree, said]], over);
    expect(found).toMatchObject({ kind: 'none', reason });
    expect(found.kind === 'none' && found.alternative).not.toBe('');
  });
});
