import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { LogWriter, waitWithTimer } from "../../../src/inbox/bucket/log.ts";
import { LogReplay } from "../../../src/inbox/bucket/log-replay.ts";
import { BucketChangeLog, WorkingDatabase } from "../../../src/inbox/bucket/working-database.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { schemaVersion } from "../../../src/inbox/sqlite/schema.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import type { MemoryObjectStore } from "./memory-object-store.ts";

/** Returns the path of a file in a folder that is removed after the test. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "bucket-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "inbox.db");
}

/** Builds a database from the log in a store. */
export async function replayLog(
  store: MemoryObjectStore,
  file: string = temporaryFile(),
): Promise<{ database: DatabaseSync; replay: LogReplay; logger: MemoryLogger }> {
  const logger = createMemoryLogger();
  const working = new WorkingDatabase(file, store.name);
  onTestFinished(() => working.close());
  const snapshot = { number: 0, bytes: 0, newest: 0, damaged: new Set<number>() };
  const replay = new LogReplay({ store, target: working, snapshot, log: logger });
  await replay.catchUp();
  working.finish();
  return { database: working.database, replay, logger };
}

/** A table of deliveries whose transactions are stored in a log. */
export interface LoggedTable {
  file: string;
  database: DatabaseSync;
  table: DeliveryTable;
  /** Runs an operation in a transaction and stores its changes as a record. `commits`: whether the commit succeeds. Default `true`. */
  write: <Result>(operation: () => Result, options?: { commits?: boolean }) => Promise<Result>;
}

/** Takes over the log in a store without the rest of an inbox, so that each transaction is one record. */
export async function openLoggedTable(store: MemoryObjectStore): Promise<LoggedTable> {
  const file = temporaryFile();
  const { database, replay, logger } = await replayLog(store, file);
  const writer = new LogWriter({
    ...{ store, writerId: crypto.randomUUID(), next: replay.next, log: logger },
    ...{ monotonicNow: () => performance.now(), wait: waitWithTimer },
  });
  const owner = { host: "test", pid: 1, startedAt: new Date(0).toISOString() };
  await writer.append({ kind: "takeover", owner, schemaVersion, body: () => new Uint8Array() });
  const changes = new BucketChangeLog(database, writer, { fences: replay.fences, onRecord: () => {} });
  const table = new DeliveryTable(database);
  return {
    file,
    database,
    table,
    async write(operation, { commits = true } = {}) {
      database.exec("BEGIN IMMEDIATE");
      changes.begin(database);
      const result = operation();
      table.totals.store();
      await changes.store();
      database.exec(commits ? "COMMIT" : "ROLLBACK");
      changes.end(commits ? "committed" : "rolled back");
      return result;
    },
  };
}

/**
 * Returns all rows of all tables. The counters of sequences are left out, because ignored duplicates increase them, and these numbers
 * belong to no row.
 */
export function dump(database: DatabaseSync): Record<string, string[]> {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence' ORDER BY name")
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      database
        .prepare(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}
