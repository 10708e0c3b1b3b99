import { setTimeout as wait } from "node:timers/promises";
import { readField } from "../../core/describe.ts";
import { isDamage, isFull } from "../../core/files.ts";
import { defaultRetention, retentionOf } from "../retry.ts";
import type { BackgroundMaintenance } from "./background-maintenance.ts";
import type { InboxContext } from "./context.ts";
import { readPragma } from "./database.ts";
import type { Row } from "./delivery-reader.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";

/** The target duration of a step. New deliveries wait until the step ends. Removing one large body can take longer. */
const maxStepMs = 5;
const maxRows = 200;
const pagesPerVacuum = 16;

interface PruneStep {
  count: number;
  isDone: boolean;
}

/** Removes deliveries whose retention period has ended from the file of an inbox, in steps. Each step is one transaction. */
export class DeliveryPruner {
  readonly #table: Pick<DeliveryTable, "database" | "statements">;
  /** The sequences of deliveries on damaged pages. Pruning skips them, because removing one would fail the step. */
  readonly damaged = new Set<number>();

  constructor(table: Pick<DeliveryTable, "database" | "statements">) {
    this.#table = table;
  }

  /**
   * Runs one step for an endpoint: removes bodies and attempts of deliveries that finished before `bodiesBefore`, and then IDs of
   * deliveries that finished before both times. Returns the number of removed bodies.
   */
  prune(endpoint: string, { bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number }): PruneStep {
    const { finished, removeBody, removeAttempts, removeFromIndex, emptied, removeId } = this.#table.statements;
    const until = performance.now() + maxStepMs;
    const bodies = this.#removeSome(
      (limit) => finished().all(endpoint, bodiesBefore, limit),
      until,
      (sequence) => {
        removeBody().run(sequence);
        removeAttempts().run(sequence);
        removeFromIndex().run(sequence);
      },
    );
    if (!bodies.isDone) return bodies;
    const { isDone } = this.#removeSome(
      (limit) => emptied().all(endpoint, Math.min(bodiesBefore, idsBefore), limit),
      until,
      (sequence) => removeId().run(sequence),
    );
    return { count: bodies.count, isDone };
  }

  /** Returns some of the file's free pages to the disk. */
  shrink(): { isDone: boolean } {
    const { database } = this.#table;
    const incremental = 2;
    if (readPragma(database, "auto_vacuum") !== incremental) return { isDone: true };
    const until = performance.now() + maxStepMs;
    while (readPragma(database, "freelist_count") > 0) {
      if (performance.now() >= until) return { isDone: false };
      database.exec(`PRAGMA incremental_vacuum(${pagesPerVacuum})`);
    }
    return { isDone: true };
  }

  #removeSome(find: (limit: number) => Row[], until: number, remove: (sequence: number) => void): PruneStep {
    const limit = maxRows + this.damaged.size;
    const rows = find(limit);
    let count = 0;
    for (const { sequence } of rows) {
      if (this.damaged.has(Number(sequence))) continue;
      if (count > 0 && performance.now() >= until) return { count, isDone: false };
      try {
        remove(Number(sequence));
        count += 1;
      } catch (error) {
        // Later steps skip this delivery.
        if (isDamage(error)) this.damaged.add(Number(sequence));
        throw error;
      }
    }
    return { count, isDone: rows.length < limit };
  }
}

/** Processes without running deliveries are kept for this time after their last heartbeat. */
const processRetentionMs = 24 * 3_600_000;

/**
 * After each step, pruning pauses for this multiple of its duration, up to `maxPauseMs`, because other commits wait while a step writes to
 * the disk.
 */
const pauseFactor = 3;
const maxPauseMs = 1_000;
/**
 * The WAL is checkpointed after this number of steps, which write about 10 MB if bodies are large. Without these checkpoints, the
 * next commit would checkpoint 40 MiB, which took 1.3 s in a test.
 */
const stepsPerCheckpoint = 8;
const minWalBytes = 2 * 2 ** 20;

/** Removes all deliveries whose retention period has ended, in steps, and then shrinks the file. Returns the number of deliveries. */
export async function pruneInbox(
  { table, groupCommit, damage, tasks, now }: InboxContext,
  pruner: DeliveryPruner,
  workers: ReadonlyMap<string, EndpointWorker>,
  maintenance: BackgroundMaintenance,
): Promise<number> {
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
  for (const { endpoint, retention: stored } of table.endpoints()) {
    const queue = workers.get(endpoint)?.queue;
    const retention = queue ? retentionOf(queue) : (stored ?? defaultRetention);
    for (let isDone = false; !isDone && !tasks.isClosed; ) {
      const limits = { bodiesBefore: now() - retention.bodiesMs, idsBefore: now() - retention.idsMs };
      const damaged = pruner.damaged.size;
      try {
        const removed = await step(() => pruner.prune(endpoint, limits));
        count += removed.count;
        isDone = removed.isDone;
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
        isDone = pruner.damaged.size === damaged;
      }
    }
  }
  if (tasks.isClosed) return count;
  table.ids.trim(Number(table.statements.storedTotal().get()?.deliveries ?? 0));
  await groupCommit.write(() => table.ownActions.prune(now()));
  await groupCommit.write(() => table.leases.removeProcessesBefore(now() - processRetentionMs));
  for (let isDone = false; !isDone && !tasks.isClosed; ) {
    ({ isDone } = await step(() => pruner.shrink()).catch((error) => {
      // Moving pages needs space in the WAL. Later deliveries use the unused pages.
      if (!isFull(readField(error, "cause"))) throw error;
      return { isDone: true };
    }));
  }
  // The file shrinks only when the WAL is checkpointed.
  if (steps > 0) await maintenance.checkpoint(0);
  return count;
}
