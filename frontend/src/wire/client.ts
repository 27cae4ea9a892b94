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

/** A moment that takes longer to arrive is shown half, and not called live. */
const MOMENT_MS = 2_000;
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
  /** Subscriptions that stand where the lost socket left them, by id. */
  private readonly resuming = new Set<number>();
  /** Whether the server said that more of the moment follows. */
  private more = false;
  /** Whether rows of a moment are here of which others are not. */
  private partial = false;
  private overdue = false;
  private cancelOverdue: (() => void) | null = null;
  /** How the engine is, as last heard. */
  private heard: Connection = { kind: 'connecting', attempt: 0 };
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

  /** Whether what is held is partly of another moment: shown together, views would contradict each other. */
  get midway(): boolean {
    return this.partial && !this.overdue;
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
    this.cancelOverdue?.();
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
      this.answered(subscription.id);
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
      this.progress();
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
    this.more = false;
    for (const { id, bag } of this.subscriptions.values()) if (bag.epoch !== null) this.resuming.add(id);
    this.progress();
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
        this.heard = judge(message.engine, 0, message.epoch, this.around.now(), this.state);
        this.tell();
        return;
      case 'status':
        this.serverOffsetS = message.server_s - this.around.now() / 1000;
        this.heard = judge(message.engine, message.lag_s, message.epoch, this.around.now(), this.state);
        this.more = message.more;
        this.progress();
        this.tell();
        return;
      case 'snapshot':
        this.take(message);
        this.more = message.more;
        this.answered(message.id);
        return;
      case 'delta':
        this.fold(message);
        this.more = message.more;
        this.answered(message.id);
        return;
      case 'closed':
        this.subscriptions.get(message.id)?.receive({ kind: 'closed' });
        this.answered(message.id);
        return;
      case 'error':
        if (message.id !== null) {
          this.subscriptions.get(message.id)?.receive({ kind: 'error', error: message });
          this.answered(message.id);
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
    this.resuming.add(subscription.id);
    this.ask(subscription);
  }

  private ask(subscription: Subscription): void {
    const since = subscription.bag.epoch;
    const { id, view } = subscription;
    this.send(since === null ? { type: 'subscribe', id, view } : { type: 'subscribe', id, view, since });
  }

  /** Note that a subscription stands where the others stand. */
  private answered(id: number): void {
    this.resuming.delete(id);
    this.progress();
  }

  /** See whether a moment is begun or complete now. */
  private progress(): void {
    const before = this.partial;
    this.partial = this.more || this.resuming.size > 0;
    if (!this.partial || !this.open) {
      this.cancelOverdue?.();
      this.cancelOverdue = null;
      this.overdue = false;
    } else {
      this.cancelOverdue ??= this.around.later(MOMENT_MS, () => {
        this.overdue = true;
        this.tell();
      });
    }
    if (before && !this.partial) this.tell();
  }

  /** Report how the engine is; live is only what is complete. */
  private tell(): void {
    if (!this.open) return;
    if (this.heard.kind !== 'live' || !this.partial) this.report(this.heard);
    else if (this.overdue) this.report({ kind: 'delayed', lagS: MOMENT_MS / 1000, engine: 'live' });
  }

  private send(message: ClientMessage): void {
    if (this.open) this.socket?.send(JSON.stringify(message));
  }

  private report(connection: Connection): void {
    this.state = connection;
    this.onConnection(connection);
  }
}
