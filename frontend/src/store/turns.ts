/** One direction as a sentence: each is written out, since languages put its parts in different orders. */
import { t } from '../language';
import type { Way } from './path';

export type Turn = 'straight' | 'left' | 'right' | 'back';

/** What one walks through: a corridor or a room with a name, one without, nothing worth telling; or into what. */
export type Along = 'nothing' | 'unnamed-corridor' | 'corridor' | 'unnamed-room' | 'room' | 'into';

/** "Turn left and go 12 m along the corridor". */
export function going(
  turn: Turn,
  along: Along,
  { length, place }: { length: string; place: string },
): string {
  switch (`${turn}, ${along}` as const) {
    case 'straight, nothing':
      return t('Go straight {length}', { length });
    case 'straight, unnamed-corridor':
      return t('Go straight {length} along the corridor', { length });
    case 'straight, corridor':
      return t('Go straight {length} along {place}', { length, place });
    case 'straight, unnamed-room':
      return t('Go straight {length} through a room', { length });
    case 'straight, room':
      return t('Go straight {length} through {place}', { length, place });
    case 'straight, into':
      return t('Go into {place} {length}', { length, place });
    case 'left, nothing':
      return t('Turn left and go {length}', { length });
    case 'left, unnamed-corridor':
      return t('Turn left and go {length} along the corridor', { length });
    case 'left, corridor':
      return t('Turn left and go {length} along {place}', { length, place });
    case 'left, unnamed-room':
      return t('Turn left and go {length} through a room', { length });
    case 'left, room':
      return t('Turn left and go {length} through {place}', { length, place });
    case 'left, into':
      return t('Turn left into {place} and go {length}', { length, place });
    case 'right, nothing':
      return t('Turn right and go {length}', { length });
    case 'right, unnamed-corridor':
      return t('Turn right and go {length} along the corridor', { length });
    case 'right, corridor':
      return t('Turn right and go {length} along {place}', { length, place });
    case 'right, unnamed-room':
      return t('Turn right and go {length} through a room', { length });
    case 'right, room':
      return t('Turn right and go {length} through {place}', { length, place });
    case 'right, into':
      return t('Turn right into {place} and go {length}', { length, place });
    case 'back, nothing':
      return t('Turn round and go {length}', { length });
    case 'back, unnamed-corridor':
      return t('Turn round and go {length} along the corridor', { length });
    case 'back, corridor':
      return t('Turn round and go {length} along {place}', { length, place });
    case 'back, unnamed-room':
      return t('Turn round and go {length} through a room', { length });
    case 'back, room':
      return t('Turn round and go {length} through {place}', { length, place });
    case 'back, into':
      return t('Turn round into {place} and go {length}', { length, place });
  }
}

/** "Take the stairs down to floor EG". */
export function climbing(way: Way, up: boolean, floor: string): string {
  switch (way) {
    case 'lift':
      return up ? t('Take the lift up to {floor}', { floor }) : t('Take the lift down to {floor}', { floor });
    case 'stairs':
      return up
        ? t('Take the stairs up to {floor}', { floor })
        : t('Take the stairs down to {floor}', { floor });
    case 'passage':
      return up ? t('Go up to {floor}', { floor }) : t('Go down to {floor}', { floor });
  }
}
