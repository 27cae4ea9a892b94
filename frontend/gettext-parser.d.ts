/** What of the package is used here; it brings no types. */
declare module 'gettext-parser' {
  export interface GetTextTranslation {
    msgid: string;
    msgid_plural?: string;
    msgstr: string[];
    comments?: { reference?: string; flag?: string };
  }

  interface File {
    headers: Record<string, string>;
    /** By context, then by text. */
    translations: Record<string, Record<string, GetTextTranslation>>;
    obsolete?: Record<string, Record<string, GetTextTranslation>>;
  }

  const gettext: {
    po: {
      parse: (file: Buffer | string) => File;
      compile: (file: File, options: { foldLength: number }) => Buffer;
    };
  };
  export default gettext;
}
