import type { SearchIndexer } from "./search-indexer.ts";

/** The interval and the maximum number of deliveries per step without recent searches. */
const idleMs = 1_000;
const idleRows = 200;
/** After a search, the index is maintained with these values for `fastPeriodMs`. */
const fastMs = 100;
const fastRows = 500;
const fastPeriodMs = 60_000;
/** After a step that left deliveries to index, the next step waits for this multiple of its duration. */
const pauseFactor = 1;
/** The pause after the deleted deliveries were removed from the whole index, in milliseconds. */
const sweepPauseMs = 3_600_000;
/** The pause after an error, or while the disk is too full for the index, in milliseconds. */
const retryMs = 10_000;

export interface IndexScheduleOptions {
  openIndexer: () => SearchIndexer;
  /** Returns the number of searches so far. */
  countSearches: () => number;
  /** Whether the index can grow. */
  hasSpace: () => boolean;
}

/**
 * Runs the steps of a search index at intervals: a few deliveries per second at first, and more after a search. Waits while the disk has
 * little space, because the deliveries need it.
 */
export class IndexSchedule {
  readonly #options: IndexScheduleOptions;
  #indexer: SearchIndexer | undefined;
  #searches = 0;
  #fastUntil = Number.NEGATIVE_INFINITY;
  #sweepAt = 0;

  constructor(options: IndexScheduleOptions) {
    this.#options = options;
  }

  /** Runs the first step, and schedules the others until the thread exits. */
  start(): void {
    setTimeout(() => this.start(), this.#runStep());
  }

  /** Runs a step. Returns the pause before the next step, in milliseconds. */
  #runStep(): number {
    const searches = this.#options.countSearches();
    const startedAt = performance.now();
    if (searches !== this.#searches) this.#fastUntil = startedAt + fastPeriodMs;
    this.#searches = searches;
    const isFast = startedAt < this.#fastUntil;
    try {
      if (!this.#options.hasSpace()) return retryMs;
      this.#indexer ??= this.#options.openIndexer();
      const { isDone } = this.#indexer.step(isFast ? fastRows : idleRows);
      if (isDone) this.#sweep(this.#indexer);
      if (!isFast) return idleMs;
      return isDone ? fastMs : pauseFactor * (performance.now() - startedAt);
    } catch {
      // The index is opened again, because it can be deleted or damaged. Until then, searches only find the newest deliveries.
      this.#indexer?.[Symbol.dispose]();
      this.#indexer = undefined;
      return retryMs;
    }
  }

  #sweep(indexer: SearchIndexer): void {
    if (performance.now() < this.#sweepAt) return;
    const { isDone } = indexer.sweep(idleRows);
    if (isDone) this.#sweepAt = performance.now() + sweepPauseMs;
  }
}
