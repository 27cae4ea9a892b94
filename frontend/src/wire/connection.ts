/** What the person is told about the connection; every state is one of these. */
import { t } from '../language';
import type { Engine } from './protocol';

export type Connection =
  | { readonly kind: 'connecting'; readonly attempt: number }
  | { readonly kind: 'live'; readonly epoch: number; readonly lagS: number }
  | { readonly kind: 'delayed'; readonly lagS: number; readonly engine: Engine }
  /** The service speaks a protocol this page does not: nothing it says can be relied on. */
  | { readonly kind: 'outdated'; readonly spoken: number }
  | { readonly kind: 'offline'; readonly sinceMs: number; readonly cause: 'socket' | 'engine' };

/** Above this lag the page no longer calls itself live; a sensor change is due within 1 s. */
export const DELAYED_AFTER_S = 3;

/** Judge a heartbeat. */
export function judge(
  engine: Engine,
  lagS: number,
  epoch: number,
  nowMs: number,
  before: Connection,
): Connection {
  if (engine === 'offline') {
    const since = before.kind === 'offline' && before.cause === 'engine' ? before.sinceMs : nowMs;
    return { kind: 'offline', sinceMs: since, cause: 'engine' };
  }
  if (engine === 'live' && lagS <= DELAYED_AFTER_S) return { kind: 'live', epoch, lagS };
  return { kind: 'delayed', lagS, engine };
}

/** One sentence for the status chip. */
export function describe(connection: Connection): string {
  switch (connection.kind) {
    case 'connecting':
      return connection.attempt === 0 ? t('connecting') : t('reconnecting');
    case 'live':
      return t('live');
    case 'delayed':
      return connection.engine === 'starting'
        ? t('engine starting')
        : t('delayed {seconds} s', { seconds: Math.max(1, Math.round(connection.lagS)) });
    case 'outdated':
      return t('reload needed');
    case 'offline':
      return connection.cause === 'engine'
        ? t('engine offline since {time}', { time: clock(connection.sinceMs) })
        : t('offline since {time}', { time: clock(connection.sinceMs) });
  }
}

/** Local time of day, hh:mm. */
export function clock(ms: number): string {
  const at = new Date(ms);
  return `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
}
