import type { Logger } from "../../core/log.ts";
import { decodeRecord, type LogRecord, quarantineKey, recordKey, recordNumber, recordPrefix } from "./log.ts";
import { type ListedObject, type ObjectStore, type ReadObject, readAhead, readObject } from "./object-store.ts";
import { isCoveredBySnapshot, noReadableSnapshot, type RestoredSnapshot } from "./snapshots.ts";
import type { Gap, WorkingDatabase } from "./working-database.ts";

export type LogTarget = Pick<WorkingDatabase, "position" | "gapNumbers" | "prepare" | "apply" | "applyPossible">;

interface LogReplayOptions {
  store: ObjectStore;
  target: LogTarget;
  snapshot: RestoredSnapshot;
  log: Logger;
  prefetch?: LogPrefetch | undefined;
  /** Whether the log must not be changed. Default `false`: unreadable records are copied to another key. */
  isReadOnly?: boolean;
}

const maxReads = 64;
/** The number of records that a process that takes over reads together with each write. */
const maxFollowing = 8;
/** How many numbers after the last known record a process that takes over reads first. A loaded owner stores a record per request. */
const firstReads = 4;

/** Reads the first records after `allowed` resolves, while the snapshot before them is restored. The others are read later. */
export function prefetchLog(
  store: ObjectStore,
  { after, allowed, signal }: { after: number; allowed: Promise<unknown>; signal: AbortSignal },
) {
  const reads = new Map<number, Promise<StoredRecord | undefined>>();
  const listed = store.list(recordPrefix, { after: recordKey(after) });
  const end = Promise.all([listed, allowed]).then(async ([records]) => {
    signal.throwIfAborted();
    for (const { key } of records.slice(0, maxReads)) {
      const number = recordNumber(key);
      const reading = store.get(key).then(async (stored) => {
        const record = stored && (await decodeRecord(stored.body));
        return record && { record, ageMs: stored.ageMs };
      });
      const found = reading.catch(() => undefined);
      if (number !== undefined) reads.set(number, found);
    }
    const last = lastOf(records, after);
    return { listed: last, last: await findLast(store, last, firstReads) };
  });
  // The requests are repeated.
  for (const pending of [listed, end]) pending.catch(() => {});
  return {
    next: after + 1,
    listed,
    /** The numbers after which no record was found, and the number of the last record. */
    end,
    take(number: number): Promise<StoredRecord | undefined> | undefined {
      const reading = reads.get(number);
      reads.delete(number);
      return reading;
    },
  };
}

export type LogPrefetch = ReturnType<typeof prefetchLog>;

interface StoredRecord {
  record: LogRecord;
  ageMs: number;
}

/**
 * Applies the records of a log that can grow, and whose beginning can be deleted, while it is read.
 *
 * The changes of each record contain the position of the previous changes. If a record cannot be read, but the next changes apply
 * without a conflict, the record contained no changes of this log. Otherwise, the record is a gap: its changes are lost, and later
 * changes are applied as far as possible.
 *
 * A record is no gap if a snapshot contains its changes: its owner deletes records after two snapshots. The target is then outdated,
 * and must be restored from the newest snapshot.
 */
export class LogReplay {
  readonly #options: LogReplayOptions;
  #prefetch: LogPrefetch | undefined;
  next: number;
  /** The writer of the last readable record that was read. */
  lastWriter: string | undefined;
  /** The age of the newest record that the last call of `catchUp` has read. Infinite if it has read none. */
  newestAgeMs = Number.POSITIVE_INFINITY;
  /** The numbers of the takeovers and unreadable objects that were found. See `log_fences` in `sqlite/schema.ts`. */
  readonly fences: number[] = [];
  #unreadable: Gap[] = [];
  #found = new Map<number, Gap["reason"]>();
  /** Whether the target lacks the changes of a gap that no later record describes. */
  #isIncomplete = false;

  constructor(options: LogReplayOptions) {
    this.#options = options;
    this.#prefetch = options.prefetch;
    this.next = options.target.position + 1;
  }

