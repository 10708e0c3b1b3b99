/** A pseudorandom number generator. The same seed produces the same numbers, so that findings can be reproduced. */
export class SeededRandom {
  #state: number;

  /** @param seed An integer. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1, excluding 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `end`, excluding `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Returns `true` with this probability, from 0 to 1. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Returns an item of a non-empty list. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("The list is empty.");
    return item;
  }

  /** Returns an item of a list with weights. */
  pickWeighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0);
    const found = items.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return found ?? this.pick(items);
  }

  /** Returns a string of letters and digits. */
  text(length: number): string {
    const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    return Array.from({ length }, () => letters[this.below(letters.length)]).join("");
  }
}
