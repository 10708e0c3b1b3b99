import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../core/logger.ts";
import { inboxTakenOver, inboxUnavailable } from "../inbox-errors.ts";
import { recordKey, recordPrefix } from "./log-keys.ts";
import { decodeRecord, encodeRecord, isSameRecord, type LogRecord } from "./log-record.ts";
import { type ObjectStore, ObjectStoreError } from "./object-store.ts";

export interface LogWriterOptions {
  store: ObjectStore;
  /** A UUID that no other process uses. */
  writerId: string;
  /** The number of the next record. */
  next: number;
  log: Logger;
  /** Called once when this process, which was the owner, finds that another process has taken over the log. */
  onTakenOver?: () => void;
  /** Milliseconds of a monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
  /** Waits before a request is repeated. Default: a timer. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A record to append. The number is known only when the record is written, and can change if a number becomes unusable. */
export interface AppendedRecord extends Pick<LogRecord, "kind" | "owner" | "schemaVersion"> {
  body: (number: number) => Uint8Array;
}

/** A time in which the store has not answered or has refused requests. */
export interface Outage {
  /** The duration so far, in milliseconds. */
  forMs: number;
  /** The error of the last request. */
  error: unknown;
}

/** The pause before a request is repeated, in milliseconds. The pause doubles with each repetition. */
const firstPauseMs = 100;
const maxPauseMs = 2_000;

/**
 * The result of a request to store a record. `unreadable`: the number is used by an object that is not a record, so that its writer
 * is unknown.
 */
type StoreResult = "mine" | "unreadable" | { other: LogRecord };

/**
 * Appends records to the log of an inbox. Each record is stored only if its number is free, so of two processes that write the same
 * number, one finds the record of the other. That process is then fenced: it never appends again.
 *
 * An unreadable object at a number is skipped. If the object was the takeover of another process, that process finds the next record
 * at its own next number.
 */
export class LogWriter {
  readonly writerId: string;
  readonly #options: Required<Pick<LogWriterOptions, "monotonicNow" | "wait">> & LogWriterOptions;
  readonly #closed = new AbortController();
  #next: number;
  #fencedBy: LogRecord | undefined;
  #failingSince: number | undefined;
  #failure: unknown;
  #isAppending = false;
  readonly #unreadable: number[] = [];
  /** Whether this process has appended a record. */
  #isOwner = false;

  constructor(options: LogWriterOptions) {
    this.#options = {
      monotonicNow: () => performance.now(),
      wait: async (ms, signal) => void (await delay(ms, undefined, { signal })),
      ...options,
    };
    this.writerId = options.writerId;
    this.#next = options.next;
  }

  /** The number of the next record. */
  get next(): number {
    return this.#next;
  }

  /** The numbers that this process skipped because they are used by objects that are not records. */
  get unreadable(): readonly number[] {
    return this.#unreadable;
  }

  /** The record of the process that has taken over the log, or `undefined` if this process is the owner. */
  get fencedBy(): LogRecord | undefined {
    return this.#fencedBy;
  }

