import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const retryMs = 20;

/** What {@link withFileLock} needs. */
export interface FileLockOptions {
  /** The lock itself: a file for nothing else, in a folder that is there. */
  file: string;
  /** How long to wait for others, in milliseconds. */
  waitMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `work` while no other process, and nobody else in this one, holds the same lock; `undefined` when it was not to
 * be had in time. The lock is one of the system (by way of SQLite), so it never outlives the process that holds it: there
 * is none that is stale.
 *
 * @throws what opening the file throws, and the reason of the signal.
 */
export async function withFileLock<Result>(
  { file, waitMs, signal }: FileLockOptions,
  work: () => Result | Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const startedAt = performance.now();
  // Only where there is none: closing a file gives up, on most systems, every lock that the process has on it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    while (!tryLock(database)) {
      if (performance.now() - startedAt > waitMs) return undefined;
      await sleep(retryMs, undefined, { signal }).catch(() => {});
      signal?.throwIfAborted();
    }
    return { result: await work() };
  } finally {
    // It ends what was begun, and with it the lock.
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    const isBusy = error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;
    if (isBusy) return false;
    throw error;
  }
}
