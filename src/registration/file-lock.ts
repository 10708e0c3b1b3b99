import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "../core/sqlite-errors.ts";

const retryDelayMs = 20;

/**
 * Runs `work` while holding a lock that excludes other processes and other calls in this process. Returns `undefined`
 * if the lock was not available in time. SQLite uses a lock of the operating system, which never outlives its process,
 * so there are no stale locks.
 *
 * @throws errors of opening the file, and the signal's abort reason.
 */
export async function withFileLock<Result>(
  {
    file,
    timeoutMs,
    signal,
  }: {
    /** The lock file. It must have no other use, and its folder must exist. */
    file: string;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
  work: () => Result | Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const startedAt = performance.now();
  // The file is opened only if it does not exist: on most systems, closing a file releases all locks of the process on
  // it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    while (!tryLock(database)) {
      if (performance.now() - startedAt > timeoutMs) return undefined;
      await sleep(retryDelayMs, undefined, { signal }).catch(() => {});
      signal?.throwIfAborted();
    }
    return { result: await work() };
  } finally {
    // Closing the database ends the transaction, which releases the lock.
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
