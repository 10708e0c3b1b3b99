import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { WebhookError } from "../../errors.ts";

/** Tells our files from those of other programs: "hwin". */
const applicationId = 0x6877696e;
const schemaVersion = 1;

const schema = `
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    body TEXT,
    received_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    forgiven INTEGER NOT NULL DEFAULT 0,
    again INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    owner TEXT,
    set_at INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (endpoint, id)
  ) STRICT;
  CREATE INDEX deliveries_queued ON deliveries (endpoint, due_at) WHERE status = 'queued';
  CREATE INDEX deliveries_running ON deliveries (due_at) WHERE status = 'running';
  CREATE INDEX deliveries_finished ON deliveries (endpoint, finished_at) WHERE finished_at IS NOT NULL;
  CREATE INDEX deliveries_by_status ON deliveries (status, endpoint);
  CREATE TABLE attempts (
    delivery INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    message TEXT,
    PRIMARY KEY (delivery, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE totals (
    endpoint TEXT NOT NULL,
    status TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (endpoint, status)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries BEGIN
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_moved AFTER UPDATE OF status ON deliveries WHEN old.status <> new.status BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_forgotten AFTER DELETE ON deliveries BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    DELETE FROM attempts WHERE delivery = old.sequence;
  END;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Opens the database of an inbox, and makes it where there is none. Every commit is synced to the disk.
 *
 * @param file `:memory:` keeps nothing beyond the process.
 * @throws `INBOX_UNUSABLE`; the file is left as it is.
 */
export function openInboxDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
    database = new DatabaseSync(file, { timeout: 5_000 });
    const isNew = checkIsNew(database, file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (isNew) createSchema(database);
    // From now on a lock is waited for without blocking the process: see GroupCommit.
    database.exec("PRAGMA busy_timeout = 0");
    return database;
  } catch (error) {
    database?.close();
    throw WebhookError.isInstance(error) ? error : unusable(file, error);
  }
}

function checkIsNew(database: DatabaseSync, file: string): boolean {
  const read = (pragma: string) => Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  if (read("application_id") === applicationId && read("user_version") === schemaVersion) return false;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (isEmpty && read("application_id") === 0 && read("user_version") === 0) return true;
  throw new WebhookError(
    `"${file}" is a database, but no inbox that this release can read: set INBOX_URL to another file, or move this one away.`,
    { code: "INBOX_UNUSABLE" },
  );
}

function createSchema(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster.
    const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'deliveries'").get() !== undefined;
    database.exec(exists ? "COMMIT" : `${schema} COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function unusable(file: string, cause: unknown): WebhookError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new WebhookError(
    `The inbox "${file}" cannot be opened (${reason}): set INBOX_URL to a file that can be read and written, as in sqlite:./data/inbox.db.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
