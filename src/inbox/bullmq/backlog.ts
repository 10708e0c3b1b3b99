import { setTimeout } from "node:timers/promises";

/** For how many milliseconds an answer is good while there is room. */
const freshMs = 1_000;
/** After a count nobody counts for so many times as long as it took: it must not keep the server busy. */
const restFactor = 4;

/** How many deliveries wait, without asking for each that comes: PostgreSQL looks at every job of a queue to count them. */
export class Backlog {
  readonly #count: () => Promise<number>;
  #counted = 0;
  #addedSince = 0;
  /** When the last answer came, and when the next may be asked for, by `performance.now()`. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;

  /** @param count asks the server. */
  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  /** Notes that one more waits. */
  added(): void {
    this.#addedSince += 1;
  }

  /** Whether `most` wait, or more. Several receivers together may overshoot it by what arrives within a second. */
  async isFull(limit: number): Promise<boolean> {
    const isOld = performance.now() - this.#knownAt >= freshMs && performance.now() >= this.#nextAt;
    // How many of them were taken since then, only the server knows.
    if (isOld || this.#estimate >= limit) await this.#refresh();
    return this.#estimate >= limit;
  }

  get #estimate(): number {
    return this.#counted + this.#addedSince;
  }

  /** Those who want to know it at the same time share one question. */
  #refresh(): Promise<void> {
    this.#pending ??= this.#read().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #read(): Promise<void> {
    const rest = this.#nextAt - performance.now();
    if (rest > 0) await setTimeout(rest);
    const startedAt = performance.now();
    this.#addedSince = 0;
    this.#counted = await this.#count();
    this.#knownAt = performance.now();
    this.#nextAt = this.#knownAt + (this.#knownAt - startedAt) * restFactor;
  }
}
