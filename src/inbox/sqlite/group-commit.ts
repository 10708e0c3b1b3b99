import { WebhookError } from "../../core/errors.ts";
import { isBusy, isDamage } from "../../core/files.ts";
import { inboxUnavailable } from "../errors.ts";
import type { InboxFile } from "./inbox-file.ts";

/** The maximum time that a write waits for another connection's lock: well below the Hub's timeout, so that the Hub gets a 503. */
const maxWaitMs = 3_000;
const retryMs = 5;

/**
 * The maximum time that a transaction waits for more writes while some arrive in each turn of the event loop. With 64 connections, waiting
 * as long as writes arrive increased the throughput by a tenth: the event loop is blocked during a sync, so fewer syncs leave it more time.
 */
const maxGatheringMs = 5;

/**
 * After changes were stored outside the database, the next transaction waits for this share of the time that storing took, up to
 * `maxPauseMs`. The senders of the committed writes send their next ones in this time, which would otherwise miss the next
 * transaction. With 512 connections and 100 ms per record, this increased the throughput by half.
 */
const pauseShare = 0.1;
const maxPauseMs = 10;

/** The database that a {@link GroupCommit} writes to. */
export type TransactionTarget = Pick<InboxFile, "isTransaction" | "begin" | "commit" | "rollback"> &
  Partial<Pick<InboxFile, "storeChanges">>;

interface Write {
  operation: () => unknown;
  isLast: boolean;
  since: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** The functions that settle the promises of the writes of a transaction. */
type Notifications = readonly (() => void)[];

/**
 * Commits concurrent writes together. The writes then share one sync to disk, which blocks the event loop. With a sync in another thread,
 * a delivery took a fifth more CPU time: meanwhile, the event loop receives deliveries one by one instead of together.
 */
export class GroupCommit {
  readonly #target: TransactionTarget;
  readonly #deadlineMs: number;
  #waiting: Write[] = [];
  #isScheduled = false;
  /** Whether the changes of a transaction are being stored outside the database. The transaction is then open. */
  #isStoring = false;
  /** When the next transaction may start, by `performance.now()`. */
  #pauseUntil = 0;
  #singleWrites = 0;
  #failure: unknown;

  constructor(target: TransactionTarget, { deadlineMs = maxWaitMs }: { deadlineMs?: number } = {}) {
    this.#target = target;
    this.#deadlineMs = deadlineMs;
  }

  /** The error of the last transaction, or `undefined` if the transaction succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Runs an operation in the next transaction. Resolves with the operation's result after the commit is synced to disk. An
   * error in one operation does not affect the other operations, unless SQLite rolls back the transaction.
   *
   * @param isLast whether the operation follows all others of the transaction, so that it sees their changes.
   * @throws the operation's error if it is a `WebhookError`, and `INBOX_UNAVAILABLE` for all other errors.
   */
  write<Result>(operation: () => Result, { isLast = false } = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      // The cast is safe, because `resolve` is called only with the result of this operation.
      this.#waiting.push({ operation, isLast, since: performance.now(), resolve: resolve as Write["resolve"], reject });
      this.#schedule(Math.max(0, this.#pauseUntil - performance.now()));
    });
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled || this.#isStoring) return;
    this.#isScheduled = true;
    const gatherUntil = performance.now() + maxGatheringMs;
    let count = this.#waiting.length;
    const flush = () => {
      const hasMore = this.#waiting.length > count;
      count = this.#waiting.length;
      if (hasMore && performance.now() < gatherUntil) return void setImmediate(flush);
      this.#isScheduled = false;
      this.#flush();
    };
    // `setImmediate` runs after pending I/O, so that deliveries that arrive together are committed together.
    if (delayMs === 0) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  #flush(): void {
    const isSingle = this.#singleWrites > 0;
    const taken = this.#waiting.splice(0, isSingle ? 1 : this.#waiting.length);
    const group = [...taken.filter(({ isLast }) => !isLast), ...taken.filter(({ isLast }) => isLast)];
    try {
      this.#target.begin();
    } catch (error) {
      return void this.#waitForLock(group, error);
    }
    if (isSingle) this.#singleWrites -= 1;
    this.#commitAll(group);
    if (this.#waiting.length > 0) this.#schedule(0);
  }

  #commitAll(group: readonly Write[]): void {
    const settle: (() => void)[] = [];
    try {
      for (const { operation, resolve, reject } of group) {
        try {
          const result = operation();
          settle.push(() => resolve(result));
        } catch (error) {
          // A full disk makes SQLite roll back the transaction, which discards the writes of the whole group. After damage was found in
          // a transaction, SQLite refuses its later writes and its commit, so a later write would seem to be damaged too.
          if (!this.#target.isTransaction || isDamage(error)) throw error;
          settle.push(() => reject(WebhookError.isInstance(error) ? error : inboxUnavailable(error)));
        }
      }
      const stored = this.#target.storeChanges?.();
      if (stored !== undefined) return void this.#commitWhenStored(stored, group, settle);
      this.#target.commit();
    } catch (error) {
      return void this.#fail(group, error);
    }
    this.#succeed(settle);
  }

  async #commitWhenStored(stored: Promise<void>, group: readonly Write[], settle: Notifications): Promise<void> {
    this.#isStoring = true;
    const startedAt = performance.now();
    try {
      await stored;
      this.#target.commit();
      this.#succeed(settle);
    } catch (error) {
      this.#fail(group, error);
    } finally {
      this.#isStoring = false;
      const pauseMs = Math.min((performance.now() - startedAt) * pauseShare, maxPauseMs);
      if (this.#waiting.length > 0) this.#schedule(pauseMs);
      else this.#pauseUntil = performance.now() + pauseMs;
    }
  }

  #succeed(settle: Notifications): void {
    this.#failure = undefined;
    for (const notify of settle) notify();
  }

  #fail(group: readonly Write[], error: unknown): void {
    this.#target.rollback(error);
    // A write to a damaged page fails the whole transaction, so the writes are retried one by one.
    if (isDamage(error) && group.length > 1) {
      this.#waiting.unshift(...group);
      this.#singleWrites = group.length;
      return;
    }
    this.#failure = error;
    for (const { reject } of group) reject(inboxUnavailable(error));
  }

  #waitForLock(group: readonly Write[], error: unknown): void {
    const oldest = performance.now() - this.#deadlineMs;
    const isKept = ({ since }: Write) => isBusy(error) && since > oldest;
    for (const write of group) {
      if (isKept(write)) continue;
      this.#failure = error;
      write.reject(inboxUnavailable(error));
      if (this.#singleWrites > 0) this.#singleWrites -= 1;
    }
    this.#waiting = [...group.filter(isKept), ...this.#waiting];
    if (this.#waiting.length > 0) this.#schedule(retryMs);
  }
}
