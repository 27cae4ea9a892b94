import { beforeEach, describe, expect, test } from 'vitest';
import { LiveClient, SILENCE_MS, type ViewEvent } from '../../src/wire/client';
import { describe as inWords, type Connection } from '../../src/wire/connection';
import { PROTOCOL, type ServerMessage } from '../../src/wire/protocol';
import { delta, Hand, snapshot } from './hand';

const welcome: ServerMessage = { type: 'welcome', protocol: 1, epoch: 1, engine: 'live' };
const status = (over: Partial<Extract<ServerMessage, { type: 'status' }>> = {}): ServerMessage => ({
  type: 'status',
  engine: 'live',
  epoch: 1,
  position: 1,
  lag_s: 0.1,
  server_s: 0,
  more: false,
  ...over,
});

let hand: Hand;
let client: LiveClient;
let states: Connection[];
let heard: ViewEvent[];

beforeEach(() => {
  hand = new Hand();
  states = [];
  heard = [];
  client = new LiveClient(hand, (state) => states.push(state));
});

function follow(view = 'v'): () => void {
  return client.subscribe(view, (event) => heard.push(event));
}

const rows = (): unknown[] => {
  const last = heard.findLast((event) => event.kind === 'snapshot' || event.kind === 'delta');
  return last && 'bag' in last ? last.bag.rows() : [];
};

describe('subscriptions', () => {
  test('are asked for when the socket opens, and answered by a snapshot and deltas', () => {
    follow();
    client.start();
    expect(hand.socket.asked).toEqual([]);
    hand.socket.opens();
    expect(hand.socket.asked).toEqual([{ id: 1, view: 'v', since: undefined }]);
    hand.socket.says(snapshot(1, 'v', 4, [['x', 1]]));
    hand.socket.says(delta(1, 4, 5, [[1, 'y', 2]]));
    expect(rows()).toEqual([
      ['x', 1],
      ['y', 2],
    ]);
  });

  test('two views do not mix', () => {
    follow('v');
    follow('w');
    client.start();
    hand.socket.opens();
    hand.socket.says(snapshot(1, 'v', 4, [['x', 1]]));
    hand.socket.says(snapshot(2, 'w', 2, [['y', 1]]));
    hand.socket.says(delta(2, 2, 9, [[1, 'z', 1]]));
    expect(rows()).toEqual([
      ['y', 1],
      ['z', 1],
    ]);
    expect(client.resyncs).toBe(0);
  });

  test('end with an unsubscribe, and late messages are ignored', () => {
    const end = follow();
    client.start();
    hand.socket.opens();
    end();
    expect(hand.socket.sent.at(-1)).toEqual({ type: 'unsubscribe', id: 1 });
    hand.socket.says(snapshot(1, 'v', 4, [['x', 1]]));
    expect(heard).toEqual([]);
  });

  test('hear of errors and of the end of a view', () => {
    follow();
    client.start();
    hand.socket.opens();
    hand.socket.says({
      type: 'error',
      id: 1,
      code: 'c',
      message: 'm',
      position: null,
      found: '',
      exists: [],
      try: '',
      retry_s: null,
    });
    hand.socket.says({ type: 'closed', id: 1, view: 'v' });
    expect(heard.map((event) => event.kind)).toEqual(['error', 'closed']);
  });
});

describe('a gap', () => {
  beforeEach(() => {
    follow();
    client.start();
    hand.socket.opens();
    hand.socket.says(snapshot(1, 'v', 4, [['x', 1]]));
  });

  test('is healed under a fresh id from the epoch held', () => {
    hand.socket.says(delta(1, 6, 7, [[1, 'lost', 1]]));
    expect(hand.socket.sent.slice(-2)).toEqual([
      { type: 'unsubscribe', id: 1 },
      { type: 'subscribe', id: 2, view: 'v', since: 4 },
    ]);
    expect(rows()).toEqual([['x', 1]]);
    hand.socket.says(delta(2, 4, 7, [[1, 'y', 1]]));
    expect(rows()).toEqual([
      ['x', 1],
      ['y', 1],
    ]);
    expect(client.resyncs).toBe(1);
  });

  test('leaves messages of the old id without effect', () => {
    hand.socket.says(delta(1, 6, 7, [[1, 'lost', 1]]));
    hand.socket.says(delta(1, 4, 5, [[1, 'late', 1]]));
    expect(rows()).toEqual([['x', 1]]);
    expect(client.resyncs).toBe(1);
  });

  test('that is an older message than ours is a duplicate, not a gap', () => {
    hand.socket.says(delta(1, 4, 6, [[1, 'y', 1]]));
    hand.socket.says(delta(1, 4, 5, [[1, 'z', 1]]));
    expect(client.resyncs).toBe(0);
    expect(rows()).toEqual([
      ['x', 1],
      ['y', 1],
    ]);
  });

  test('with impossible weights asks for the whole view', () => {
    hand.socket.says(delta(1, 4, 5, [[-1, 'never there', 1]]));
    expect(hand.socket.sent.at(-1)).toEqual({ type: 'subscribe', id: 2, view: 'v' });
  });

  test('answered by a snapshot replaces everything', () => {
    hand.socket.says(delta(1, 6, 7, []));
    hand.socket.says(snapshot(2, 'v', 9, [['new', 1]]));
    expect(rows()).toEqual([['new', 1]]);
  });
});

