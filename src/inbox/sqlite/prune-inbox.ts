import { setTimeout as wait } from "node:timers/promises";
import { defaultRetention, type Retention } from "../retention.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";

export interface PruneOptions {
  /** Returns the table of the open file, which changes when the file is restored. */
  table: () => DeliveryTable;
  groupCommit: GroupCommit;
  damage: DamageTracker;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Returns the retention of an endpoint that this process serves. For other endpoints, the stored retention applies. */
  retentionOf: (endpoint: string) => Retention | undefined;
  isStopped: () => boolean;
  /** Checkpoints the WAL in a thread unless the WAL is smaller than `minBytes`. */
  checkpoint: (minBytes: number) => Promise<void>;
}

/** Processes without running deliveries are kept for this time after their last heartbeat, in milliseconds. */
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
  for (const { endpoint, retention: stored } of table().pruner.endpoints()) {
    const retention = retentionOf(endpoint) ?? stored ?? defaultRetention;
    for (let isDone = false; !isDone && !isStopped(); ) {
      const limits = { bodiesBefore: now() - retention.bodiesMs, idsBefore: now() - retention.idsMs };
      const { damaged } = table().pruner;
      try {
        const removed = await step(() => table().pruner.prune(endpoint, limits));
        count += removed.count;
        isDone = removed.isDone;
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
        isDone = table().pruner.damaged === damaged;
      }
    }
  }
  if (isStopped()) return count;
  await groupCommit.write(() => table().ownActions.prune(now()));
  await groupCommit.write(() => table().pruneFailedAttempts());
  await groupCommit.write(() => table().leases.removeProcessesBefore(now() - processRetentionMs));
  for (let isDone = false; !isDone && !isStopped(); ) {
    ({ isDone } = await step(() => table().pruner.shrink()));
  }
  // The file shrinks only when the WAL is checkpointed.
  if (steps > 0) await checkpoint(0);
  return count;
}
