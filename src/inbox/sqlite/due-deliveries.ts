import type { BackgroundTasks } from "./background-tasks.ts";
import type { ClaimGate, Suspect } from "./claim-gate.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { InboxFile } from "./inbox-file.ts";

export interface DueDeliveriesOptions {
  file: InboxFile;
  groupCommit: GroupCommit;
  damage: DamageTracker;
  gate: ClaimGate;
  tasks: BackgroundTasks;
  /** The workers of this process, by endpoint. */
  workers: ReadonlyMap<string, EndpointWorker>;
  /** The interval of polls. */
  pollMs: number;
  now: () => number;
  /** Whether the inbox is closing. */
  isStopped: () => boolean;
}

/** Wakes the workers whose deliveries are due. See `retry.ts` for the term "suspect". */
export class DueDeliveries {
  readonly #options: DueDeliveriesOptions;
  /**
   * The time of the last poll. With the initial value, the first poll corrects times that were stored before the clock was set
   * back.
   */
  #lastPoll = Number.POSITIVE_INFINITY;
  /** When `#wake` is scheduled, in milliseconds since the epoch. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(options: DueDeliveriesOptions) {
    this.#options = options;
  }

  /** Corrects due times after the clock was set back, and wakes the workers of due deliveries. Call this method at regular intervals. */
  async poll(): Promise<void> {
    await this.#correctClock();
    this.#wake();
  }

  /** Schedules a wake at a time, in milliseconds since the epoch, unless the next poll is earlier. */
  wakeBy(dueAt: number): void {
    const { now, pollMs, isStopped, tasks, gate } = this.#options;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || isStopped()) return;
    this.#cancelWake();
    this.#wakeAt = dueAt;
    this.#cancelWake = tasks.runAfter(delay, async () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#wake();
      gate.poll();
    });
  }

  /** Finds the next suspect of each endpoint. */
  findSuspects(): Suspect[] {
    const { workers, file, now } = this.#options;
    return [...workers].flatMap(([endpoint, worker]) => {
      const found = this.#read(endpoint, () => file.committed.nextSuspect(endpoint));
      if (!found) return [];
      if (found.dueAt > now()) this.wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  async #correctClock(): Promise<void> {
    const { file, groupCommit, damage } = this.#options;
    const now = this.#options.now();
    const wasSetBack = now < this.#lastPoll;
    this.#lastPoll = now;
    if (!wasSetBack) return;
    for (const { endpoint } of file.committed.pruner.endpoints()) {
      await groupCommit
        .write(() => file.table.correctClock(endpoint, now))
        .catch((error: unknown) => {
          if (!damage.recordIfDamage(error, endpoint)) throw error;
        });
    }
  }

  #wake(): void {
    const { workers, file } = this.#options;
    const now = this.#options.now();
    for (const [endpoint, worker] of workers) {
      const dueAt = this.#read(endpoint, () => file.committed.nextDueAt(endpoint));
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
      if (!this.#options.damage.recordIfDamage(error, endpoint)) throw error;
      return undefined;
    }
  }
}
