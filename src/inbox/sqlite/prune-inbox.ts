import { setTimeout as wait } from "node:timers/promises";
import { defaultRetention, retentionOf } from "../retry.ts";
import type { BackgroundMaintenance } from "./background-maintenance.ts";
import type { InboxContext } from "./context.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";

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
const minWalBytes = 2 * 2 ** 20;

/**
 * Removes all deliveries whose retention period has ended, and returns unused space to the disk. Works in steps, so that other
 * writes can run between the steps. Returns the number of removed deliveries.
 */
export async function pruneInbox(
  { table, groupCommit, damage, tasks, now }: InboxContext,
  { workers, maintenance }: { workers: ReadonlyMap<string, EndpointWorker>; maintenance: BackgroundMaintenance },
): Promise<number> {
  const { pruner } = table;
  let count = 0;
  let steps = 0;
  /** Runs a step in a transaction. Resolves after the pause that follows the step. */
  const step = async <Result extends { isDone: boolean }>(operation: () => Result): Promise<Result> => {
    const startedAt = performance.now();
    const result = await groupCommit.write(operation);
    if (!result.isDone) {
      steps += 1;
      if (steps % stepsPerCheckpoint === 0) await maintenance.checkpoint(minWalBytes);
      await wait(Math.min(pauseFactor * (performance.now() - startedAt), maxPauseMs));
    }
    return result;
  };
  for (const { endpoint, retention: stored } of pruner.endpoints()) {
    const queue = workers.get(endpoint)?.queue;
    const retention = queue ? retentionOf(queue) : (stored ?? defaultRetention);
    for (let isDone = false; !isDone && !tasks.isClosed; ) {
      const limits = { bodiesBefore: now() - retention.bodiesMs, idsBefore: now() - retention.idsMs };
      const { damaged } = pruner;
      try {
        const removed = await step(() => pruner.prune(endpoint, limits));
        count += removed.count;
        isDone = removed.isDone;
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
        isDone = pruner.damaged === damaged;
      }
    }
  }
  if (tasks.isClosed) return count;
  await groupCommit.write(() => table.ownActions.prune(now()));
  await groupCommit.write(() => table.leases.removeProcessesBefore(now() - processRetentionMs));
  for (let isDone = false; !isDone && !tasks.isClosed; ) {
    ({ isDone } = await step(() => pruner.shrink()));
  }
  // The file shrinks only when the WAL is checkpointed.
  if (steps > 0) await maintenance.checkpoint(0);
  return count;
}
