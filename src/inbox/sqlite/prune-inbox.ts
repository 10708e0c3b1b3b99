import { setTimeout as wait } from "node:timers/promises";
import { defaultRetention, type Retention } from "../retention.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";

export interface PruneOptions {
  /** The table of the current file. */
  table: () => DeliveryTable;
  commit: GroupCommit;
  damage: DamageTracker;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The retention of an endpoint that this process serves; otherwise, the stored one applies. */
  retentionOf: (endpoint: string) => Retention | undefined;
  isStopped: () => boolean;
  /** Checkpoints the WAL in a thread, if there is one and the WAL has at least this many bytes. */
  checkpoint: (minBytes: number) => Promise<void>;
}

/** Processes without running deliveries are removed this long after their last heartbeat, in milliseconds. */
const processRetentionMs = 24 * 3_600_000;

/**
 * The pause after a step: `pauseFactor` times the duration of the step, at most `maxPauseMs`. Pruning is not urgent, and commits
 * wait for the disk during a checkpoint.
 */
const pauseFactor = 3;
const maxPauseMs = 1_000;
/**
 * The WAL is checkpointed after this many steps, about 10 MB with large bodies. At its limit of 40 MB, the next commit would do
 * so, which took 1.3 s.
 */
const stepsPerCheckpoint = 8;
/** A smaller WAL is checkpointed only after the last step, in bytes. */
const minWalBytes = 2 * 2 ** 20;

/**
 * Removes the deliveries of all endpoints past their retention, and returns the space to the disk. Works in steps, so that
 * other writes can happen in between. Returns the number of removed deliveries.
 */
export async function pruneInbox(options: PruneOptions): Promise<number> {
  const { table, commit, damage, now, retentionOf, isStopped, checkpoint } = options;
  let count = 0;
  let steps = 0;
  /** Runs a step in a transaction. Resolves after the pause. */
  const step = async <Result extends { isDone: boolean }>(operation: () => Result): Promise<Result> => {
    const startedAt = performance.now();
    const result = await commit.write(operation);
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
        if (!damage.note(error, endpoint)) throw error;
        isDone = table().pruner.damaged === damaged;
      }
    }
  }
  if (isStopped()) return count;
  await commit.write(() => table().leases.removeProcessesBefore(now() - processRetentionMs));
  for (let isDone = false; !isDone && !isStopped(); ) {
    ({ isDone } = await step(() => table().pruner.shrink()));
  }
  // The file shrinks only then.
  if (steps > 0) await checkpoint(0);
  return count;
}