  get newGaps(): Gap[] {
    const known = this.#options.target.gapNumbers;
    const found = [...this.#found].map(([number, reason]) => ({ number, reason }));
    // No later changes prove that the last records contained none.
    return [...found, ...this.#unreadable].filter(({ number }) => !known.has(number));
  }

  /**
   * Applies all records that the log contains. Returns `false` if the target is outdated.
   *
   * @param lastKnown the number of the last record by the heartbeat of its writer. If the log ends earlier, records are missing.
   * @throws `INBOX_UNUSABLE` if a newer release has written a record, `ObjectStoreError`.
   */
  async catchUp(lastKnown = 0): Promise<boolean> {
    const { store, snapshot, isReadOnly = false } = this.#options;
    const prefetch = this.#prefetch?.next === this.next ? this.#prefetch : undefined;
    this.#prefetch = undefined;
    const after = { after: recordKey(this.next - 1) };
    const listed = (await prefetch?.listed.catch(() => undefined)) ?? (await store.list(recordPrefix, after));
    const sizes = new Map(listed.map(({ key, bytes }) => [recordNumber(key) ?? 0, bytes]));
    const known = Math.max(lastKnown, snapshot.newest, lastOf(listed, this.next - 1));
    const end = await prefetch?.end.catch(() => undefined);
    const last = end?.listed === known ? end.last : await findLast(store, known, isReadOnly ? 1 : firstReads);
    this.newestAgeMs = Number.POSITIVE_INFINITY;
    const numbers = Array.from({ length: Math.max(0, last + 1 - this.next) }, (_, index) => this.next + index);
    const reads = readAhead(numbers, {
      maxReads,
      bytesOf: (number) => sizes.get(number) ?? 0,
      read: (number) => this.#read(number, { bytes: sizes.get(number), prefetch }),
    });
    for await (const read of reads) {
      if (read.state === "obsolete") return false;
      await this.#apply(this.next, read);
      this.next += 1;
    }
    this.#checkSnapshots();
    return true;
  }

  /** A start from the first record may only replace damaged snapshots if all of the records exist. */
  #checkSnapshots(): void {
    const { number: restored, damaged, newest } = this.#options.snapshot;
    const isRequired = restored === 0 && damaged.size > 0;
    if (isRequired && this.newGaps.some(({ number }) => number <= newest)) throw noReadableSnapshot();
  }

  /**
   * Applies the records that directly follow, without a list: a loaded owner could store further records faster than they are listed and
   * read. Returns the writer of the first record.
   */
  async follow(): Promise<string | undefined> {
    const numbers = Array.from({ length: maxFollowing }, (_, index) => this.next + index);
    const found = await Promise.all(numbers.map((number) => this.#options.store.get(recordKey(number))));
    let first: string | undefined;
    for (const [index, number] of numbers.entries()) {
      const object = found[index];
      const record = object && (await decodeRecord(object.body));
      if (record?.number !== number) break;
      await this.#apply(number, { state: "readable", content: record });
      this.next = number + 1;
      first ??= record.writer;
    }
    return first;
  }

  /**
   * Whether the takeover is the last record, and the target contains all earlier ones. A free number proves neither: while this process was
   * paused, the records from this number on can have been stored and deleted.
   */
  async isComplete(takeover: number): Promise<boolean> {
    const { store } = this.#options;
    // Neither this process nor the previous owner accepts deliveries in the meantime.
    const [later, next, isOutdated] = await Promise.all([
      store.list(recordPrefix, { after: recordKey(takeover) }),
      store.get(recordKey(takeover + 1)),
      this.#isOutdated(Math.min(takeover, ...this.newGaps.map(({ number }) => number))),
    ]);
    return later.length === 0 && next === undefined && !isOutdated;
  }

  async #read(
    number: number,
    { bytes, prefetch }: { bytes: number | undefined; prefetch: LogPrefetch | undefined },
  ): Promise<ReadObject<LogRecord>> {
    const decoded = ({ record, ageMs }: StoredRecord) => {
      if (record.number !== number) return undefined;
      this.newestAgeMs = Math.min(this.newestAgeMs, ageMs);
      return record;
    };
    const prefetched = await prefetch?.take(number);
    const content = prefetched && decoded(prefetched);
    if (content) return { state: "readable", content };
    return readObject(this.#options.store, recordKey(number), {
      decode: async (body, ageMs) => {
        const record = await decodeRecord(body);
        return record && decoded({ record, ageMs });
      },
      bytes,
      isObsolete: () => this.#isOutdated(number),
    });
  }

  /** Whether a newer snapshot than that of the target contains the changes of a record. */
  #isOutdated(number: number): Promise<boolean> {
    const { store, snapshot } = this.#options;
    return isCoveredBySnapshot(store, number, snapshot);
  }

  async #apply(number: number, read: ReadObject<LogRecord>): Promise<void> {
    const { store, target, isReadOnly = false } = this.#options;
    if (read.state === "readable") {
      const { content: record } = read;
      this.lastWriter = record.writer;
      target.prepare(record);
      if (record.kind === "takeover") this.fences.push(number);
      else this.#applyChanges(record);
      return;
    }
    this.fences.push(number);
    this.#unreadable.push({ number, reason: read.state === "unreadable" ? "unreadable" : "missing" });
    if (read.state === "unreadable" && !isReadOnly) await store.put(quarantineKey(number), read.body);
  }

  #applyChanges({ number, kind, body }: LogRecord): void {
    const { target } = this.#options;
    if (!this.#isIncomplete && target.apply(body)) {
      // A gap record names the records whose changes are missing. It also fits if these records were at the end of the log.
      if (kind !== "gap" && this.#unreadable.length > 0) {
        // The next changes follow the previous ones, so the unreadable records contained none.
        this.#options.log.warn(
          { records: this.#unreadable.map((unreadable) => unreadable.number) },
          "Some records of the inbox are unreadable, but contained no changes. No delivery is missing.",
        );
      }
      this.#unreadable = [];
      return;
    }
    if (!this.#isIncomplete && this.#unreadable.length === 0) this.#found.set(number, "conflict");
    for (const unreadable of this.#unreadable) this.#found.set(unreadable.number, unreadable.reason);
    this.#unreadable = [];
    this.#isIncomplete = true;
    target.applyPossible(body);
    // The changes of this record describe the state after all earlier gaps.
    if (kind === "gap") this.#isIncomplete = false;
  }
}

function lastOf(listed: readonly ListedObject[], after: number): number {
  return Math.max(after, recordNumber(listed.at(-1)?.key ?? "") ?? 0);
}

/** Returns the number of the last record. A list can hide the newest records, so the next numbers are read. */
async function findLast(store: ObjectStore, listed: number, firstWidth: number): Promise<number> {
  for (let [last, width] = [listed, firstWidth]; ; width = Math.min(2 * width, maxFollowing * 2)) {
    const numbers = Array.from({ length: width }, (_, index) => last + 1 + index);
    const found = await Promise.all(numbers.map((number) => store.get(recordKey(number))));
    const newest = numbers[found.findLastIndex((object) => object !== undefined)];
    if (newest === undefined) return last;
    // A loaded owner stores records as fast as they are read, so this must not wait until none is found.
    if (newest !== numbers.at(-1)) return newest;
    last = newest;
  }
}
