import type { Logger } from "../../core/logger.ts";
import type { ObjectStore } from "./object-store.ts";
import { storeSnapshot } from "./snapshots.ts";

/** A snapshot is due after this number of records if the records are large, and after `maxRecords` in any case. */
const minRecords = 1_000;
/** The next start reads up to this number of records. With 100 ms for each and 16 at a time, it takes about a minute. */
const maxRecords = 10_000;
/** Records are large if they together have at least this share of the bytes of the last snapshot. */
const minShare = 0.25;
/** The pause after a failed snapshot, in milliseconds. */
const retryMs = 60_000;

export interface SnapshotScheduleOptions {
  store: ObjectStore;
  /** The working file. */
  file: string;
  log: Logger;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
  /** The number of records since the last snapshot. */
  records: number;
  /** The size of the last snapshot, in bytes. */
  snapshotBytes: number;
  /** Default 1,000. */
  minRecords?: number;
}

/** Stores a snapshot from time to time, so that a start reads few records and old records can be deleted. */
export class SnapshotSchedule {
  readonly #options: SnapshotScheduleOptions;
  #records: number;
  #recordBytes = 0;
  #snapshotBytes: number;
  #running: Promise<void> | undefined;
  #retryAt = 0;
  readonly #closed = new AbortController();

  constructor(options: SnapshotScheduleOptions) {
    this.#options = options;
    this.#records = options.records;
    this.#snapshotBytes = options.snapshotBytes;
  }

  /** Counts a record, and starts a snapshot if one is due. */
  countRecord(bytes: number): void {
    this.#records += 1;
    this.#recordBytes += bytes;
    const { minRecords: min = minRecords, monotonicNow } = this.#options;
    const isLarge = this.#records >= min && this.#recordBytes >= minShare * this.#snapshotBytes;
    if ((isLarge || this.#records >= maxRecords) && monotonicNow() >= this.#retryAt) this.start();
  }

  /** Starts a snapshot unless one is being stored. */
  start(): void {
    if (this.#closed.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Stops the current snapshot, and prevents further ones. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, file, log, monotonicNow } = this.#options;
    const [records, recordBytes] = [this.#records, this.#recordBytes];
    try {
      const { bytes } = await storeSnapshot({ store, file, signal: this.#closed.signal });
      this.#snapshotBytes = bytes;
      this.#records -= records;
      this.#recordBytes -= recordBytes;
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#retryAt = monotonicNow() + retryMs;
      log.warn({ err: error }, "A snapshot of the inbox could not be stored, and will be retried in a minute.");
    }
  }
}
