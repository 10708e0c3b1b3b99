import { WebhookError } from "../../core/errors.ts";
import { inboxUnavailable } from "../inbox-errors.ts";
import { isBusy, isDamage } from "./sqlite-error.ts";

/**
 * How long a write may wait for another connection's lock, in milliseconds: the answer is then sent within 5 s, also by a
 * busy machine.
 */
const longestWaitMs = 3_000;
/** How often a lock is tried. */
const retryMs = 5;

/** What is committed to. */
export interface CommitTarget {
  readonly isTransaction: boolean;
  begin(): void;
  /** @throws also when what was committed is not there to stay. */
  commit(): void;
  /** Ends the transaction, if there is one. */
  rollback(): void;
  /** Called outside of a transaction, with what a group of writes failed with. */
  afterFailure(error: unknown): void;
}

interface Write {
  operation: () => unknown;
  since: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits what is written at about the same time together: the sync of the disk, by far the dearest part, is then paid
 * once for all of them. Measured, this keeps up with a server that stores nothing, and a thread of its own does not
 * make it faster.
 */
export class GroupCommit {
  readonly #target: CommitTarget;
  readonly #deadlineMs: number;
  #waiting: Write[] = [];
  #isScheduled = false;
  /** So many of those that wait are committed on their own. */
  #oneByOne = 0;
  #failure: unknown;

  constructor(target: CommitTarget, { deadlineMs = longestWaitMs }: { deadlineMs?: number } = {}) {
    this.#target = target;
    this.#deadlineMs = deadlineMs;
  }

  /** Why the last transaction failed; `undefined` when it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Runs an operation in the next transaction; resolves with its result once that is on the disk. What one operation
   * throws fails it alone.
   *
   * @throws `INBOX_UNAVAILABLE` when it could not be stored.
   */
  write<Result>(operation: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      // The result is what the operation returned.
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
    // After the input of this turn: whatever arrived with it goes along.
    if (delayMs === 0) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  #flush(): void {
    const group = this.#waiting.splice(0, this.#oneByOne > 0 ? 1 : this.#waiting.length);
    if (this.#oneByOne > 0) {
      this.#oneByOne -= 1;
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
          // A full disk ends the transaction, and with it what the others have written.
          if (!this.#target.isTransaction) throw error;
          settle.push(() => reject(WebhookError.isInstance(error) ? error : inboxUnavailable(error)));
        }
      }
      this.#target.commit();
    } catch (error) {
      this.#target.rollback();
      this.#target.afterFailure(error);
      // A write that meets a damaged page spoils the whole transaction.
      if (isDamage(error) && group.length > 1) {
        this.#waiting.unshift(...group);
        this.#schedule(0);
        this.#oneByOne = group.length;
        return;
      }
      this.#failure = error;
      for (const { reject } of group) reject(inboxUnavailable(error));
      return;
    }
    this.#failure = undefined;
    for (const tell of settle) tell();
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
