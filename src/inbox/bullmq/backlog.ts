import { setTimeout } from "node:timers/promises";

/** The maximum age of a count that is reused while the queue is not full, in milliseconds. */
const freshMs = 1_000;
/** The pause after a count, as a multiple of the duration of the count. The pause limits the load of the server. */
const pauseFactor = 4;

/**
 * Estimates the number of queued deliveries. Counting the queued deliveries for each incoming delivery would take too long, because
 * PostgreSQL reads all jobs of a queue to count the jobs.
 */
export class Backlog {
  readonly #count: () => Promise<number>;
  #counted = 0;
  #addedSince = 0;
  /** The end of the last count and the earliest start of the next count, by `performance.now()`. */
  #countedAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;

  /** @param count counts the queued deliveries on the server. */
  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  /** Records an added delivery. */
  added(): void {
    this.#addedSince += 1;
  }

  /** Whether at least `limit` deliveries are queued. If several processes add deliveries, the result can be up to a second old. */
  async isFull(limit: number): Promise<boolean> {
    const isOld = performance.now() - this.#countedAt >= freshMs && performance.now() >= this.#nextAt;
    // The estimate can be too high, because it includes deliveries that were claimed since the last count.
    if (isOld || this.#estimate >= limit) await this.#refresh();
    return this.#estimate >= limit;
  }

  get #estimate(): number {
    return this.#counted + this.#addedSince;
  }

  /** Counts the queued deliveries. Concurrent callers share one count. */
  #refresh(): Promise<void> {
    this.#pending ??= this.#read().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #read(): Promise<void> {
    const pause = this.#nextAt - performance.now();
    if (pause > 0) await setTimeout(pause);
    const startedAt = performance.now();
    this.#addedSince = 0;
    this.#counted = await this.#count();
    this.#countedAt = performance.now();
    this.#nextAt = this.#countedAt + (this.#countedAt - startedAt) * pauseFactor;
  }
}
