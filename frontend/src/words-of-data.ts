/** Words that come as data and with the product: `word` translates them, and those of others it leaves as they are. */
export const DATA_WORDS: readonly string[] = [];
