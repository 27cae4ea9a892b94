/** Makes a module of a gettext catalogue, so that a page loads only the language it speaks. */
import { readFileSync } from 'node:fs';
import gettext from 'gettext-parser';
import type { Plugin } from 'vite';

export interface Catalogue {
  /** The forms of each text by its English. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
  /** Which form goes with a number. */
  readonly plural: (count: number) => number;
}

/** The rule of a header is C, and within these characters C is JavaScript. */
const RULE = /plural=([\sn\d?:()!=<>&|%+*/-]+)/;

export function catalogues(): Plugin {
  return {
    name: 'catalogues',
    load(id) {
      if (!id.endsWith('.po')) return null;
      this.addWatchFile(id);
      const { headers, translations } = gettext.po.parse(readFileSync(id));
      const rule = RULE.exec(headers['Plural-Forms'] ?? '')?.[1];
      if (rule === undefined) throw new Error(`${id} does not say in Plural-Forms how it counts.`);
      const texts = Object.values(translations[''] ?? {})
        .filter(({ msgid, msgstr }) => msgid !== '' && msgstr.every((form) => form !== ''))
        .map(({ msgid, msgstr }) => [msgid, msgstr]);
      return `export default { plural: (n) => Number(${rule}), texts: ${JSON.stringify(Object.fromEntries(texts))} };`;
    },
  };
}
