const maxEdits = 2;

/**
 * Returns a hint to append to an error message, such as ` Did you mean "dataset"?`. Returns an empty string if no valid word
 * is similar to `word`.
 */
export function suggest(word: string, valid: readonly string[]): string {
  const near = valid
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxEdits)
    .sort((left, right) => left.distance - right.distance)[0];
  return near ? ` Did you mean "${near.candidate}"?` : "";
}

/**
 * Returns the Levenshtein distance: the number of letters to insert, delete, or replace to turn one word into the
 * other.
 */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [position, letter] of [...from].entries()) {
    const next = [position + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
