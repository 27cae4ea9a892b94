/** When a kiosk forgets its last visitor: a pure clock, turned by hand in tests. */

/** Nobody touched the screen for this long: ask whether somebody is there, ms. */
export const IDLE_MS = 60_000;
/** The question stands this long before everything is cleared, ms. */
export const WARNING_MS = 15_000;

export type Idle =
  | { readonly kind: 'active' }
  | { readonly kind: 'warning'; readonly leftS: number }
  | { readonly kind: 'over' };

/** @param clean nothing is left to clear, so nobody needs to be asked. */
export function idle(nowMs: number, touchedMs: number, clean: boolean): Idle {
  const rest = nowMs - touchedMs - IDLE_MS;
  if (clean || rest < 0) return { kind: 'active' };
  if (rest >= WARNING_MS) return { kind: 'over' };
  return { kind: 'warning', leftS: Math.ceil((WARNING_MS - rest) / 1000) };
}
