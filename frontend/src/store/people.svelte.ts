/** Who lets himself be seen, while the answers are fresh. */
import type { Connection } from '../wire/connection';
import type { Live } from './live.svelte';
import { crowds, visitors, type Visitor } from './world';

/** Beyond this lag people are not shown, s. */
const PEOPLE_LAG_S = 5;

function fresh(connection: Connection): boolean {
  return connection.kind === 'live' || (connection.kind === 'delayed' && connection.lagS <= PEOPLE_LAG_S);
}

export class People {
  constructor(private readonly live: Live) {}

  /** Nobody while the answers are old: who hides must not stay on a map that is sent nothing. */
  readonly visitors: Visitor[] = $derived.by(() =>
    fresh(this.live.connection) ? visitors(this.live.tables.visitor_position) : [],
  );
  /** How many are on each floor that has at least three. */
  readonly crowds: ReadonlyMap<string, number> = $derived.by(() =>
    crowds(this.live.tables.visitors_on_level),
  );
}
