import type { Outcome } from "../../delivery.ts";
import type { Logger } from "../../logger.ts";
import type { QueueOptions } from "../inbox.ts";
import { inboxClosing, leaseLost } from "../inbox-errors.ts";
import { nextAttemptAt } from "../retry-policy.ts";
import { closingError, storedError } from "../stored-delivery.ts";
import type { Claimed, DeliveryTable, Ending } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";

/** What a {@link QueueWorker} is made from. */
export interface QueueWorkerOptions {
  queue: QueueOptions;
  table: DeliveryTable;
  commit: GroupCommit;
  /** Names this process in a lease. */
  owner: string;
  leaseMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
  /** Told when a delivery of this endpoint becomes due. */
  later: (dueAt: number) => void;
}

interface Running {
  claimed: Claimed;
  controller: AbortController;
  done: Promise<void>;
}

/** Works on the deliveries of one endpoint, so many at a time. */
export class QueueWorker {
  readonly #options: QueueWorkerOptions;
  readonly #running = new Map<number, Running>();
  #claiming: Promise<void> | undefined;
  #isClaiming = false;
  #isWanted = false;
  #closing = false;
  #closed = false;

  constructor(options: QueueWorkerOptions) {
    this.#options = options;
  }

  get attempts(): number {
    return this.#options.queue.policy.attempts;
  }

  get retentionMs(): number {
    return this.#options.queue.retentionMs;
  }

  /** What it is working on, by sequence. */
  get running(): readonly number[] {
    return [...this.#running.keys()];
  }

  isRunning(sequence: number): boolean {
    return this.#running.has(sequence);
  }

  /** Looks for deliveries that are due, as far as there is room. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    this.#claiming = this.#claim();
  }

  /** Aborts what somebody else has taken meanwhile: the lease had ended, so this process was too slow to renew it. */
  letGo(sequences: ReadonlySet<number>): void {
    for (const sequence of sequences) this.#running.get(sequence)?.controller.abort(leaseLost());
  }

  /** Takes nothing more, asks handlers to end, and hands back what is not done after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    await this.#claiming;
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(inboxClosing());
    if (running.length === 0) return;
    const grace = Promise.withResolvers<void>();
    const timer = setTimeout(grace.resolve, graceMs);
    await Promise.race([Promise.all(running.map(({ done }) => done)), grace.promise]);
    clearTimeout(timer);
    await Promise.all([...this.#running.values()].map(({ claimed }) => this.#handBack(claimed)));
    this.#closed = true;
  }

  async #claim(): Promise<void> {
    while (this.#isWanted && !this.#closing && this.#running.size < this.#options.queue.concurrency) {
      this.#isWanted = false;
      await this.#claimSome();
    }
    // At once after the last look, or somebody who wakes it in between would not be heard.
    this.#isClaiming = false;
  }

  async #claimSome(): Promise<void> {
    const { queue, table, commit, owner, leaseMs, now, log } = this.#options;
    const most = queue.concurrency - this.#running.size;
    try {
      const claimed = await commit.write(() => {
        const at = now();
        return table.claim(queue.endpoint, { most, lease: { owner, now: at, until: at + leaseMs } });
      });
      for (const delivery of claimed) this.#run(delivery);
      if (claimed.length === most) this.#isWanted = true;
    } catch (error) {
      // The regular look comes back to it.
      log().error({ err: error, endpoint: queue.endpoint }, "No delivery could be taken out of the inbox.");
    }
  }

  #run(claimed: Claimed): void {
    const controller = new AbortController();
    const done = this.#work(claimed, controller).finally(() => {
      this.#running.delete(claimed.sequence);
      if (!this.#closing) this.wake();
    });
    this.#running.set(claimed.sequence, { claimed, controller, done });
  }

  async #work(claimed: Claimed, controller: AbortController): Promise<void> {
    const { queue } = this.#options;
    const began = performance.now();
    const { id, endpoint, body, receivedAt, attempt: number, countedAttempts } = claimed;
    const isLast = countedAttempts >= queue.policy.attempts;
    const task = { id, endpoint, body, receivedAt, attempt: number, isLast };
    const outcome = await queue.run(task, controller.signal);
    // Handed back already: somebody else may work on it by now.
    if (this.#closed) return;
    // Told to end, and did not succeed: that is no fault of the delivery.
    if (this.#closing && outcome.status === "failed") return this.#handBack(claimed);
    const attempt = {
      number,
      startedAt: new Date(claimed.startedAt),
      durationMs: performance.now() - began,
      ...(outcome.status === "failed"
        ? { outcome: "failed" as const, error: storedError(outcome.error) }
        : { outcome: "succeeded" as const }),
    };
    await this.#end(claimed, { attempt, next: this.#nextAfter(claimed, { outcome, isLast }) });
  }

  #nextAfter({ countedAttempts }: Claimed, { outcome, isLast }: { outcome: Outcome; isLast: boolean }): Ending["next"] {
    if (outcome.status !== "failed") return { status: "succeeded" };
    if (!outcome.error.retryable || isLast) return { status: "dead" };
    const { queue, now } = this.#options;
    const dueAt = nextAttemptAt(queue.policy, { attempt: countedAttempts, retryAt: outcome.retryAt, now: now() });
    return { status: "queued", dueAt, counts: true };
  }

  #handBack(claimed: Claimed): Promise<void> {
    const now = this.#options.now();
    const attempt = {
      number: claimed.attempt,
      startedAt: new Date(claimed.startedAt),
      durationMs: now - claimed.startedAt,
      outcome: "abandoned" as const,
      error: closingError,
    };
    return this.#end(claimed, { attempt, next: { status: "queued", dueAt: now, counts: false } });
  }

  async #end(claimed: Claimed, ending: Ending): Promise<void> {
    const { commit, table, owner, now, log, later, queue } = this.#options;
    const fields = { endpoint: queue.endpoint, deliveryId: claimed.id };
    try {
      const wasOurs = await commit.write(() => table.end(claimed, ending, { owner, now: now() }));
      if (!wasOurs) log().warn(fields, "A delivery took longer than its lease, and somebody else works on it.");
      else if (ending.next.status === "queued") later(ending.next.dueAt);
    } catch (error) {
      // Its lease ends, and then it is run again: at least once.
      log().error({ ...fields, err: error }, "The end of a delivery could not be stored: it will be run again.");
    }
  }
}
