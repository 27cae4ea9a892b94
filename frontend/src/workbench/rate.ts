/** Changes per second over the last seconds: what came lately, not since the beginning of time. */

import { decimal } from '../language';

/** Changes are counted over this long, ms. */
export const WINDOW_MS = 10_000;

export class Rate {
  private readonly received: { atMs: number; count: number }[] = [];

  constructor(private readonly sinceMs: number) {}

  add(atMs: number, count: number): void {
    this.received.push({ atMs, count });
  }

  /** Changes per second; a young rate is taken over its own age, but no less than a second. */
  perS(nowMs: number): number {
    while (this.received[0] && this.received[0].atMs <= nowMs - WINDOW_MS) this.received.shift();
    const count = this.received.reduce((sum, one) => sum + one.count, 0);
    const span = Math.min(WINDOW_MS, Math.max(1000, nowMs - this.sinceMs));
    return (count * 1000) / span;
  }
}

/** "0", "0.3", "12": as exact as it is worth reading. */
export function rateText(perS: number): string {
  return decimal(perS >= 10 ? Math.round(perS) : Math.round(perS * 10) / 10);
}
