import { expect, test } from 'vitest';
import { waitMs } from '../../src/wire/backoff';
import { clock, describe as words } from '../../src/wire/connection';

test.each([
  [{ kind: 'connecting', attempt: 0 }, 'connecting'],
  [{ kind: 'live', epoch: 3, lagS: 0.2 }, 'live'],
  [{ kind: 'delayed', lagS: 4.4, engine: 'live' }, 'delayed 4 s'],
  [{ kind: 'delayed', lagS: 0, engine: 'starting' }, 'engine starting'],
] as const)('%o reads %s', (connection, text) => {
  expect(words(connection)).toBe(text);
});

test('offline says since when, in local time', () => {
  const at = new Date(2026, 10, 21, 9, 5).getTime();
  expect(words({ kind: 'offline', sinceMs: at, cause: 'socket' })).toBe('offline since 09:05');
  expect(clock(at)).toBe('09:05');
});

test('the wait grows, is capped, and never falls below half its ceiling', () => {
  expect(waitMs(0, 0)).toBe(250);
  expect(waitMs(0, 0.999)).toBeLessThanOrEqual(500);
  expect(waitMs(3, 0)).toBe(2000);
  expect(waitMs(50, 0.999)).toBeLessThanOrEqual(15_000);
});
