/** CodeMirror in a shadow root: its style sheets are adopted, so no inline style is needed. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql, SQLDialect } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { ProblemFields } from '../api/http';
import type { Source } from '../api/schema';
import { t } from '../language';

const STREAM_SQL = SQLDialect.define({
  keywords:
    'once select from where group by having order as join left on and or not in exists union all distinct with recursive ' +
    'create view case when then else end is null between like partition rows range seconds minutes hours true false interval ' +
    'over window qualify lateral rollup cube grouping sets filter within preceding following unbounded current row groups exclude ties others slide tumble session lateness ' +
    'output to alarm webhook key raise clear for no data after severity notify email',
  types: 'int float decimal text bool date time timestamp timestamptz',
  builtin:
    'count sum min max avg median quantile_cont quantile_disc mode stddev variance bool_and bool_or count_if arg_min arg_max string_agg array_agg ' +
    'corr covar_pop covar_samp regr_slope regr_intercept regr_r2 ' +
    'row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value ' +
    'abs round trunc floor ceil sqrt power exp ln log10 mod lower upper length trim substr replace split_part concat concat_ws ' +
    'starts_with ends_with contains regexp_matches regexp_replace regexp_extract coalesce nullif least greatest distance ' +
    'list_contains list_append list_concat list_position list_sort list_distinct array_to_string string_split',
  operatorChars: '*+-%<>!=/',
});

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--ink-2)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--region)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '14.5px', height: '100%' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '-1px', borderRadius: '9px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '9.5rem', maxHeight: '38vh' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '12px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--paper-2)',
    color: 'var(--ink-2)',
    border: 'none',
    borderRadius: '9px 0 0 9px',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft) !important',
    outline: '1px solid var(--accent)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--control)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    fontFamily: 'var(--font)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--accent-ink)',
  },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)', padding: '6px 12px' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 2px',
    textUnderlineOffset: '4px',
    backgroundColor: 'var(--bad-soft)',
  },
  '.cm-placeholder': { color: 'var(--ink-2)' },
});

export interface Editor {
  text(): string;
  replace(text: string): void;
  /** Underline a problem's place, or clear with null. */
  mark(problem: ProblemFields | null): void;
  /** Put `text` where the problem lies. */
  fix(problem: ProblemFields, text: string): void;
  catalogue(sources: readonly Source[]): void;
  focus(): void;
  destroy(): void;
}

/** Offsets of a problem in the document; the whole text where it names no place. */
export function span(state: EditorState, problem: ProblemFields): { from: number; to: number } {
  const at = problem.position;
  if (at === null) return { from: 0, to: state.doc.length };
  const line = state.doc.line(Math.min(Math.max(1, at.line), state.doc.lines));
  const from = Math.min(line.from + Math.max(0, at.column - 1), line.to);
  const to = Math.min(from + Math.max(1, at.length), state.doc.length);
  return { from: Math.min(from, Math.max(0, to - 1)), to };
}

/** "found x · exists a, b · try …" as one line of text. */
export function advice(problem: ProblemFields): string {
  const parts = [problem.message];
  if (problem.found) parts.push(t('Found: {what}.', { what: problem.found }));
  if (problem.exists.length > 0) parts.push(t('Exists: {names}.', { names: problem.exists.join(', ') }));
  if (problem.try) parts.push(t('Try: {attempt}', { attempt: problem.try }));
  return parts.join(' ');
}

export function openEditor(
  host: HTMLElement,
  initial: string,
  on: { change: (text: string) => void; run: () => void },
): Editor {
  const root = host.attachShadow({ mode: 'open' });
  const parent = document.createElement('div');
  root.append(parent);
  const language = new Compartment();
  const view = new EditorView({
    parent,
    root,
    state: EditorState.create({
      doc: initial,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        lintGutter(),
        placeholder('SELECT … FROM …'),
        language.of(sql({ dialect: STREAM_SQL, upperCaseKeywords: true })),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': t('StreamSQL query'),
          // The help text lies outside the shadow root, where no reference reaches it.
          'aria-description': t('Ctrl-Enter does what the text says. Esc, then Tab leaves the editor.'),
          'data-testid': 'query-editor',
        }),
        // Tab is not bound: it leaves the editor, so the keyboard is never trapped.
        keymap.of([
          { key: 'Mod-Enter', run: () => (on.run(), true) },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) on.change(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(problem) {
      const found =
        problem === null
          ? []
          : [
              {
                ...span(view.state, problem),
                severity: 'error' as const,
                message: advice(problem),
                source: problem.code,
              },
            ];
      view.dispatch(setDiagnostics(view.state, found));
    },
    fix(problem, text) {
      const { from, to } = span(view.state, problem);
      view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length } });
      view.focus();
    },
    catalogue(sources) {
      const schema = Object.fromEntries(sources.map((s) => [s.name, s.columns.map((c) => c.name)]));
      view.dispatch({
        effects: language.reconfigure(sql({ dialect: STREAM_SQL, schema, upperCaseKeywords: true })),
      });
    },
    focus() {
      view.focus();
    },
    destroy() {
      view.destroy();
    },
  };
}
