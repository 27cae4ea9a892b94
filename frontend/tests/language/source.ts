/** Reads a source for what people would see: texts that are translated, and those that are not. */
import { parse } from 'svelte/compiler';

export interface Message {
  readonly one: string;
  /** Of a number of things. */
  readonly many?: string;
}

export interface Fault {
  readonly line: number;
  readonly what: string;
  readonly text: string;
}

export interface Reading {
  readonly messages: readonly Message[];
  readonly faults: readonly Fault[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Attributes that are read out or shown, on elements and as properties of components. */
const SHOWN_ATTRIBUTES = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-placeholder',
  'aria-roledescription',
  'aria-valuetext',
  'heading',
  'label',
  'placeholder',
  'said',
  'title',
  'without',
]);

/** The same in every language. */
const NO_WORDS = new Set([
  'SmartCIS',
  'WC',
  'REST',
  'SQL',
  'CSV',
  'JSON',
  'GeoJSON',
  'mJ',
  'm',
  's',
  'h',
  'min',
  'kg',
  'lx',
  'ppm',
  'W',
  'mW',
  'km',
  'µW',
  'Wh',
  'MB',
  'hPa',
]);

/** Calls whose texts nobody reads: of the document, of storage, of comparing. */
const UNREAD_CALLS = new Set([
  'addEventListener',
  'closest',
  'createElement',
  'define',
  'endsWith',
  'getAttribute',
  'getItem',
  'getPropertyValue',
  'includes',
  'join',
  'matches',
  'matchMedia',
  'on',
  'off',
  'querySelector',
  'querySelectorAll',
  'replace',
  'replaceAll',
  'setItem',
  'split',
  'startsWith',
]);

