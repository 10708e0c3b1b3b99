/** Numbers that look random, and are the same ones for the same seed: what was found can be found again. */
export class SeededRandom {
  #state: number;

  /** @param seed any whole number. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, and without, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, and without, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Whether something happens that happens so often, from 0 to 1. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of a list that is not empty. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  }

  /** One of a list, each as often as its weight says. */
  pickWeighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0);
    const found = items.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return found ?? this.pick(items);
  }

  /** Letters and digits. */
  text(length: number): string {
    const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    return Array.from({ length }, () => letters[this.below(letters.length)]).join("");
  }
}