describe('the connection', () => {
  test('resumes after a drop without losing the rows, from the epoch held', () => {
    follow();
    client.start();
    hand.socket.opens();
    hand.socket.says(welcome);
    hand.socket.says(snapshot(1, 'v', 4, [['x', 1]]));
    hand.socket.dies();
    expect(states.at(-1)).toMatchObject({ kind: 'offline', cause: 'socket' });
    hand.pass(2000);
    expect(hand.sockets).toHaveLength(2);
    hand.socket.opens();
    expect(hand.socket.asked).toEqual([{ id: 1, view: 'v', since: 4 }]);
    hand.socket.says(welcome);
    hand.socket.says(delta(1, 4, 8, [[1, 'y', 1]]));
    expect(states.at(-1)).toMatchObject({ kind: 'live' });
    expect(rows()).toEqual([
      ['x', 1],
      ['y', 1],
    ]);
  });

  test('keeps the moment it was lost over many attempts, which come ever more slowly', () => {
    client.start();
    const opened: number[] = [];
    for (let i = 0; i < 8; i++) {
      const before = hand.sockets.length;
      const from = hand.now();
      hand.socket.dies();
      while (hand.sockets.length === before) hand.pass(10);
      opened.push(hand.now() - from);
    }
    expect(states.every((s) => s.kind === 'offline' && s.sinceMs === 0)).toBe(true);
    expect(opened[0]).toBeLessThan(600);
    expect(opened[3]).toBeGreaterThan((opened[0] ?? 0) * 3);
    expect(Math.max(...opened)).toBeLessThanOrEqual(15_010);
  });

  test('that falls silent is given up and opened again', () => {
    client.start();
    hand.socket.opens();
    hand.socket.says(welcome);
    hand.pass(SILENCE_MS - 1);
    expect(hand.sockets).toHaveLength(1);
    hand.pass(SILENCE_MS / 2);
    expect(hand.sockets[0]?.closed).toBe(true);
    hand.pass(1000);
    expect(hand.sockets.length).toBeGreaterThan(1);
  });

  test('with a heartbeat is not given up', () => {
    client.start();
    hand.socket.opens();
    for (let i = 0; i < 20; i++) {
      hand.pass(5000);
      hand.socket.says(status());
    }
    expect(hand.sockets).toHaveLength(1);
  });

  test('is renewed at once when the device wakes after a long sleep', () => {
    follow();
    client.start();
    hand.socket.opens();
    hand.socket.says(snapshot(1, 'v', 4, []));
    hand.sleep(3_600_000);
    client.wake();
    expect(hand.sockets).toHaveLength(2);
    hand.socket.opens();
    expect(hand.socket.asked).toEqual([{ id: 1, view: 'v', since: 4 }]);
  });

  test('is given up at once when the network goes, and comes back with it', () => {
    client.start();
    hand.socket.opens();
    client.lose();
    expect(states.at(-1)).toMatchObject({ kind: 'offline', cause: 'socket' });
    client.wake();
    expect(hand.sockets).toHaveLength(2);
    hand.pass(60_000 / 100);
    expect(hand.sockets).toHaveLength(2);
  });

  test('ignores the old socket once a new one is there', () => {
    follow();
    client.start();
    const old = hand.socket;
    old.opens();
    hand.sleep(SILENCE_MS);
    client.wake();
    old.says(snapshot(1, 'v', 4, [['ghost', 1]]));
    old.dies();
    expect(heard).toEqual([]);
    expect(hand.sockets).toHaveLength(2);
  });

  test('tells live from delayed from an engine that is away', () => {
    client.start();
    hand.socket.opens();
    hand.socket.says(status());
    expect(states.at(-1)?.kind).toBe('live');
    hand.socket.says(status({ lag_s: 8 }));
    expect(states.at(-1)).toEqual({ kind: 'delayed', lagS: 8, engine: 'live' });
    hand.pass(1000);
    hand.socket.says(status({ engine: 'offline' }));
    hand.pass(4000);
    hand.socket.says(status({ engine: 'offline' }));
    expect(states.at(-1)).toEqual({ kind: 'offline', sinceMs: 1000, cause: 'engine' });
  });

  test('reckons ages on the server’s clock', () => {
    client.start();
    hand.socket.opens();
    hand.pass(2000);
    hand.socket.says(status({ server_s: 102 }));
    expect(client.serverOffsetS).toBe(100);
  });

  test('stays closed after stop', () => {
    client.start();
    client.stop();
    hand.pass(60_000);
    expect(hand.sockets).toHaveLength(1);
    expect(hand.socket.closed).toBe(true);
  });
});

