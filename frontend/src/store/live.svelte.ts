/** The views as reactive state, published in step with the screen rather than with the socket. */
import { t } from '../language';
import { LiveClient } from '../wire/client';
import type { Surroundings } from '../wire/client';
import { clock, describe, type Connection } from '../wire/connection';
import type { Bag } from '../wire/fold';
import type { WireError } from '../wire/protocol';
import { Repaint } from '../wire/repaint';
import { UNKNOWN, type Table } from './table';
import { OWN_VIEWS, SHARED_VIEWS, type ViewName } from './views';
import type { Tables } from './world';

/** A view as the page reads it, and the bag to paint it from. */
class Cell {
  table = $state.raw<Table>(UNKNOWN);
  bag: Bag | null = null;
  followed = false;
  /** How many parts of the page follow it for a while, and what ends that. */
  more = 0;
  endMore: () => void = () => undefined;
}

/** The cells by view, made when first asked for; each is reactive on its own. */
class Cells extends Map<string, Cell> {
  of(view: string): Cell {
    let cell = this.get(view);
    if (cell === undefined) this.set(view, (cell = new Cell()));
    return cell;
  }
}

export class Live {
  readonly client: LiveClient;
  readonly repaint = new Repaint();
  connection = $state.raw<Connection>({ kind: 'connecting', attempt: 0 });
  /** When the engine was last known to be up to date, ms; null before. */
  private toldAtMs = $state<number | null>(null);
  /** Views that cannot be maintained now, each with its reason. */
  errors = $state.raw<readonly (readonly [string, WireError])[]>([]);
  /** Server time, s, refreshed once a second for ages. */
  nowS = $state(Date.now() / 1000);
  readonly label = $derived(describe(this.connection));
  /** Whether what is shown is what is so now. */
  readonly fresh: boolean = $derived(this.connection.kind === 'live');
  /** What may be said of it otherwise. */
  readonly asOf: string = $derived.by(() =>
    this.toldAtMs === null
      ? t('Nothing is known yet.')
      : t('As of {time}; {state}.', { time: clock(this.toldAtMs), state: this.label }),
  );
  private readonly cells = new Cells();
  private endOwn: (() => void)[] = [];

  constructor(around: Surroundings) {
    for (const view of [...SHARED_VIEWS, ...OWN_VIEWS]) this.prepare(view);
    this.client = new LiveClient(around, (connection) => {
      this.connection = connection;
      if (connection.kind === 'live') this.toldAtMs = Date.now();
      this.repaint.soon(this.publish);
    });
  }

  /** The page's views, each read reactive on its own. */
  readonly tables: Tables = new Proxy({} as Tables, { get: (_, view) => this.table(String(view)) });

  /** Make a view readable; state made while something is computed would not be tracked by it. */
  prepare(view: string): void {
    this.cells.of(view);
  }

  /** Any prepared view, unknown while nobody follows it. */
  table(view: string): Table {
    return this.cells.of(view).table;
  }

  /** Connect and follow these views; returns the function that ends it. */
  start(views: readonly ViewName[] = SHARED_VIEWS): () => void {
    for (const view of views) this.follow(view);
    this.client.start();
    const second = setInterval(() => {
      this.nowS = Date.now() / 1000 + this.client.serverOffsetS;
    }, 1000);
    const wake = (): void => {
      if (document.visibilityState === 'visible') this.client.wake();
    };
    const lose = (): void => {
      this.client.lose();
    };
    document.addEventListener('visibilitychange', wake);
    window.addEventListener('offline', lose);
    window.addEventListener('online', wake);
    window.addEventListener('pageshow', wake);
    return () => {
      clearInterval(second);
      document.removeEventListener('visibilitychange', wake);
      window.removeEventListener('offline', lose);
      window.removeEventListener('online', wake);
      window.removeEventListener('pageshow', wake);
      this.client.stop();
    };
  }

  /** Follow the views of this browser's route, once there is one. */
  followOwn(): void {
    if (this.endOwn.length > 0) return;
    this.endOwn = OWN_VIEWS.map((view) => this.follow(view));
  }

  /** Forget this browser's route. */
  forgetOwn(): void {
    for (const end of this.endOwn) end();
    this.endOwn = [];
  }

  /** Follow a view besides the page's own; returns the function that ends it. */
  followMore(view: string): () => void {
    const cell = this.cells.of(view);
    if (cell.followed && cell.more === 0) return () => undefined; // the page follows it anyway
    if (cell.more++ === 0) cell.endMore = this.follow(view);
    let followed = true;
    return () => {
      if (followed && --cell.more === 0) cell.endMore();
      followed = false;
    };
  }

  private follow(view: string): () => void {
    const cell = this.cells.of(view);
    cell.followed = true;
    const end = this.client.subscribe(view, (event) => {
      if (event.kind === 'error') {
        this.errors = [...this.errors.filter(([name]) => name !== view), [view, event.error]];
      } else if (event.kind === 'closed') {
        cell.table = UNKNOWN;
        cell.bag = null; // nothing that came before is painted after it
      } else {
        if (this.errors.length > 0) this.errors = this.errors.filter(([name]) => name !== view);
        cell.bag = event.bag;
        this.repaint.soon(this.publish);
      }
    });
    return () => {
      end();
      cell.followed = false;
      cell.bag = null;
      cell.table = UNKNOWN;
    };
  }

  private readonly publish = (): void => {
    if (this.client.midway) return; // the last message of the moment paints it
    for (const cell of this.cells.values()) {
      if (cell.bag === null) continue;
      cell.table = { columns: cell.bag.columns, rows: cell.bag.rows(), known: true };
      cell.bag = null;
    }
  };
}
