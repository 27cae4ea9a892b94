/** What became of a visitor's question: an answer, or a typed reason, both the engine's. */
import { n, t } from '../language';
import type { Point } from './geometry';
import { nameOf, softwareOf, type Known } from './goal';
import { number, records, type Fields, type Table } from './table';
import { titleOf } from './world';

export interface Ask {
  readonly node: number;
  /** free-machine:<software>, machine:<mid>, room:<rid>, or the name of a destination. */
  readonly goal: string;
  readonly stepFree: boolean;
}

export type NoRoute = 'no_such_software' | 'nothing_there' | 'no_step_free_way' | 'cut_off';

/** Where the way ends. */
export interface Target {
  readonly id: string;
  /** machine:<mid> or room:<rid>, as the address selects it. */
  readonly key: string;
  readonly name: string;
  readonly rid: string;
  /** Its room in words; empty where it is a room itself. */
  readonly room: string;
  readonly levelId: string;
  readonly at: Point;
}

export type Outcome =
  | { readonly kind: 'idle' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'found'; readonly target: Target; readonly costMm: number }
  | {
      readonly kind: 'none';
      readonly reason: NoRoute;
      readonly message: string;
      readonly alternative: string;
    };

/** The rows of a view that answer this question of this session; each row carries its question. */
export function answering(table: Table, session: string | null, ask: Ask): Fields[] {
  return records(table).filter(
    (row) =>
      row.session === session &&
      row.origin === ask.node &&
      row.goal === ask.goal &&
      row.step_free === ask.stepFree,
  );
}

/** Judge what the engine says to a question; what answers another one is none. */
export function outcome(
  nearest: Table,
  unanswered: Table,
  session: string | null,
  ask: Ask | null,
  known: Known,
): Outcome {
  if (ask === null) return { kind: 'idle' };
  const [best] = answering(nearest, session, ask);
  const target = best && targetOf(best, known);
  if (best && target) return { kind: 'found', target, costMm: number(best.cost_mm) ?? 0 };
  const [none] = answering(unanswered, session, ask);
  return none ? noRoute(ask, none.reason === 'nothing there', known) : { kind: 'waiting' };
}

/** What a row leads to; undefined while its plan has not been loaded. */
export function targetOf(row: Fields, { seen }: Known): Target | undefined {
  const room = seen.rooms.get(String(row.rid));
  const mid = String(row.mid ?? '');
  if (mid === '') {
    if (!room) return undefined;
    const { rid, levelId, label } = room;
    return { id: rid, key: `room:${rid}`, name: titleOf(room), rid, room: '', levelId, at: label };
  }
  const machine = seen.machines.get(mid);
  if (!machine) return undefined;
  const { host, rid, levelId, at } = machine;
  return { id: mid, key: `machine:${mid}`, name: host, rid, room: room ? titleOf(room) : rid, levelId, at };
}

function noRoute(ask: Ask, nothing: boolean, known: Known): Outcome {
  const wanted = nameOf(ask.goal, known);
  const none = (reason: NoRoute, message: string, alternative: string): Outcome => ({
    kind: 'none',
    reason,
    message,
    alternative,
  });
  if (nothing) {
    const software = softwareOf(ask.goal);
    if (software === null) {
      return none(
        'nothing_there',
        t('There is none now: {wanted}.', { wanted }),
        t('Stay on this page: you are shown the way as soon as there is one.'),
      );
    }
    const having = [...known.seen.machines.values()].filter((m) => m.software.includes(software)).length;
    return having === 0
      ? none(
          'no_such_software',
          t('No machine in the building has {software}.', { software }),
          t('Choose other software.'),
        )
      : none(
          'nothing_there',
          n(
            'The one machine with {software} is not free now.',
            'None of the {count} machines with {software} is free now.',
            having,
            { software },
          ),
          t('Stay on this page: you are shown the way as soon as one is.'),
        );
  }
  if (ask.stepFree) {
    return none(
      'no_step_free_way',
      t('No step-free way leads there from here now: {wanted}.', { wanted }),
      t('Switch step-free off to be shown a way with stairs, or start from another place.'),
    );
  }
  return none(
    'cut_off',
    t('No open way leads there from here now: {wanted}.', { wanted }),
    t('Start from another place, or ask staff to unlock a door.'),
  );
}
