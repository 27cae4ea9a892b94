/** Surroundings turned by hand: sockets that say what a test wants, time that passes when told. */
import type { SocketLike, Surroundings } from '../../src/wire/client';
import type { ClientMessage, ServerMessage } from '../../src/wire/protocol';

export class HandSocket implements SocketLike {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  readonly sent: ClientMessage[] = [];
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ClientMessage);
  }

  close(): void {
    this.closed = true;
  }

  opens(): void {
    this.onopen?.({} as never);
  }

  says(message: ServerMessage): void {
    this.onmessage?.({ data: JSON.stringify(message) } as never);
  }

  dies(): void {
    this.onclose?.({} as never);
  }

  /** Subscriptions asked for on this socket. */
  get asked(): { id: number; view: string; since: number | undefined }[] {
    return this.sent.flatMap((m) =>
      m.type === 'subscribe' ? [{ id: m.id, view: m.view, since: m.since }] : [],
    );
  }
}

export class Hand implements Surroundings {
  readonly sockets: HandSocket[] = [];
  private clock = 0;
  private waiting: { at: number; run: () => void }[] = [];

  open(): HandSocket {
    const socket = new HandSocket();
    this.sockets.push(socket);
    return socket;
  }

  get socket(): HandSocket {
    const last = this.sockets.at(-1);
    if (!last) throw new Error('no socket was opened');
    return last;
  }

  now(): number {
    return this.clock;
  }

  random(): number {
    return 0.5;
  }

  later(ms: number, run: () => void): () => void {
    const entry = { at: this.clock + ms, run };
    this.waiting.push(entry);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== entry);
    };
  }

  /** Let time pass, running what falls due in order. */
  pass(ms: number): void {
    const until = this.clock + ms;
    for (;;) {
      const next = this.waiting.filter((e) => e.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.waiting = this.waiting.filter((e) => e !== next);
      this.clock = next.at;
      next.run();
    }
    this.clock = until;
  }

  /** Time passes while nothing runs: the lid is closed. */
  sleep(ms: number): void {
    this.clock += ms;
  }
}

export const snapshot = (
  id: number,
  view: string,
  epoch: number,
  rows: (string | number)[][],
  names = ['a', 'b'],
): ServerMessage => ({
  type: 'snapshot',
  id,
  view,
  epoch,
  position: epoch,
  at_s: epoch,
  merged: 0,
  complete_since_s: null,
  more: false,
  rows,
  columns: names.map((name) => ({ name, type: 'TEXT', unit: '' })),
});

export const delta = (
  id: number,
  prev: number,
  epoch: number,
  changes: [number, ...(string | number)[]][],
  merged = 1,
): ServerMessage => ({
  type: 'delta',
  id,
  prev,
  epoch,
  position: epoch,
  at_s: epoch,
  merged,
  more: false,
  changes,
});