  /** The current outage, or `undefined` if no request is being repeated. */
  get outage(): Outage | undefined {
    const since = this.#failingSince;
    if (since === undefined) return undefined;
    return { forMs: this.#options.monotonicNow() - since, error: this.#failure };
  }

  /** @throws `INBOX_TAKEN_OVER` if another process has taken over the log. */
  throwIfTakenOver(): void {
    if (this.#fencedBy) throw inboxTakenOver();
  }

  /**
   * Appends a record that fences the previous owner. Returns `false` if the log has later records, because this process has read the
   * log so long ago that the record at the next number was deleted in the meantime. Read the log again in this case.
   *
   * @throws like {@link append}, and {@link ObjectStoreError} if it is unknown whether the log has later records.
   */
  async takeOver(takeover: Pick<LogRecord, "owner" | "schemaVersion">): Promise<boolean> {
    const number = await this.append({ kind: "takeover", ...takeover, body: () => new Uint8Array() });
    return (await this.#options.store.list(recordPrefix, { after: recordKey(number) })).length === 0;
  }

  /**
   * Appends a record. Call this method again only after the previous call has settled. Resolves with the number after the record is
   * stored. Repeats the same request while it is unknown whether the record was stored.
   *
   * @throws `INBOX_TAKEN_OVER` if another process has taken over the log, `INBOX_UNAVAILABLE` if the store refuses the record or the
   *   writer is closed. After a refusal, the record is not in the log.
   */
  async append({ body, ...fields }: AppendedRecord): Promise<number> {
    this.throwIfTakenOver();
    this.#isAppending = true;
    try {
      for (;;) {
        const number = this.#next;
        const record = await encodeRecord({ ...fields, number, writer: this.writerId, body: body(number) });
        const result = await this.#store(number, record);
        if (typeof result === "object") this.#fence(result.other);
        this.#next = number + 1;
        if (result === "mine") {
          this.#isOwner = true;
          return number;
        }
        this.#unreadable.push(number);
        this.#options.log.error(
          { code: "INBOX_DAMAGED", record: number },
          "A record of the inbox is unreadable. The changes are stored in the next record.",
        );
      }
    } finally {
      this.#isAppending = false;
    }
  }

  /** Checks whether another process has taken over the log, if no record is being appended. @throws {@link ObjectStoreError} */
  async detectTakeover(): Promise<void> {
    if (this.#isAppending || this.#fencedBy) return;
    const number = this.#next;
    const found = await this.#options.store.get(recordKey(number));
    const record = found && (await decodeRecord(found.body));
    // In the meantime, this process can have appended a record with this number.
    if (record && record.writer !== this.writerId) this.#recordTakeover(record);
  }

  /** Stops repeating requests. A pending call of `append` rejects. */
  close(): void {
    this.#closed.abort();
  }

  /** Stores a record, or finds out what is stored instead. Repeats the request until the result is known. */
  async #store(number: number, record: Uint8Array): Promise<StoreResult> {
    let isUnknown = false;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        const result = await this.#tryToStore(number, { record, isUnknown });
        this.#failingSince = undefined;
        return result;
      } catch (error) {
        this.#recordFailure(error);
        const isRefused = error instanceof ObjectStoreError && error.isRefused;
        if (isRefused && !isUnknown) {
          // No request is repeated, so the next record must find out whether the store accepts records again.
          this.#failingSince = undefined;
          throw inboxUnavailable(error);
        }
        isUnknown = true;
        await this.#pause(pauseMs, error);
      }
    }
  }

  async #tryToStore(
    number: number,
    { record, isUnknown }: { record: Uint8Array; isUnknown: boolean },
  ): Promise<StoreResult> {
    // The record can be stored although an earlier request failed.
    const before = isUnknown ? await this.#readBack(number, record) : undefined;
    if (before !== undefined) return before;
    if ((await this.#options.store.put(recordKey(number), record, { ifAbsent: true })) === "stored") return "mine";
    const found = await this.#readBack(number, record);
    if (found !== undefined) return found;
    throw new ObjectStoreError("The store has rejected a record as a duplicate, but returns no such record.", {
      isRefused: false,
    });
  }

  /** Compares the stored record with this one. Returns `undefined` if no record has this number. */
  async #readBack(number: number, record: Uint8Array): Promise<StoreResult | undefined> {
    const found = await this.#options.store.get(recordKey(number));
    if (found === undefined) return undefined;
    if (isSameRecord(found.body, record)) return "mine";
    const other = await decodeRecord(found.body);
    return other === undefined ? "unreadable" : { other };
  }

  async #pause(ms: number, error: unknown): Promise<void> {
    const requestedMs = error instanceof ObjectStoreError ? (error.retryAfterMs ?? 0) : 0;
    const { signal } = this.#closed;
    if (!signal.aborted)
      await this.#options.wait(Math.max(ms, Math.min(requestedMs, maxPauseMs)), signal).catch(() => {});
    if (signal.aborted) throw inboxUnavailable(error);
  }

  #recordFailure(error: unknown): void {
    if (this.#failingSince === undefined) {
      this.#options.log.warn({ err: error }, "A record of the inbox could not be stored. The request is repeated.");
    }
    this.#failingSince ??= this.#options.monotonicNow();
    this.#failure = error;
  }

  #fence(other: LogRecord): never {
    this.#recordTakeover(other);
    throw inboxTakenOver();
  }

  #recordTakeover(record: LogRecord): void {
    if (this.#fencedBy) return;
    this.#fencedBy = record;
    if (!this.#isOwner) return;
    const { owner } = record;
    this.#options.log.error(
      { code: "INBOX_TAKEN_OVER", ...(owner && { owner }) },
      "Another process has taken over the inbox. This process rejects deliveries from now on. Stop this process.",
    );
    this.#options.onTakenOver?.();
  }
}
