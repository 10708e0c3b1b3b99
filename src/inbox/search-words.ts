/** The maximum number of words of a search. Further words are ignored. */
const maxWords = 20;

/** Returns the distinct words of a text, without case and accents. A word consists of letters and digits. */
export function wordsOf(text: string): string[] {
  const folded = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return [...new Set(folded.match(/[\p{L}\p{N}]+/gu))];
}

/** Returns the words to find. */
export function searchWords(search: string): string[] {
  return wordsOf(search).slice(0, maxWords);
}

/** Whether each searched word is the start of a word. */
export function areFound(searched: readonly string[], words: readonly string[]): boolean {
  return searched.every((start) => words.some((word) => word.startsWith(start)));
}
