/** How long to wait before the next attempt: doubling, capped, with full jitter above a floor. */

const FIRST_MS = 500;
const CAP_MS = 15_000;

/**
 * @param attempt failed attempts so far, from 0.
 * @param random a number in [0, 1), so that a thousand kiosks do not return in step.
 */
export function waitMs(attempt: number, random: number): number {
  const ceiling = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(ceiling / 2 + (random * ceiling) / 2);
}
