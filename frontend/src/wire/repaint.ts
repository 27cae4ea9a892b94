/** The page's one throttle: what the socket brings is painted together, at most ten times a second. */

/** Messages of one epoch arrive together: they are painted together, after this, ms. */
const GATHER_MS = 10;
/** From one repaint to the next, ms. */
const REPAINT_MS = 100;

export class Repaint {
  private readonly due = new Set<() => void>();
  private paintedMs = -REPAINT_MS;

  /** Paint this with the next repaint; several requests for the same function are one. */
  soon(paint: () => void): void {
    const waiting = this.due.size > 0;
    this.due.add(paint);
    if (waiting) return;
    setTimeout(
      () => {
        this.paint();
      },
      Math.max(GATHER_MS, this.paintedMs + REPAINT_MS - performance.now()),
    );
  }

  private paint(): void {
    this.paintedMs = performance.now();
    const due = [...this.due];
    this.due.clear();
    for (const paint of due) paint();
  }
}
