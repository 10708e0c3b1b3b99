/** A text as one word of a POSIX shell, in quotes: a reader pastes it, and it may come from a stranger. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same, without the quotes where the text needs none. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : quoteWord(text);
}
