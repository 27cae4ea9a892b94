/** What became of the question "nearest free machine with …": an answer, or a typed reason. */
import { number, records, type Table } from './table';
import type { Machine, World } from './world';

export interface Ask {
  readonly node: number;
  readonly software: string;
  readonly stepFree: boolean;
}

export type NoRoute = 'no_such_software' | 'all_taken' | 'no_step_free_way' | 'cut_off';

export type Outcome =
  | { readonly kind: 'idle' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'found'; readonly machine: Machine; readonly costMm: number }
  | {
      readonly kind: 'none';
      readonly reason: NoRoute;
      readonly message: string;
      readonly alternative: string;
    };

/** How long an empty answer may mean "not computed yet", s. */
export const PATIENCE_S = 3;

/** Judge the rows of `nearest_machine` for one session. */
export function outcome(
  nearest: Table,
  session: string | null,
  ask: Ask | null,
  waitedS: number,
  seen: World,
): Outcome {
  if (ask === null) return { kind: 'idle' };
  const best = records(nearest)
    .filter((record) => record.session === session)
    .map((record) => ({ mid: String(record.mid), costMm: number(record.cost_mm) ?? 0 }))
    .sort((a, b) => a.costMm - b.costMm || a.mid.localeCompare(b.mid))[0];
  const machine = best && seen.machines.get(best.mid);
  // After a change of the question the old answer stands until the next epoch: do not show it.
  if (best && machine?.software.includes(ask.software)) {
    return { kind: 'found', machine, costMm: best.costMm };
  }
  if (!nearest.known || waitedS < PATIENCE_S) return { kind: 'waiting' };
  return none(ask, seen);
}

function none(ask: Ask, seen: World): Outcome {
  const having = [...seen.machines.values()].filter((m) => m.software.includes(ask.software));
  const free = having.filter((m) => m.state === 'free');
  if (having.length === 0) {
    return {
      kind: 'none',
      reason: 'no_such_software',
      message: `No machine in the building has ${ask.software}.`,
      alternative: 'Choose other software.',
    };
  }
  if (free.length === 0) {
    return {
      kind: 'none',
      reason: 'all_taken',
      message: `None of the ${having.length} machines with ${ask.software} is free now.`,
      alternative: 'Stay on this page: you are shown the way as soon as one is.',
    };
  }
  const them =
    free.length === 1
      ? `One machine with ${ask.software} is`
      : `${free.length} machines with ${ask.software} are`;
  if (ask.stepFree) {
    return {
      kind: 'none',
      reason: 'no_step_free_way',
      message: `${them} free, but no step-free way leads there from here.`,
      alternative: 'Switch step-free off to be shown a way with stairs, or start from another place.',
    };
  }
  return {
    kind: 'none',
    reason: 'cut_off',
    message: `${them} free, but every way there is cut off by a locked door.`,
    alternative: 'Start from another place, or ask staff to unlock a door.',
  };
}

/** One sentence when the answer changed although the question did not; null when nothing did. */
export function changed(
  before: { readonly mid: string; readonly nodes: string },
  after: { readonly machine: Machine; readonly nodes: string },
  seen: World,
  words: (machine: Machine) => string,
): string | null {
  if (before.mid !== after.machine.mid) {
    const lost = seen.machines.get(before.mid);
    const to = `You are re-routed to ${after.machine.host}.`;
    if (!lost) return to;
    if (lost.state === 'free') return `A nearer machine is free or a shorter way is open. ${to}`;
    return `${lost.host} was taken (${words(lost)}). ${to}`;
  }
  if (before.nodes !== after.nodes && before.nodes !== '' && after.nodes !== '') {
    return `The way to ${after.machine.host} changed; the new path is shown.`;
  }
  return null;
}
