/** The maximum number of words of a search. Further words are ignored. */
const maxWords = 20;

/** Returns the distinct words to find, which are separated by spaces, without case and accents. */
export function searchWords(search: string): string[] {
  const words = fold(search).split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, maxWords);
}

/** Whether each word of {@link searchWords} is part of at least one text. Only reads texts until all words are found. */
export function areFound(words: readonly string[], texts: Iterable<string | undefined>): boolean {
  let missing = words;
  for (const text of texts) {
    if (text === undefined) continue;
    const folded = fold(text);
    missing = missing.filter((word) => !folded.includes(word));
    if (missing.length === 0) return true;
  }
  return missing.length === 0;
}

/** Whether the filter of a list names one repository with its type, as in `dataset:acme/data`. Other filters are a part of a name. */
export function isWholeRepository(filter: string): boolean {
  return /^[a-z]+:./.test(filter);
}

/** Whether a repository matches the filter of a list: the repository with its type, or a part of its name. */
export function matchesRepository(filter: string, { type, name }: { type: string; name: string }): boolean {
  return isWholeRepository(filter) ? `${type}:${name}` === filter : fold(name).includes(fold(filter));
}

/** Removes case and accents. */
function fold(text: string): string {
  const isAscii = !/[\u0080-\uffff]/.test(text);
  return (isAscii ? text : text.normalize("NFKD").replaceAll(/\p{M}/gu, "")).toLowerCase();
}
