/**
 * One socket, any number of subscriptions, each a view that keeps itself equal to the server's.
 *
 * Every subscription survives the socket: after a reconnect it asks for what happened `since` its
 * own epoch. A gap is answered by asking again under a fresh id, so that deltas still in flight
 * for the old id cannot be mistaken for the answer.
 */
import { waitMs } from './backoff';
import { judge, type Connection } from './connection';
import { Bag, changesOf, type Change } from './fold';
import {
  PROTOCOL,
  type ClientMessage,
  type Delta,
  type ServerMessage,
  type Snapshot,
  type WireError,
} from './protocol';

/** No message for this long: the socket is dead, whatever the browser believes (heartbeat: 5 s). */
export const SILENCE_MS = 12_000;

export interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

/** The world outside: replaced by a hand-turned clock in tests. */
export interface Surroundings {
  open(): SocketLike;
  now(): number;
  random(): number;
  later(ms: number, run: () => void): () => void;
}

/** What a subscriber hears; `merged` epochs changed the view since the last message. */
export type ViewEvent =
  | { readonly kind: 'snapshot'; readonly bag: Bag; readonly merged: number }
  | {
      readonly kind: 'delta';
      readonly bag: Bag;
      readonly changes: readonly Change[];
      readonly merged: number;
    }
  | { readonly kind: 'closed' }
  | { readonly kind: 'error'; readonly error: WireError };

interface Subscription {
  id: number;
  readonly view: string;
  readonly bag: Bag;
  readonly receive: (event: ViewEvent) => void;
}

export class LiveClient {
  private socket: SocketLike | null = null;
  private open = false;
  private stopped = true;
  private attempt = 0;
  private nextId = 1;
  private lastHeardMs = 0;
  private lostAtMs: number | null = null;
  private cancelRetry: (() => void) | null = null;
  private cancelWatch: (() => void) | null = null;
  private readonly subscriptions = new Map<number, Subscription>();
  private state: Connection = { kind: 'connecting', attempt: 0 };
  /** Server clock minus ours, s; ages are reckoned on the server's clock. */
  serverOffsetS = 0;
  /** Gaps healed so far, for the curious and the tests. */
  resyncs = 0;

  constructor(
    private readonly around: Surroundings,
    private readonly onConnection: (connection: Connection) => void = () => undefined,
  ) {}

  get connection(): Connection {
    return this.state;
  }

  /** Open the socket and keep it open. */
  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.connect();
    this.watch();
  }

  /** Close for good. */
  stop(): void {
    this.stopped = true;
    this.cancelRetry?.();
    this.cancelWatch?.();
    this.drop();
  }

  /** Try at once: the device woke up or the network came back. */
  wake(): void {
    if (this.stopped) return;
    if (this.socket !== null && this.around.now() - this.lastHeardMs < SILENCE_MS) {
      this.send({ type: 'ping', at: this.around.now() });
      return;
    }
    this.attempt = 0;
    this.drop();
    this.connect();
  }

  /** The network went away: do not wait for the socket to notice. */
  lose(): void {
    if (!this.stopped && this.socket !== null) this.lost();
  }

  /** Follow a view; the returned function ends it. */
  subscribe(view: string, receive: (event: ViewEvent) => void): () => void {
    const subscription: Subscription = { id: this.nextId++, view, bag: new Bag(), receive };
    this.subscriptions.set(subscription.id, subscription);
    this.ask(subscription);
    return () => {
      this.subscriptions.delete(subscription.id);
      this.send({ type: 'unsubscribe', id: subscription.id });
    };
  }

  /** Ask every open view again, for instance after the browser's session gained a route. */
  refresh(view: string): void {
    for (const subscription of [...this.subscriptions.values()]) {
      if (subscription.view === view) this.renew(subscription, true);
    }
  }

  private connect(): void {
    this.cancelRetry?.();
    this.cancelRetry = null;
    const socket = this.around.open();
    this.socket = socket;
    this.lastHeardMs = this.around.now();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.open = true;
      this.lastHeardMs = this.around.now();
      for (const subscription of this.subscriptions.values()) this.ask(subscription);
    };
    socket.onmessage = (event: { data: unknown }) => {
      if (this.socket === socket) this.receive(JSON.parse(String(event.data)) as ServerMessage);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.lost();
    };
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    this.open = false;
    socket?.close();
  }

  private lost(): void {
    this.drop();
    if (this.stopped) return;
    this.lostAtMs ??= this.around.now();
    this.report({ kind: 'offline', sinceMs: this.lostAtMs, cause: 'socket' });
    this.cancelRetry?.();
    this.cancelRetry = this.around.later(waitMs(this.attempt++, this.around.random()), () => {
      this.connect();
    });
  }

  private watch(): void {
    this.cancelWatch = this.around.later(SILENCE_MS / 4, () => {
      const silent = this.around.now() - this.lastHeardMs;
      if (this.socket !== null && silent >= SILENCE_MS) this.lost();
      if (!this.stopped) this.watch();
    });
  }

  private receive(message: ServerMessage): void {
    this.lastHeardMs = this.around.now();
    switch (message.type) {
      case 'welcome':
        if (message.protocol !== PROTOCOL) {
          this.stop();
          this.report({ kind: 'outdated', spoken: message.protocol });
          return;
        }
        this.attempt = 0;
        this.lostAtMs = null;
        this.report(judge(message.engine, 0, message.epoch, this.around.now(), this.state));
        return;
      case 'status':
        this.serverOffsetS = message.server_s - this.around.now() / 1000;
        this.report(judge(message.engine, message.lag_s, message.epoch, this.around.now(), this.state));
        return;
      case 'snapshot':
        this.take(message);
        return;
      case 'delta':
        this.fold(message);
        return;
      case 'closed':
        this.subscriptions.get(message.id)?.receive({ kind: 'closed' });
        return;
      case 'error':
        if (message.id !== null) {
          this.subscriptions.get(message.id)?.receive({ kind: 'error', error: message });
        }
        return;
      case 'pong':
        return;
    }
  }

  private take(message: Snapshot): void {
    const subscription = this.subscriptions.get(message.id);
    if (!subscription) return;
    subscription.bag.replace(message);
    subscription.receive({ kind: 'snapshot', bag: subscription.bag, merged: message.merged });
  }

  private fold(message: Delta): void {
    const subscription = this.subscriptions.get(message.id);
    if (!subscription) return;
    const changes = changesOf(message);
    const folded = subscription.bag.apply(message, changes);
    if (folded === 'gap') {
      this.resyncs += 1;
      // Matching `prev` but impossible weights: our past is wrong, so only a snapshot helps.
      this.renew(subscription, message.prev === subscription.bag.epoch);
    } else if (folded === 'applied') {
      subscription.receive({ kind: 'delta', bag: subscription.bag, changes, merged: message.merged });
    }
  }

  private renew(subscription: Subscription, whole: boolean): void {
    this.subscriptions.delete(subscription.id);
    this.send({ type: 'unsubscribe', id: subscription.id });
    subscription.id = this.nextId++;
    if (whole) subscription.bag.epoch = null;
    this.subscriptions.set(subscription.id, subscription);
    this.ask(subscription);
  }

  private ask(subscription: Subscription): void {
    const since = subscription.bag.epoch;
    const { id, view } = subscription;
    this.send(since === null ? { type: 'subscribe', id, view } : { type: 'subscribe', id, view, since });
  }

  private send(message: ClientMessage): void {
    if (this.open) this.socket?.send(JSON.stringify(message));
  }

  private report(connection: Connection): void {
    this.state = connection;
    this.onConnection(connection);
  }
}
