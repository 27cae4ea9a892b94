import { expect, test } from 'vitest';
import { choices, codeIn, keptText } from '../../src/store/visibility';

test('the code stands behind the mark alone', () => {
  expect(codeIn('#visitor=aB-9_x')).toBe('aB-9_x');
  for (const other of ['', '#', '#visitor=', '#visitor=a b', '#x&visitor=a', `#visitor=${'a'.repeat(65)}`]) {
    expect(codeIn(other)).toBeNull();
  }
});

test('hiding comes first, and every choice says what others see', () => {
  expect(choices().map(({ consent }) => consent)).toEqual(['hidden', 'counted', 'room', 'exact']);
  for (const { meaning } of choices()) expect(meaning).toMatch(/\.$/);
});

test('how long a position is kept is said in minutes', () => {
  const text = keptText({ held_s: 60, log_keeps_s: 3600, renamed_at_hour: 4 });
  expect(text).toContain('60 s after it was received');
  expect(text).toContain('daily at 4:00');
  expect(text).toContain('about 60 minutes');
});
