/** What a visitor looks for: a free machine with some software, a room, a machine, a destination. */
import type { Building } from '../api/schema';
import { language, t } from '../language';
import { titleOf, type World } from './world';

type Destination = Building['destinations'][number];

/** Where goals are found in words. */
export interface Known {
  readonly destinations: readonly Destination[];
  readonly seen: Pick<World, 'machines' | 'rooms'>;
}

export const freeMachineWith = (software: string): string => `free-machine:${software}`;

/** The software of "free-machine:LaTeX", null of another goal. */
export function softwareOf(goal: string): string | null {
  return goal.startsWith('free-machine:') ? goal.slice('free-machine:'.length) : null;
}

/** The destination that an operator added under this goal. */
export function destinationOf(goal: string, known: Known): Destination | undefined {
  return known.destinations.find((one) => one.slug === goal);
}

/** Operators name a destination in English, and may in German. */
export function destinationName({ name, name_de }: Pick<Destination, 'name' | 'name_de'>): string {
  return language() === 'de' && name_de !== '' ? name_de : name;
}

/** "Nearest: free machine with LaTeX", "Way to Room V101": the heading of an answer. */
export function headingOf(goal: string, known: Known): string {
  const wanted = nameOf(goal, known);
  const one = goal.startsWith('room:') || goal.startsWith('machine:');
  return one ? t('Way to {goal}', { goal: wanted }) : t('Nearest: {goal}', { goal: wanted });
}

/** "free machine with LaTeX", "Room V101", "Way out": within a sentence. */
export function nameOf(goal: string, known: Known): string {
  const [kind, ...rest] = goal.split(':');
  const name = rest.join(':');
  switch (kind) {
    case 'free-machine':
      return t('free machine with {software}', { software: name });
    case 'machine':
      return known.seen.machines.get(name)?.host ?? name;
    case 'room': {
      const room = known.seen.rooms.get(name);
      return room ? titleOf(room) : name;
    }
    default: {
      const one = destinationOf(goal, known);
      return one ? destinationName(one) : goal;
    }
  }
}
