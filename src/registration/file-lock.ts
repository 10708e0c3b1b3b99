import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "../core/sqlite-errors.ts";

const retryDelayMs = 20;

/**
 * Runs `work` while holding a lock that excludes other processes and other calls in this process. Returns `undefined`
 * if the lock was not available in time. The lock is an SQLite transaction, which the operating system releases when
 * the process exits, so there are no stale locks.
 *
 * @throws errors from the file system, SQLite, and `work`, and the signal's abort reason.
 */
export async function withFileLock<Result>(
  {
    file,
    timeoutMs,
    signal,
  }: {
    /** The path of the lock file, which must have no other use. The folder must exist. */
    file: string;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
  work: () => Result | Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const startedAt = performance.now();
  // Create the file only if it does not exist. On most systems, closing a file releases all locks that the process
  // holds on that file.
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
    // Close the database to end the transaction, which releases the lock.
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
