import { setTimeout } from "node:timers/promises";
import { shareRun } from "../../core/time.ts";

/** How long a count is reused while the queue is not full. */
const freshMs = 1_000;
/** The pause after a count, as a multiple of the count's duration. The pause limits the load on the server. */
const pauseFactor = 4;

/** Estimates the number of queued deliveries, because PostgreSQL counts jobs by reading every job in the queue. */
export class Backlog {
  readonly #count: () => Promise<number>;
  #counted = 0;
  #addedSince = 0;
  /** When the last count ended and when the next count may start, by `performance.now()`. */
  #countedAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Counts the queued deliveries, after the pause that follows the last count. Concurrent callers share one count. */
  readonly #refresh = shareRun(() => this.#read());

  /** @param count counts the queued deliveries on the server. */
  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  added(): void {
    this.#addedSince += 1;
  }

  /** Whether at least `limit` deliveries are queued. Ignores those that other processes added since the last count. */
  async isFull(limit: number): Promise<boolean> {
    const isOld = performance.now() - this.#countedAt >= freshMs && performance.now() >= this.#nextAt;
    // The estimate can be too high, because it includes deliveries that were claimed since the last count.
    if (isOld || this.#estimate >= limit) await this.#refresh();
    return this.#estimate >= limit;
  }

  get #estimate(): number {
    return this.#counted + this.#addedSince;
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
