import { closeSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { makePrivateFolder } from "../../core/files.ts";

// An `import` would fail in old versions of Node before `errors.ts` can say which version is required.
const sqlite = process.getBuiltinModule("node:sqlite");

/** The `application_id` of state files: "hwlh" in ASCII. It distinguishes state files from databases of other programs. */
const applicationId = 0x68776c68;
/** The version of the tables. Increase the version when a table changes. Files with another version are rejected, not migrated. */
const schemaVersion = 7;

const minDatabaseBytes = 512;

/** Columns named `record` contain JSON. `sequence` is the order in which rows were inserted. The Hub compares names regardless of case. */
const schema = `
  CREATE TABLE webhooks (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE repositories (
    type TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    record TEXT NOT NULL,
    PRIMARY KEY (type, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE jobs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    secrets TEXT NOT NULL
  ) STRICT;
  CREATE TABLE pending (
    delivery_id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    log_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE attempts (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    log_id TEXT NOT NULL UNIQUE,
    delivery_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    record TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE records (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, owner, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit_log (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    organization TEXT NOT NULL,
    author TEXT,
    ip TEXT,
    type TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE blobs (oid TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT;
  CREATE TABLE trees (oid TEXT PRIMARY KEY, entries TEXT NOT NULL) STRICT;
  CREATE TABLE commits (
    repository_id TEXT NOT NULL,
    oid TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (repository_id, oid)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE refs (
    repository_id TEXT NOT NULL,
    name TEXT NOT NULL,
    oid TEXT NOT NULL,
    PRIMARY KEY (repository_id, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE large_files (
    repository_id TEXT NOT NULL,
    oid TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (repository_id, oid)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE objects (
    bucket_id TEXT NOT NULL,
    key TEXT NOT NULL,
    record TEXT NOT NULL,
    content BLOB,
    PRIMARY KEY (bucket_id, key)
  ) STRICT;
  CREATE TABLE moved_repositories (
    type TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    repository_id TEXT NOT NULL,
    PRIMARY KEY (type, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE discussions (
    repository_id TEXT NOT NULL,
    num INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (repository_id, num)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE discussion_events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id TEXT NOT NULL,
    num INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE job_logs (
    job_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX objects_by_hash ON objects (bucket_id, coalesce(record ->> 'xetHash', record ->> 'sha256'));
  CREATE INDEX objects_by_file ON objects (record ->> 'file');
  CREATE INDEX audit_log_of_organization ON audit_log (organization, sequence);
  CREATE INDEX events_of_discussion ON discussion_events (repository_id, num, sequence);
  CREATE INDEX pending_of_webhook ON pending (webhook_id);
  CREATE INDEX attempts_of_webhook ON attempts (webhook_id, sequence);
  CREATE INDEX attempts_of_delivery ON attempts (delivery_id);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Opens the database of a local Hub, in memory if `file` is `undefined`. Creates a missing file with access only for the current
 * user, because the file contains the secrets of webhooks. Locks the file, so that other processes cannot open it.
 *
 * @param image the content of the database in memory, from `DatabaseSync.serialize`. Default: empty tables.
 *
 * @throws `LOCAL_HUB_STATE_UNUSABLE` if the file cannot be used. The file is then unchanged.
 */
export function openDatabase(file: string | undefined, image?: Uint8Array): DatabaseSync {
  if (file === undefined) {
    const database = new sqlite.DatabaseSync(":memory:");
    if (image) database.deserialize(image);
    else database.exec(schema);
    return database;
  }
  let database: DatabaseSync | undefined;
  try {
    makePrivateFolder(dirname(resolve(file)), "LOCAL_HUB_STATE_UNUSABLE");
    closeSync(openSync(file, "a", 0o600));
    const { size } = statSync(file);
    // SQLite would treat a file that is too short for a database as empty and overwrite the file.
    if (size > 0 && size < minDatabaseBytes) throw new Error("file is not a database");
    database = new sqlite.DatabaseSync(file);
    database.exec("PRAGMA locking_mode = EXCLUSIVE;");
    const isNew = checkIsNew(database, file);
    // These settings write to the file, so they are set after the check. Commits survive a killed process, but not a power failure,
    // because syncing each commit would reduce the throughput by a third.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;");
    if (isNew) database.exec(`BEGIN; ${schema} COMMIT;`);
    return database;
  } catch (error) {
    database?.close();
    throw WebhookError.isInstance(error) ? error : stateUnusable(file, error);
  }
}

function checkIsNew(database: DatabaseSync, file: string): boolean {
  const read = (pragma: string) => Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  const isOurs = read("application_id") === applicationId;
  if (isOurs && read("user_version") === schemaVersion) return false;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (!isOurs && isEmpty && read("user_version") === 0) return true;
  throw new WebhookError(
    `"${file}" is not a state file of this version of the local Hub. Choose another file, or move this file away.`,
    { code: "LOCAL_HUB_STATE_UNUSABLE" },
  );
}

export function stateUnusable(file: string, cause: unknown): WebhookError {
  const reason = messageOf(cause);
  const remedy = /locked|busy/.test(reason)
    ? "another process uses the file. Stop that process, or choose another file"
    : /not a database|malformed/.test(reason)
      ? "the file is damaged or is not a state file of the local Hub. Choose another file, or move this file away"
      : `${reason}. Choose a readable and writable file`;
  return new WebhookError(`Cannot open the state file "${file}": ${remedy}.`, {
    code: "LOCAL_HUB_STATE_UNUSABLE",
    cause,
  });
}
