/** The views as reactive state, published in step with the screen rather than with the socket. */
import { LiveClient } from '../wire/client';
import type { Surroundings } from '../wire/client';
import { describe, type Connection } from '../wire/connection';
import type { Bag } from '../wire/fold';
import type { WireError } from '../wire/protocol';
import { Repaint } from '../wire/repaint';
import { UNKNOWN, type Table } from './table';
import { LAYER_VIEWS, OWN_VIEWS, SHARED_VIEWS, type LayerName, type ViewName } from './views';
import type { Tables } from './world';

class Cell {
  table = $state.raw<Table>(UNKNOWN);
}

export class Live {
  readonly client: LiveClient;
  readonly repaint = new Repaint();
  connection = $state.raw<Connection>({ kind: 'connecting', attempt: 0 });
  /** Views that cannot be maintained now, each with its reason. */
  errors = $state.raw<ReadonlyMap<string, WireError>>(new Map());
  /** Server time, s, refreshed once a second for ages. */
  nowS = $state(Date.now() / 1000);
  readonly label = $derived(describe(this.connection));
  private readonly cells: Record<ViewName, Cell>;
  private readonly dirty = new Map<ViewName, Bag>();
  private endOwn: (() => void)[] = [];

  constructor(around: Surroundings) {
    this.cells = Object.fromEntries(
      [...SHARED_VIEWS, ...OWN_VIEWS, ...LAYER_VIEWS].map((view) => [view, new Cell()]),
    ) as Record<ViewName, Cell>;
    this.client = new LiveClient(around, (connection) => {
      this.connection = connection;
    });
  }

  /** Tables by view, each read reactive on its own. */
  readonly tables: Tables = new Proxy({} as Tables, {
    get: (_, view) => this.cells[view as ViewName].table,
  });

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
    for (const view of OWN_VIEWS) {
      this.dirty.delete(view);
      this.cells[view].table = UNKNOWN;
    }
  }

  /** Follow the view behind a layer of the map; returns the function that ends it. */
  showLayer(view: LayerName): () => void {
    const end = this.follow(view);
    return () => {
      end();
      this.dirty.delete(view);
      this.cells[view].table = UNKNOWN;
    };
  }

  private follow(view: ViewName): () => void {
    return this.client.subscribe(view, (event) => {
      if (event.kind === 'error') {
        this.errors = new Map([...this.errors, [view, event.error]]);
      } else if (event.kind === 'closed') {
        this.cells[view].table = UNKNOWN;
      } else {
        if (this.errors.has(view)) {
          this.errors = new Map([...this.errors].filter(([name]) => name !== view));
        }
        this.dirty.set(view, event.bag);
        this.repaint.soon(this.publish);
      }
    });
  }

  private readonly publish = (): void => {
    for (const [view, bag] of this.dirty) {
      this.cells[view].table = { columns: bag.columns, rows: bag.rows(), known: true };
    }
    this.dirty.clear();
  };
}