test('a service of another protocol is refused: nothing is shown of it, and nobody tries again', () => {
  client.start();
  follow('free_machine');
  hand.socket.opens();
  hand.socket.says({ ...welcome, protocol: PROTOCOL + 1 });
  const [asked] = hand.socket.asked;
  hand.socket.says(snapshot(asked?.id ?? 0, 'free_machine', 1, [['m1']], ['mid']));
  expect(states.at(-1)?.kind).toBe('outdated');
  expect(client.connection).toEqual({ kind: 'outdated', spoken: PROTOCOL + 1 });
  expect(inWords(client.connection)).toBe('reload needed');
  expect(heard).toEqual([]);
  expect(hand.socket.closed).toBe(true);
  hand.pass(60_000);
  client.wake();
  expect(hand.sockets).toHaveLength(1);
});

describe('a moment', () => {
  const more = (message: ServerMessage): ServerMessage => ({ ...message, more: true }) as ServerMessage;

  beforeEach(() => {
    follow('v');
    follow('w');
    client.start();
    hand.socket.opens();
    hand.socket.says(welcome);
    hand.socket.says(more(snapshot(1, 'v', 4, [['x', 1]])));
    expect(client.midway).toBe(true);
    hand.socket.says(snapshot(2, 'w', 4, [['x', 1]]));
    expect(client.midway).toBe(false);
  });

  test('is complete with the first message after which no more follows', () => {
    hand.socket.says(more(delta(1, 4, 5, [[1, 'y', 1]])));
    expect(client.midway).toBe(true);
    hand.socket.says(status({ more: true }));
    expect(client.midway).toBe(true);
    hand.socket.says(status());
    expect(client.midway).toBe(false);
    expect(states.at(-1)?.kind).toBe('live');
  });

  test('that takes too long is shown half, and not called live', () => {
    hand.socket.says(more(delta(1, 4, 5, [[1, 'y', 1]])));
    hand.pass(1_900);
    expect(states.at(-1)?.kind).toBe('live');
    hand.pass(200);
    expect(states.at(-1)).toEqual({ kind: 'delayed', lagS: 2, engine: 'live' });
    expect(client.midway).toBe(false);
    hand.socket.says(delta(2, 4, 5, [[1, 'y', 1]]));
    expect(states.at(-1)?.kind).toBe('live');
  });

  test('of a new socket is complete, and live, when every view has come back', () => {
    client.lose();
    expect(client.midway).toBe(true);
    hand.pass(1_000);
    expect(client.midway).toBe(true);
    hand.socket.opens();
    hand.socket.says(welcome);
    expect(states.at(-1)?.kind).toBe('offline');
    hand.socket.says(delta(1, 4, 9, [[1, 'y', 1]]));
    expect(client.midway).toBe(true);
    hand.socket.says({ type: 'closed', id: 2, view: 'w' });
    expect(client.midway).toBe(false);
    expect(states.at(-1)?.kind).toBe('live');
  });

  test('does not wait for what nobody follows any longer', () => {
    const end = follow('x');
    hand.socket.says(snapshot(3, 'x', 4, [['x', 1]]));
    client.lose();
    hand.pass(1_000);
    hand.socket.opens();
    hand.socket.says(welcome);
    hand.socket.says(delta(1, 4, 9, []));
    hand.socket.says(delta(2, 4, 9, []));
    expect(client.midway).toBe(true);
    end();
    expect(client.midway).toBe(false);
    expect(states.at(-1)?.kind).toBe('live');
  });

  test('with a gap is complete when the gap is', () => {
    hand.socket.says(delta(1, 6, 7, [[1, 'lost', 1]]));
    expect(client.midway).toBe(true);
    hand.socket.says(delta(4, 4, 7, [[1, 'y', 1]]));
    expect(client.midway).toBe(true);
    hand.socket.says(delta(3, 4, 7, [[1, 'y', 1]]));
    expect(client.midway).toBe(false);
  });
});
