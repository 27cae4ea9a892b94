/** The workbench's one store: the text and what is said of it, the query in view, one's own queries. */
import { n, t } from '../language';
import { http, Problem, type ProblemFields } from '../api/http';
import type {
  Answer,
  Checked,
  Done,
  Example,
  Explanation,
  Limits,
  Query,
  Source,
  Warning,
  Ways,
} from '../api/schema';
import { Live } from '../store/live.svelte';
import type { Surroundings } from '../wire/client';
import type { Editor } from './editor';
import { Results } from './results.svelte';
import { onceOf, queryHref, queryIn, withoutOnce } from './share';

/** Typing rests this long before the text is checked, ms. */
const CHECK_AFTER_MS = 350;
const REFRESH_MS = 5000;

export type Verdict = 'none' | 'checking' | 'good' | 'bad';
/** Kept running, answered once, or whatever the text itself says. */
export type Way = 'live' | 'once' | 'text';

/** The query in view outlives the service's: its last rows stand after it was stopped. */
export type InView = Omit<Query, 'state'> & { readonly state: Query['state'] | 'stopped' };

interface Page<T> {
  readonly results: T[];
}

export class Workbench {
  readonly live: Live;
  examples = $state.raw<readonly Example[]>([]);
  sources = $state.raw<readonly Source[]>([]);
  running = $state.raw<readonly Query[]>([]);
  limits = $state.raw<Limits | null>(null);
  /** The maintained query in view. */
  current = $state.raw<InView | null>(null);
  results = $state.raw<Results | null>(null);
  done = $state.raw<Done | null>(null);
  /** The text in the editor. */
  text = $state('');
  /** The text that what stands below it answers, as it stood in the editor. */
  asked = $state('');
  /** Whether that is another text than the one in the editor now. */
  readonly former: boolean = $derived(
    (this.results !== null || this.done !== null) && !same(this.text, this.asked),
  );
  kind = $state('query');
  ways = $state.raw<Ways | null>(null);
  /** What speaks against running the text as it stands. */
  warnings = $state.raw<readonly Warning[]>([]);
  /** The way in which a text shall run that somebody is asked about once more. */
  asking = $state<Way | null>(null);
  problem = $state.raw<ProblemFields | null>(null);
  refused = $state.raw<ProblemFields | null>(null);
  explanation = $state.raw<Explanation | null>(null);
  /** The text that was explained. */
  explained = $state('');
  /** What an explanation assumes: the metric in words, and the seeds' limit of one join. */
  weights = $state('');
  single = $state(false);
  verdict = $state<Verdict>('none');
  busy = $state(false);
  /** What the polite live region says. */
  said = $state('');
  editor: Editor | null = null;
  private checking = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(around: Surroundings) {
    this.live = new Live(around);
  }

  start(editor: Editor): () => void {
    this.editor = editor;
    this.read();
    const stop = this.live.start(['active_alarm']);
    void this.loadSources();
    void this.loadExamples();
    void this.refresh();
    const again = setInterval(() => void this.refresh(), REFRESH_MS);
    const back = (): void => void this.resume();
    window.addEventListener('popstate', back);
    void this.resume();
    return () => {
      clearInterval(again);
      clearTimeout(this.timer);
      window.removeEventListener('popstate', back);
      this.results?.stop();
      editor.destroy();
      stop();
    };
  }

  async loadExamples(): Promise<void> {
    try {
      this.examples = await http.get<Example[]>('queries/examples/');
      const first = this.examples[1];
      if (first && this.read() === '' && queryIn(location.search) === null) this.put(first.sql);
    } catch (error) {
      this.refuse(error);
    }
  }

  async loadSources(): Promise<void> {
    try {
      this.sources = await http.get<Source[]>('sources/');
      this.editor?.catalogue(this.sources);
    } catch (error) {
      this.refuse(error);
    }
  }

