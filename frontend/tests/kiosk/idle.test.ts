import { expect, test } from 'vitest';
import { idle, IDLE_MS, WARNING_MS } from '../../src/kiosk/idle';

test('a kiosk asks after a minute, counts down, and then starts over', () => {
  expect(idle(IDLE_MS - 1, 0, false)).toEqual({ kind: 'active' });
  expect(idle(IDLE_MS, 0, false)).toEqual({ kind: 'warning', leftS: 15 });
  expect(idle(IDLE_MS + WARNING_MS - 1, 0, false)).toEqual({ kind: 'warning', leftS: 1 });
  expect(idle(IDLE_MS + WARNING_MS, 0, false)).toEqual({ kind: 'over' });
});

test('a touch during the warning extends the visit', () => {
  const touchedMs = IDLE_MS + 5000;
  expect(idle(touchedMs + 1000, touchedMs, false)).toEqual({ kind: 'active' });
});

test('a clean kiosk never asks', () => {
  expect(idle(IDLE_MS * 100, 0, true)).toEqual({ kind: 'active' });
});
