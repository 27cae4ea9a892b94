/** The query drawn on the map: named by the address, followed like any view. */
import { http, Problem, type ProblemFields } from '../api/http';
import type { Answer, Query } from '../api/schema';
import type { Bag } from '../wire/fold';
import type { House } from './house.svelte';
import type { Live } from './live.svelte';
import { locate, marks, NO_NODES, NODES_SQL, nodesOf, type Mark, type Nodes } from './layer';
import { UNKNOWN, type Table } from './table';

export class Layer {
  /** The query's id, null without a layer. */
  id = $state<string | null>(null);
  query = $state.raw<Query | null>(null);
  problem = $state.raw<ProblemFields | null>(null);
  closed = $state(false);
  /** Why nodes cannot be placed; the rows themselves go on. */
  lostNodes = $state.raw<ProblemFields | null>(null);
  private table = $state.raw<Table>(UNKNOWN);
  private nodes = $state.raw<Nodes>(NO_NODES);
  private end: () => void = () => undefined;

  constructor(
    private readonly live: Live,
    private readonly house: House,
  ) {}

  private readonly drawn: { marks: Mark[]; lost: number } = $derived.by(() => {
    const by = this.query?.located_by;
    if (!by || !this.table.known) return { marks: [], lost: this.table.rows.length };
    return marks(
      this.table,
      by,
      locate(this.table.columns, by, this.house.plans, this.house.building, this.nodes),
    );
  });

  get marks(): readonly Mark[] {
    return this.drawn.marks;
  }

  /** Rows that lie nowhere on the plan. */
  get lost(): number {
    return this.drawn.lost;
  }

  get rows(): number {
    return this.table.rows.length;
  }

  get known(): boolean {
    return this.table.known;
  }

  readonly name: string = $derived(this.query?.title ?? 'query');

  /** Draw a query, or none. */
  show(id: string | null): void {
    if (id === this.id) return;
    this.end();
    this.end = () => undefined;
    this.id = id;
    this.query = null;
    this.problem = null;
    this.lostNodes = null;
    this.closed = false;
    this.table = UNKNOWN;
    if (id !== null) void this.load(id);
  }

  private async load(id: string): Promise<void> {
    try {
      const query = await http.get<Query>(`queries/${encodeURIComponent(id)}/`);
      if (id !== this.id) return;
      this.query = query;
      if (!query.located_by) return;
      this.follow(id, query.order?.width);
      if (query.located_by === 'node' && this.nodes.size === 0) await this.loadNodes();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (id === this.id) this.problem = error.fields;
    }
  }

  private follow(id: string, width: number | undefined): void {
    const { live } = this;
    let bag: Bag | null = null;
    const paint = (): void => {
      if (id !== this.id || bag === null) return;
      this.table = { columns: bag.columns.slice(0, width), rows: bag.rows(), known: true };
    };
    this.end = live.client.subscribe(id, (event) => {
      if (event.kind === 'error') this.problem = event.error;
      else if (event.kind === 'closed') this.closed = true;
      else {
        this.problem = null;
        this.closed = false;
        bag = event.bag;
        live.repaint.soon(paint);
      }
    });
  }

  private async loadNodes(): Promise<void> {
    try {
      const answer = await http.post<Answer>('queries/', { sql: NODES_SQL });
      this.nodes = nodesOf(answer.rows);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.lostNodes = error.fields;
    }
  }
}
