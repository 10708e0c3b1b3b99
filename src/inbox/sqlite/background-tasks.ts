import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../core/log.ts";
import { RepeatedErrors } from "../errors.ts";
import { defaultRetention, type Retention } from "../retry.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Runs the background tasks of an inbox at intervals and after delays, and logs failures. The timers do not keep the process alive. */
export class BackgroundTasks {
  readonly #log: Logger;
  readonly #failures: RepeatedErrors;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor({ log, monotonicNow }: { log: Logger; monotonicNow: () => number }) {
    this.#log = log;
    this.#failures = new RepeatedErrors(monotonicNow);
  }

  run(task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      // Failures are expected while the inbox closes.
      if (!this.#isClosed) this.#logFailure(error);
    });
  }

  runEvery(intervalMs: number, task: () => Promise<unknown>): void {
    this.#timers.add(setInterval(() => this.run(task), intervalMs).unref());
  }

  /** Runs a task after a delay. Returns a function that cancels the task. */
  runAfter(delayMs: number, task: () => Promise<unknown>): () => void {
    const cancel = () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.run(task);
    }, delayMs).unref();
    this.#timers.add(timer);
    return cancel;
  }

  /** Cancels all tasks. Failures of running tasks are no longer logged. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #logFailure(error: unknown): void {
    if (!this.#failures.shouldLog(error)) return;
    this.#log.error({ err: error }, "A background task of the inbox failed and will be retried.");
  }
}

interface PruneOptions {
  table: DeliveryTable;
  groupCommit: GroupCommit;
  damage: DamageTracker;
  now: () => number;
  /** Returns the retention of an endpoint that this process serves. For other endpoints, the stored retention applies. */
  retentionOf: (endpoint: string) => Retention | undefined;
  isStopped: () => boolean;
  /** Checkpoints the WAL in a thread unless the WAL is smaller than `minBytes`. */
  checkpoint: (minBytes: number) => Promise<void>;
}

/** Processes without running deliveries are kept for this time after their last heartbeat. */
const processRetentionMs = 24 * 3_600_000;

/**
 * After each step, pruning pauses for `pauseFactor` times the duration of the step, up to `maxPauseMs`. Pruning is not urgent, and
 * other commits must wait while a step writes to the disk.
 */
const pauseFactor = 3;
const maxPauseMs = 1_000;
/**
 * The WAL is checkpointed after this number of steps, which write about 10 MB if bodies are large. Without these checkpoints, the
 * next commit would checkpoint 40 MiB, which took 1.3 s in a test.
 */
const stepsPerCheckpoint = 8;
/** The minimum size of a WAL that is checkpointed between steps, in bytes. */
const minWalBytes = 2 * 2 ** 20;

/**
 * Removes all deliveries whose retention period has ended, and returns unused space to the disk. Works in steps, so that other
 * writes can run between the steps. Returns the number of removed deliveries.
 */
export async function pruneInbox(options: PruneOptions): Promise<number> {
  const { table, groupCommit, damage, now, retentionOf, isStopped, checkpoint } = options;
  let count = 0;
  let steps = 0;
  /** Runs a step in a transaction. Resolves after the pause that follows the step. */
  const step = async <Result extends { isDone: boolean }>(operation: () => Result): Promise<Result> => {
    const startedAt = performance.now();
    const result = await groupCommit.write(operation);
    if (!result.isDone) {
      steps += 1;
      if (steps % stepsPerCheckpoint === 0) await checkpoint(minWalBytes);
      await wait(Math.min(pauseFactor * (performance.now() - startedAt), maxPauseMs));
    }
    return result;
  };
  for (const { endpoint, retention: stored } of table.pruner.endpoints()) {
    const retention = retentionOf(endpoint) ?? stored ?? defaultRetention;
    for (let isDone = false; !isDone && !isStopped(); ) {
      const limits = { bodiesBefore: now() - retention.bodiesMs, idsBefore: now() - retention.idsMs };
      const { damaged } = table.pruner;
      try {
        const removed = await step(() => table.pruner.prune(endpoint, limits));
        count += removed.count;
        isDone = removed.isDone;
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
        isDone = table.pruner.damaged === damaged;
      }
    }
  }
  if (isStopped()) return count;
  await groupCommit.write(() => table.ownActions.prune(now()));
  await groupCommit.write(() => table.leases.removeProcessesBefore(now() - processRetentionMs));
  for (let isDone = false; !isDone && !isStopped(); ) {
    ({ isDone } = await step(() => table.pruner.shrink()));
  }
  // The file shrinks only when the WAL is checkpointed.
  if (steps > 0) await checkpoint(0);
  return count;
}
