/** What was found, each kind once with the case that shows it, and how often it came. */
export class Findings {
  readonly #found = new Map<string, { count: number; shownBy: string }>();

  /**
   * @param what is wrong, in the same words for all cases of one kind.
   * @param shownBy how to see it again.
   */
  note(what: string, shownBy = ""): void {
    const found = this.#found.get(what);
    if (found) found.count += 1;
    else {
      this.#found.set(what, { count: 1, shownBy });
      console.error(`FOUND: ${what}${shownBy && `\n  ${shownBy}`}`);
    }
  }

  get all(): readonly { what: string; count: number; shownBy: string }[] {
    return [...this.#found].map(([what, found]) => ({ what, ...found }));
  }
}
