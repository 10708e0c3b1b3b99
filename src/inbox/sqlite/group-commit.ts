import { WebhookError } from "../../core/errors.ts";
import { inboxUnavailable } from "../inbox-errors.ts";
import { isBusy, isDamage } from "./database.ts";

/** How long a write may wait for the lock of another connection, in milliseconds: a busy machine can still respond in 5 s. */
const maxWaitMs = 3_000;
/** The pause between two tries to get the lock, in milliseconds. */
const retryMs = 5;

/** The database that a {@link GroupCommit} writes to. */
export interface TransactionTarget {
  readonly isTransaction: boolean;
  begin(): void;
  /** @throws also if the commit went to a deleted file. */
  commit(): void;
  /** Rolls back the transaction, if there is one. */
  rollback(): void;
  /** Called outside of a transaction, with the error of a failed group of writes. */
  afterFailure(error: unknown): void;
}

interface Write {
  operation: () => unknown;
  since: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits concurrent writes together, so that they share one sync of the disk, the slowest part by far. In benchmarks, this is as
 * fast as a server that stores nothing; a thread for commits is not faster.
 */
export class GroupCommit {
  readonly #target: TransactionTarget;
  readonly #deadlineMs: number;
  #waiting: Write[] = [];
  #isScheduled = false;
  /** How many of the waiting writes are committed one by one. */
  #singleWrites = 0;
  #failure: unknown;

  constructor(target: TransactionTarget, { deadlineMs = maxWaitMs }: { deadlineMs?: number } = {}) {
    this.#target = target;
    this.#deadlineMs = deadlineMs;
  }

  /** The error of the last transaction; `undefined` if it succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Runs an operation in the next transaction, and resolves with its result once it is on the disk. If the operation throws,
   * only its own write fails.
   *
   * @throws `INBOX_UNAVAILABLE` if it could not be stored.
   */
  write<Result>(operation: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Resolved only with the result of this operation.
      this.#waiting.push({ operation, since: performance.now(), resolve: resolve as Write["resolve"], reject });
      this.#schedule(0);
    });
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const flush = () => {
      this.#isScheduled = false;
      this.#flush();
    };
    // After the I/O of this turn, so that all deliveries that it received are in the same group.
    if (delayMs === 0) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  #flush(): void {
    const group = this.#waiting.splice(0, this.#singleWrites > 0 ? 1 : this.#waiting.length);
    if (this.#singleWrites > 0) {
      this.#singleWrites -= 1;
      if (this.#waiting.length > 0) this.#schedule(0);
    }
    try {
      this.#target.begin();
    } catch (error) {
      this.#waitForLock(group, error);
      return;
    }
    this.#commitAll(group);
  }

  #commitAll(group: readonly Write[]): void {
    const settle: (() => void)[] = [];
    try {
      for (const { operation, resolve, reject } of group) {
        try {
          const result = operation();
          settle.push(() => resolve(result));
        } catch (error) {
          // A full disk ends the transaction and loses the writes of the whole group.
          if (!this.#target.isTransaction) throw error;
          settle.push(() => reject(WebhookError.isInstance(error) ? error : inboxUnavailable(error)));
        }
      }
      this.#target.commit();
    } catch (error) {
      this.#target.rollback();
      this.#target.afterFailure(error);
      // A write to a damaged page fails the whole transaction.
      if (isDamage(error) && group.length > 1) {
        this.#waiting.unshift(...group);
        this.#schedule(0);
        this.#singleWrites = group.length;
        return;
      }
      this.#failure = error;
      for (const { reject } of group) reject(inboxUnavailable(error));
      return;
    }
    this.#failure = undefined;
    for (const notify of settle) notify();
  }

  #waitForLock(group: readonly Write[], error: unknown): void {
    const oldest = performance.now() - this.#deadlineMs;
    for (const write of group) {
      if (isBusy(error) && write.since > oldest) this.#waiting.push(write);
      else {
        this.#failure = error;
        write.reject(inboxUnavailable(error));
      }
    }
    if (this.#waiting.length > 0) this.#schedule(retryMs);
  }
}
