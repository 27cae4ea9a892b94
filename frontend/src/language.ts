/**
 * What people read, in the language of the page.
 *
 * English stands in the code and is the key of its translation. `t` and `n` give the text of the moment, so
 * they are called where something is drawn, never while a module loads: the catalogue comes after that.
 */
import type { Catalogue } from '../catalogue';

const CATALOGUES = import.meta.glob<{ default: Catalogue }>(
  '../../smartcis/locale/*/LC_MESSAGES/djangojs.po',
);
const ENGLISH: Catalogue = { texts: {}, plural: (count) => Number(count !== 1) };

let catalogue = ENGLISH;

/** Fetch what the page's language needs; English needs nothing. */
export async function loadLanguage(): Promise<void> {
  const load = CATALOGUES[`../../smartcis/locale/${language()}/LC_MESSAGES/djangojs.po`];
  // A page that is open while another version is deployed cannot fetch its catalogue: English is better than nothing.
  catalogue = (await load?.().catch(() => undefined))?.default ?? ENGLISH;
}

/** The language the server wrote the page in. */
export function language(): string {
  return document.documentElement.lang || 'en';
}

/** The page's language as it is written where the reader lives: de-AT of a German page, en-GB of an English one. */
export function locale(): string {
  const page = language();
  return navigator.languages.find((one) => one === page || one.startsWith(`${page}-`)) ?? page;
}

type Named<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;
type Values<Name extends string> = [Name] extends [never] ? [] : [Readonly<Record<Name, string | number>>];

/** A text in the reader's language; `{name}` in it stands for a value. */
export function t<S extends string>(text: S, ...[values]: Values<Named<S>>): string {
  return filled(catalogue.texts[text]?.[0] ?? text, values);
}

/** A text about a number of things; `{count}` in it stands for the number. */
export function n<One extends string, Many extends string>(
  one: One,
  many: Many,
  count: number,
  ...[values]: Values<Exclude<Named<One | Many>, 'count'>>
): string {
  const forms = catalogue.texts[one];
  const text = forms ? forms[catalogue.plural(count)] : [one, many][ENGLISH.plural(count)];
  return filled(text ?? many, { count, ...values });
}

/** A word that comes as data: translated if it is one of those that come with the product. */
export function word(given: string): string {
  return catalogue.texts[given]?.[0] ?? given;
}

function filled(text: string, values?: Readonly<Record<string, string | number>>): string {
  if (values === undefined) return text;
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? decimal(value) : (value ?? all);
  });
}

/** "a, b and c". */
export function listed(parts: readonly string[]): string {
  return new Intl.ListFormat(locale()).format(parts);
}

/** "1,240.5", "1.240,5"; with as many digits behind the point as it has, or as are asked for. */
export function decimal(value: number, digits?: number): string {
  const exactly =
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(locale(), exactly);
}
