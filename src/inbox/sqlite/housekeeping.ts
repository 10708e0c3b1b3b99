import { setTimeout as wait } from "node:timers/promises";
import { idsKnownMs } from "../known-ids.ts";
import { defaultRetentionMs } from "../retention.ts";
import type { DamageLog } from "./damage-log.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Retention } from "./step-remover.ts";

/** What {@link pruneInbox} needs. */
export interface HousekeepingOptions {
  /** Belongs to the current file of the inbox. */
  table: () => DeliveryTable;
  commit: GroupCommit;
  damage: DamageLog;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The retention of an endpoint of this process. */
  retentionOf: (endpoint: string) => Retention | undefined;
  isStopped: () => boolean;
  /** Copies the log into the file in a thread, where there is one; called when there is much to write. */
  copyLog: () => Promise<void>;
}

/** An owner that has not shown for so long that it is alive has left nothing but its row. */
const ownersKeptMs = 24 * 3_600_000;

/**
 * How many times as long as a step took passes until the next one, and at most, in milliseconds: a prune may take its time,
 * and a commit waits for the disk while the log is copied.
 */
const pauseFactor = 3;
const maxPauseMs = 1_000;
/**
 * After so many steps the log is copied: about 10 MB where bodies are large. Left to grow to its limit of 40 MB, it is copied
 * by the next commit, which took 1.3 s.
 */
const stepsPerCopy = 8;

/**
 * Removes what is past its retention, of all endpoints that the file has deliveries of, and gives the space back. Works in
 * steps, between which others write. Returns how many deliveries.
 */
export async function pruneInbox(options: HousekeepingOptions): Promise<number> {
  const { table, commit, damage, now, retentionOf, isStopped, copyLog } = options;
  let count = 0;
  let steps = 0;
  /** Runs a step in a transaction; resolves when the next one may follow. */
  const step = async <Result extends { isDone: boolean }>(operation: () => Result): Promise<Result> => {
    const startedAt = performance.now();
    const result = await commit.write(operation);
    if (!result.isDone) {
      steps += 1;
      if (steps % stepsPerCopy === 0) await copyLog();
      await wait(Math.min(pauseFactor * (performance.now() - startedAt), maxPauseMs));
    }
    return result;
  };
  for (const { endpoint, retention: stored } of table().remover.endpoints()) {
    const retention = retentionOf(endpoint) ?? stored ?? { bodiesMs: defaultRetentionMs, idsMs: idsKnownMs };
    for (let isDone = false; !isDone && !isStopped(); ) {
      const limits = { bodiesBefore: now() - retention.bodiesMs, idsBefore: now() - retention.idsMs };
      const { damaged } = table().remover;
      try {
        const removed = await step(() => table().remover.prune(endpoint, limits));
        count += removed.count;
        isDone = removed.isDone;
      } catch (error) {
        if (!damage.note(error, endpoint)) throw error;
        isDone = table().remover.damaged === damaged;
      }
    }
  }
  if (isStopped()) return count;
  await commit.write(() => table().dropOwnersBefore(now() - ownersKeptMs));
  for (let isDone = false; !isDone && !isStopped(); ) {
    ({ isDone } = await step(() => table().remover.shrink()));
  }
  return count;
}