  /** Bring one's own queries, and the query in view, up to date. */
  async refresh(): Promise<void> {
    try {
      this.running = (await http.get<Page<Query>>('queries/?mine=1')).results;
      const id = this.current?.id;
      if (id === undefined) return;
      const seen = this.running.find((query) => query.id === id) ?? (await this.look(id));
      if (this.current?.id === id) this.current = seen ?? { ...this.current, state: 'stopped' };
    } catch (error) {
      // The chip already says that the service is away.
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** Give a query, null where it has ended. */
  private async look(id: string): Promise<Query | null> {
    try {
      return await http.get<Query>(`queries/${encodeURIComponent(id)}/`);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return null;
      throw error;
    }
  }

  async loadLimits(): Promise<void> {
    try {
      this.limits = await http.get<Limits>('queries/limits/');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** Take up the query the address names. */
  async resume(): Promise<void> {
    void this.loadLimits();
    const id = queryIn(location.search);
    if (id === null) {
      this.leave();
      void this.check();
      return;
    }
    try {
      const query = await http.get<Query>(`queries/${encodeURIComponent(id)}/`);
      this.put(query.sql);
      this.follow(query, query.sql);
    } catch (error) {
      this.refuse(error);
      void this.check();
    }
  }

  open(query: Query): void {
    history.pushState(null, '', queryHref(query.id));
    void this.resume();
  }

  private read(): string {
    this.text = this.editor?.text() ?? '';
    return this.text;
  }

  typed(): void {
    this.read();
    this.asking = null;
    this.checking += 1; // a verdict that is on its way is of another text
    this.verdict = 'checking';
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), CHECK_AFTER_MS);
  }

  async check(): Promise<void> {
    clearTimeout(this.timer);
    const sql = this.read();
    const turn = ++this.checking;
    this.refused = null;
    if (sql.trim() === '') {
      this.show(null);
      this.ways = null;
      this.warnings = [];
      this.verdict = 'none';
      return;
    }
    try {
      const answer = await http.post<Checked>('queries/check/', { sql });
      if (turn !== this.checking) return;
      this.show(answer.ok ? null : answer);
      this.ways = answer.ok ? answer.ways : null;
      this.warnings = answer.ok ? answer.warnings : [];
      if (answer.ok) this.kind = answer.kind;
    } catch (error) {
      if (turn !== this.checking) return;
      if (!(error instanceof Problem)) throw error;
      this.refuse(error);
    }
  }

  /** Mark what is wrong with the text; null where nothing is. */
  private show(found: ProblemFields | null): void {
    this.problem = found;
    this.verdict = found === null ? 'good' : 'bad';
    this.editor?.mark(found);
  }

  async explain(): Promise<void> {
    try {
      const body = { sql: this.read(), weights: this.weights, joins: this.single ? 1 : null };
      this.explanation = await http.post<Explanation>('queries/explain/', body);
      this.explained = body.sql;
      this.refused = null;
    } catch (error) {
      this.refuse(error);
    }
  }

  assume(weights: string, single: boolean): void {
    this.weights = weights;
    this.single = single;
    void this.explain();
  }

  /**
   * Run the text in a way; where the text does not allow it, say why and do nothing.
   *
   * @param sure whether it shall run although it is known to give very many rows.
   */
  async run(way: Way, sure = false): Promise<void> {
    const sql = this.read();
    if (sql.trim() === '' || this.busy) return;
    this.busy = true;
    let once = false;
    try {
      if (this.verdict !== 'good' && (way !== 'text' || !sure)) await this.check();
      if (!sure && this.verdict === 'good' && this.warnings.some(({ large }) => large)) {
        this.asking = way;
        this.said = t('Not run yet: this gives very many rows. Run it anyway, or change the text.');
        return;
      }
      this.asking = null;
      if (way !== 'text') {
        // Without a verdict nobody knows what the text is, so it may not pass for this or that.
        if (this.ways === null) return;
        if (this.ways[way] !== '') {
          this.said = t('Not done: {reason}.', { reason: this.ways[way] });
          return;
        }
        once = way === 'once' && this.kind !== 'once';
      }
      clearTimeout(this.timer);
      this.checking += 1;
      await this.submit(sql, once);
    } catch (error) {
      const shifted = once && error instanceof Problem;
      this.refuse(shifted ? new Problem(error.status, withoutOnce(error.fields)) : error);
    } finally {
      this.busy = false;
    }
  }

  private async submit(sql: string, once: boolean): Promise<void> {
    const body = { sql: once ? onceOf(sql) : sql };
    const answer = await http.post<Query | Answer | Done>('queries/', body);
    this.show(null);
    this.refused = null;
    if ('kind' in answer) {
      this.settle(answer, sql);
    } else {
      history.pushState(null, '', queryHref(answer.id));
      this.follow(answer, sql);
      this.said = t('The query runs; its result keeps itself up to date.');
      void this.refresh();
    }
    void this.loadLimits();
  }

  /** Show what was answered once, or what a statement changed; neither goes on. */
  private settle(answer: Answer | Done, sql: string): void {
    this.fork();
    this.asked = sql;
    if (answer.kind === 'answer') {
      this.results = Results.answered(answer);
      this.said = n(
        'Answered once, with one row at position {position} of the log.',
        'Answered once, with {count} rows at position {position} of the log.',
        answer.total,
        { position: String(answer.position) },
      );
    } else {
      this.done = answer;
      this.said = t('{statement} {name}: {count} changed.', {
        statement: answer.statement,
        name: answer.name,
        count: answer.changed,
      });
      void this.loadSources();
      void this.refresh();
    }
  }

  refuse(error: unknown): void {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 400 && error.fields.position !== null) this.show(error.fields);
    else this.refused = error.fields;
  }

  private follow(query: Query, sql: string): void {
    this.leave();
    this.current = query;
    this.asked = sql;
    this.results = Results.of(this.live, query.id, query.order ?? null);
  }

  private leave(): void {
    this.results?.stop();
    this.results = null;
    this.current = null;
    this.done = null;
    this.asked = '';
  }

  /** Keep the text and leave the query: what is run from here is another. */
  fork(): void {
    this.leave();
    if (location.search !== '') history.pushState(null, '', location.pathname);
  }

  async stop(query: Pick<Query, 'id'>): Promise<void> {
    await this.trying(async () => {
      await http.remove(`queries/${encodeURIComponent(query.id)}/`);
      this.said = t('The query is stopped.');
      if (query.id === this.current?.id) this.fork();
      void this.loadLimits();
      await this.refresh();
    });
  }

  async change(query: Pick<Query, 'id'>, changes: { name?: string; show_author?: boolean }): Promise<void> {
    await this.trying(async () => {
      const path = `queries/${encodeURIComponent(query.id)}/`;
      const named = await http.patch<Query>(path, changes);
      if (this.current?.id === named.id) this.current = named;
      this.said = t('The query is called {title}.', { title: named.title });
      await this.refresh();
    });
  }

  async callAgain(query: Pick<Query, 'id'>): Promise<void> {
    await this.trying(async () => {
      await http.post(`queries/${encodeURIComponent(query.id)}/deliveries/`, {});
      this.said = t('The calls are made once more.');
      await this.refresh();
    });
  }

  private async trying(deed: () => Promise<void>): Promise<void> {
    try {
      await deed();
    } catch (error) {
      this.refuse(error);
    }
  }

  load(text: string): void {
    this.put(text);
    this.editor?.focus();
  }

  private put(text: string): void {
    this.editor?.replace(text);
    this.text = text;
  }
}

/** Whether two texts ask the same, whatever space stands before and behind. */
function same(one: string, other: string): boolean {
  return one.trim() === other.trim();
}
