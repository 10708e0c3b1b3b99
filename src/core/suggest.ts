/** How many letters off a word may be: two make one exchange of neighbours. */
const furthest = 2;

/** ` Did you mean "dataset"?` where one of `known` is close to `word`, else nothing: to be put behind an error. */
export function suggest(word: string, known: readonly string[]): string {
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate) }))
    .filter(({ distance }) => distance <= furthest)
    .sort((left, right) => left.distance - right.distance)[0];
  return near ? ` Did you mean "${near.candidate}"?` : "";
}

/** How many letters must be added, left out or changed to get from one word to the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [position, letter] of [...from].entries()) {
    const next = [position + 1];
    for (const [index, other] of [...to].entries()) {
      const changed = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