const LETTERS = /\p{L}/u;
/** Begins like a sentence, has words beside each other, or ends like one. */
const PROSE = /^\p{Lu}\p{Ll}|\p{L}[,:;]? \p{L}|\p{L}{2,} \{\}|\{\} \p{L}{2,}|\p{Ll}{2}\.$/u;
/** Statements for the engine, style rules, headers, and letters of a picture's path. */
const CODE =
  /^(SELECT|UPDATE|ONCE|WITH) |^[A-Z][a-z]+(-[A-Z][a-z]+)+$|^[MLHVCSQTAZ]\{?[\d\s{-]|^(translate|rotate|scale)\(|^\d+ \d+px /;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Node types whose inside is types alone, or names of modules. */
const SKIPPED = /^(Import|Export(All|Named)Declaration$|TS(?!As|Satisfies|NonNull|ParameterProperty))/;

/** A template as one text, with `{}` for each value. */
function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type !== 'TemplateLiteral') return null;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('{}');
}

function calleeOf(node: Node): string {
  const callee = node.callee as Node & { name?: string; property?: { name?: string } };
  return callee.name ?? callee.property?.name ?? '';
}

export function read(path: string, source: string): Reading {
  const script = path.endsWith('.ts');
  const opening = '<script lang="ts">';
  const root = parse(script ? `${opening}${source}</script>` : source, { modern: true });
  const messages: Message[] = [];
  const faults: Fault[] = [];
  const from = script ? opening.length : 0;

  const fault = (node: Node, what: string, text: string): void => {
    const line = source.slice(0, node.start - from).split('\n').length;
    faults.push({ line, what, text: text.replaceAll(/\s+/g, ' ').trim() });
  };
  const wordless = (text: string): boolean =>
    text.split(/[^\p{L}]+/u).every((part) => part === '' || NO_WORDS.has(part));

  /** @param shown whether what it gives stands on the page, so that a single word counts too. */
  function judge(node: Node, shown: boolean): void {
    const text = textOf(node);
    if (text === null || !LETTERS.test(text) || wordless(text)) return;
    if (shown) fault(node, 'shown without t()', text);
    else if (PROSE.test(text) && !CODE.test(text)) fault(node, 'looks like prose', text);
  }

  function message(node: Node, name: 't' | 'n', loading: boolean): void {
    const given = node.arguments as Node[];
    const texts = given
      .slice(0, name === 't' ? 1 : 2)
      .map((one) => (one.type === 'Literal' ? textOf(one) : null));
    const [one, many] = texts;
    if (texts.some((text) => text === null) || one === undefined || one === null) {
      fault(
        node,
        `${name}() of something else than a literal`,
        source.slice(node.start - from, node.end - from),
      );
      return;
    }
    if (loading) fault(node, `${name}() before the language is known`, one);
    messages.push(typeof many === 'string' ? { one, many } : { one });
    for (const value of given.slice(texts.length)) visit(value, false, loading);
  }

  function visitAll(values: unknown, shown: boolean, loading: boolean): void {
    if (isNode(values)) visit(values, shown, loading);
    else if (Array.isArray(values)) for (const one of values) visitAll(one, shown, loading);
  }

  function visit(node: Node, shown: boolean, loading: boolean): void {
    if (SKIPPED.test(node.type) && !(node.type === 'ExportNamedDeclaration' && node.declaration)) return;
    switch (node.type) {
      case 'Text': {
        const text = String(node.data);
        if (LETTERS.test(text) && !wordless(text)) fault(node, 'text', text);
        return;
      }
      case 'Comment':
      case 'StyleSheet':
        return;
      case 'Attribute':
        attribute(node, loading);
        return;
      case 'RegularElement':
      case 'SvelteElement':
        for (const one of node.attributes as Node[]) {
          if (
            one.type === 'Attribute' &&
            !SHOWN_ATTRIBUTES.has(String(one.name)) &&
            !String(one.name).startsWith('on')
          )
            continue;
          visit(one, false, loading);
        }
        visitAll(node.fragment, false, loading);
        return;
      case 'ExpressionTag':
        visitAll(node.expression, true, loading);
        return;
      case 'Literal':
      case 'TemplateLiteral':
        judge(node, shown);
        visitAll(node.expressions, shown, loading);
        return;
      case 'ConditionalExpression':
        visitAll(node.test, false, loading);
        visitAll([node.consequent, node.alternate], shown, loading);
        return;
      case 'LogicalExpression':
        visitAll([node.left, node.right], shown, loading);
        return;
      case 'BinaryExpression':
        if (node.operator === '+') visitAll([node.left, node.right], shown, loading);
        else
          visitAll(
            [node.left, node.right].filter((one) => textOf(one as Node) === null),
            false,
            loading,
          );
        return;
      case 'SwitchCase':
        visitAll(node.consequent, false, loading);
        return;
      case 'MemberExpression':
        visitAll(node.object, false, loading);
        if (node.computed && textOf(node.property as Node) === null) visitAll(node.property, false, loading);
        return;
      case 'Property':
      case 'PropertyDefinition':
        visitAll(node.value, false, node.type === 'Property' || node.static === true ? loading : false);
        return;
      case 'NewExpression':
        if (!calleeOf(node).endsWith('Error')) visitAll(node.arguments, false, loading);
        return;
      case 'CallExpression': {
        const name = calleeOf(node);
        if ((name === 't' || name === 'n') && (node.callee as Node).type === 'Identifier')
          message(node, name, loading);
        else if (name === 'setAttribute') named(node.arguments as Node[], loading);
        else {
          visitAll(node.callee, false, loading);
          visitAll(
            (node.arguments as Node[]).filter((one) => !UNREAD_CALLS.has(name) || textOf(one) === null),
            false,
            loading,
          );
        }
        return;
      }
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration':
        visitAll(node.params, false, false);
        visitAll(node.body, shown, false);
        return;
      default:
        for (const [key, value] of Object.entries(node)) {
          if (key !== 'typeAnnotation' && key !== 'options') visitAll(value, false, loading);
        }
    }
  }

  /** What a script gives an element to be read out or shown. */
  function named([name, value]: Node[], loading: boolean): void {
    if (name && value) visit(value, SHOWN_ATTRIBUTES.has(textOf(name) ?? ''), loading);
  }

  function attribute(node: Node, loading: boolean): void {
    const shown = SHOWN_ATTRIBUTES.has(String(node.name));
    for (const value of Array.isArray(node.value) ? (node.value as Node[]) : [node.value]) {
      if (!isNode(value)) continue;
      const text = value.type === 'Text' ? String(value.data) : '';
      if (LETTERS.test(text) && !wordless(text) && (shown || PROSE.test(text)))
        fault(value, 'attribute', `${String(node.name)}=${text}`);
      if (value.type === 'ExpressionTag') visitAll(value.expression, shown, loading);
    }
  }

  visitAll(root.fragment, false, false);
  visitAll((root.module as unknown as { content?: Node } | null)?.content, false, true);
  visitAll((root.instance as unknown as { content?: Node } | null)?.content, false, script);
  return { messages, faults };
}
