/** One tab stop for rooms, one for machines, one for doors; arrow keys walk within each. */
import type { Point } from '../store/geometry';
import { neighbour } from '../store/geometry';

export interface Stop {
  readonly id: string;
  readonly at: Point;
}

const DIRECTIONS: Readonly<Record<string, 'up' | 'down' | 'left' | 'right'>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

/** The neighbour an arrow key leads to; null for other keys and at the edge. */
export function arrow(key: string, from: Stop, stops: readonly Stop[]): Stop | null {
  const direction = DIRECTIONS[key];
  return direction
    ? neighbour(
        from.at,
        stops.filter((s) => s.id !== from.id),
        direction,
      )
    : null;
}

export function isArrow(key: string): boolean {
  return key in DIRECTIONS;
}

/** Reading order: north to south in bands, west to east. */
export function reading<T extends { readonly at: Point }>(stops: readonly T[], bandM = 4): T[] {
  return [...stops].sort((a, b) => {
    const band = Math.floor(-a.at[1] / bandM) - Math.floor(-b.at[1] / bandM);
    return band === 0 ? a.at[0] - b.at[0] : band;
  });
}
