import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import type { ProblemFields } from '../../src/api/http';
import { fieldsOf } from '../../src/api/http';
import { advice, span } from '../../src/workbench/editor';
import { compare } from '../../src/workbench/results.svelte';

const problem = (line: number, column: number, length: number): ProblemFields => ({
  code: 'c',
  message: 'No column roomid.',
  position: { line, column, length },
  found: 'roomid',
  exists: ['rid'],
  try: 'Write rid.',
});
const state = EditorState.create({ doc: 'SELECT roomid\nFROM room' });

test('a position becomes the span that is underlined', () => {
  const { from, to } = span(state, problem(1, 8, 6));
  expect(state.sliceDoc(from, to)).toBe('roomid');
});

test('positions outside the text are brought inside, and never empty', () => {
  for (const at of [problem(9, 99, 5), problem(2, 10, 1), problem(1, 8, 0), problem(0, 0, 1)]) {
    const { from, to } = span(state, at);
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(state.doc.length);
    expect(to).toBeGreaterThan(from);
  }
  expect(span(EditorState.create({ doc: '' }), problem(1, 1, 1))).toEqual({ from: 0, to: 0 });
});

test('the tooltip says found, exists and try', () => {
  expect(advice(problem(1, 8, 6))).toBe('No column roomid. Found: roomid. Exists: rid. Try: Write rid.');
});

test('any body becomes a problem', () => {
  expect(fieldsOf({ detail: 'Not found.' }, 'x').message).toBe('Not found.');
  expect(fieldsOf('<html>', 'The server answered 502.')).toMatchObject({
    code: 'smartcis.http',
    message: 'The server answered 502.',
    exists: [],
  });
});

test('cells sort as people expect', () => {
  expect([10, null, 9, 'a10', 'a9'].sort((a, b) => compare(a as never, b as never)).slice(-1)).toEqual([
    null,
  ]);
  expect(['a10', 'a9'].sort(compare)).toEqual(['a9', 'a10']);
  expect([10, 9].sort(compare)).toEqual([9, 10]);
});
