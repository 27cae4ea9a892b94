/** Translations as files: read, and written anew for the texts that the sources have. */
import { readFileSync } from 'node:fs';
import gettext, { type GetTextTranslation } from 'gettext-parser';
import type { Message } from './source';

/** Texts of the sources by the file that has them. */
export type Sources = ReadonlyMap<string, readonly Message[]>;

/** The file for these texts: translations are kept, what nobody says any more goes, what is new is empty. */
export function renewed(path: string, sources: Sources): string {
  const old = gettext.po.parse(readFileSync(path, 'utf8'));
  const head = old.translations['']?.[''];
  const entries = new Map<string, GetTextTranslation>();
  for (const [file, messages] of sources) {
    for (const { one, many } of messages) {
      const known = entries.get(one);
      if (known) {
        if (many !== undefined) known.msgid_plural = many;
        continue;
      }
      const before = old.translations['']?.[one];
      entries.set(one, {
        msgid: one,
        ...(many === undefined ? {} : { msgid_plural: many }),
        msgstr: before?.msgstr ?? (many === undefined ? [''] : ['', '']),
        comments: { ...before?.comments, reference: file },
      });
    }
  }
  const translations = { '': { ...(head && { '': head }), ...Object.fromEntries(entries) } };
  return `${gettext.po
    .compile({ ...old, obsolete: {}, translations }, { foldLength: 0 })
    .toString()
    .trim()}\n`;
}

const placeholders = (text: string): string => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');
const uncounted = (text: string): string => placeholders(text.replaceAll('{count}', ''));

/** What is wrong with a file of translations, in words; empty where nothing is. */
export function shortcomings(text: string): string[] {
  const { translations } = gettext.po.parse(text);
  return Object.values(translations[''] ?? {}).flatMap(({ msgid, msgid_plural, msgstr, comments }) => {
    if (msgid === '') return [];
    const counted = msgid_plural !== undefined;
    const said = (what: string): string[] => [`${msgid}: ${what}`];
    if (comments?.flag?.includes('fuzzy')) return said('fuzzy');
    if (msgstr.length !== (counted ? 2 : 1) || msgstr.some((form) => form.trim() === ''))
      return said('not translated');
    const of = counted ? uncounted : placeholders;
    if (msgstr.some((form) => of(form) !== of(msgid))) return said('other placeholders');
    if (counted && !msgstr.at(-1)?.includes('{count}') && msgid_plural.includes('{count}'))
      return said('does not say how many');
    return [];
  });
}
