import { ClaimGate, type Suspect } from "./claim-gate.ts";
import type { InboxContext } from "./context.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";

/** Wakes the workers whose deliveries are due. See `retry.ts` for the term "suspect". */
export class DueDeliveries {
  readonly gate: ClaimGate;
  readonly #context: InboxContext;
  readonly #workers: ReadonlyMap<string, EndpointWorker>;
  /**
   * The time of the last poll. With the initial value, the first poll corrects times that were stored before the clock was set
   * back.
   */
  #lastPoll = Number.POSITIVE_INFINITY;
  /** When `#wake` is scheduled, in milliseconds since the epoch. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  /** @param workers the workers of this process, by endpoint. */
  constructor(context: InboxContext, workers: ReadonlyMap<string, EndpointWorker>) {
    this.#context = context;
    this.#workers = workers;
    this.gate = new ClaimGate({
      now: context.now,
      monotonicNow: context.monotonicNow,
      firstHoldMs: context.pollMs,
      findSuspects: () => this.#findSuspects(),
      wakeWorkers: () => {
        for (const worker of workers.values()) worker.wake();
      },
    });
  }

  /** Corrects due times after the clock was set back, and wakes the workers of due deliveries. Call this method at regular intervals. */
  async poll(): Promise<void> {
    await this.#correctClock();
    this.#wake();
  }

  /** Schedules a wake at a time, in milliseconds since the epoch, unless the next poll is earlier. */
  wakeBy(dueAt: number): void {
    const { now, pollMs, tasks } = this.#context;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || tasks.isClosed) return;
    this.#cancelWake();
    this.#wakeAt = dueAt;
    this.#cancelWake = tasks.runAfter(delay, async () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#wake();
      this.gate.poll();
    });
  }

  /** Finds the next suspect of each endpoint. */
  #findSuspects(): Suspect[] {
    const { committed, now } = this.#context;
    return [...this.#workers].flatMap(([endpoint, worker]) => {
      const found = this.#read(endpoint, () => committed.nextSuspect(endpoint));
      if (!found) return [];
      if (found.dueAt > now()) this.wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  async #correctClock(): Promise<void> {
    const { table, committed, groupCommit, damage } = this.#context;
    const now = this.#context.now();
    const wasSetBack = now < this.#lastPoll;
    this.#lastPoll = now;
    if (!wasSetBack) return;
    for (const { endpoint } of committed.endpoints()) {
      await groupCommit
        .write(() => table.correctClock(endpoint, now))
        .catch((error: unknown) => {
          if (!damage.recordIfDamage(error, endpoint)) throw error;
        });
    }
  }

  #wake(): void {
    const { committed } = this.#context;
    const now = this.#context.now();
    for (const [endpoint, worker] of this.#workers) {
      const dueAt = this.#read(endpoint, () => committed.nextDueAt(endpoint));
      // A worker whose last claim failed claims again even if no delivery is due, to check whether claims succeed again.
      if (worker.failingMs > 0 || (dueAt !== undefined && dueAt <= now)) worker.wake();
      else if (dueAt !== undefined) this.wakeBy(dueAt);
    }
  }

  /** Reads an endpoint's data. Returns `undefined` if the data is damaged, so that other endpoints continue to run. */
  #read<Result>(endpoint: string, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.#context.damage.recordIfDamage(error, endpoint)) throw error;
      return undefined;
    }
  }
}
