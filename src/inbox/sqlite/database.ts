import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import { makePrivateFolder } from "../../core/private-folder.ts";
import { migrations, schemaVersion } from "./migrations.ts";
import { isBusy } from "./sqlite-error.ts";

/** Tells our files from those of other programs: "hwin". */
const applicationId = 0x6877696e;

/**
 * Opens the database of an inbox, and makes it where there is none. Every commit is synced to the disk.
 *
 * @param file `:memory:` keeps nothing beyond the process.
 * @param options `mustExist`: whether to make none, for whoever only looks. Default `false`.
 * @throws `INBOX_UNUSABLE`; the file is left as it is.
 */
export function openInboxDatabase(file: string, options: { mustExist?: boolean } = {}): DatabaseSync {
  const startedAt = performance.now();
  for (;;) {
    try {
      return open(file, options);
    } catch (error) {
      if (WebhookError.isInstance(error)) throw error;
      if (!isBusy(error) || performance.now() - startedAt > longestWaitMs) throw unusable(file, error);
      // Several processes make the same file at once, and SQLite waits for some of its locks only.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

const longestWaitMs = 5_000;

function open(file: string, { mustExist = false }: { mustExist?: boolean }): DatabaseSync {
  if (mustExist && !existsSync(file)) throw missing(file);
  if (file !== ":memory:") {
    makePrivateFolder(dirname(resolve(file)), "INBOX_UNUSABLE");
    // Payloads are for the owner alone. An empty file is one that SQLite takes for a new database.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    checkAccess(file);
  }
  const database = new DatabaseSync(file, { timeout: longestWaitMs });
  try {
    const version = readVersion(database, file);
    if (version === 0 && mustExist) throw missing(file);
    checkHealth(database, file);
    // Only before the first table is made; `deliveries compact` sets it for an older file.
    if (version === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (version < schemaVersion) migrate(database);
    // From now on GroupCommit waits for locks, without blocking the event loop.
    database.exec("PRAGMA busy_timeout = 0");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite opens what it cannot write all the same, and refuses every write from then on, also when it could be written. */
function checkAccess(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  }
}

/** The version of a file of ours; 0 where nothing is in it yet. @throws `INBOX_UNUSABLE` for what is none of ours. */
function readVersion(database: DatabaseSync, file: string): number {
  // Of one moment: another process may be making it.
  database.exec("BEGIN");
  const version = readPragma(database, "user_version");
  const isOurs = readPragma(database, "application_id") === applicationId;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  database.exec("COMMIT");
  if (isOurs && version <= schemaVersion) return version;
  if (isEmpty && version === 0) return 0;
  throw new WebhookError(
    isOurs
      ? `"${file}" was written by a newer release of hub-webhooks: update this one, or set INBOX_URL to another file.`
      : `"${file}" is a database, but no inbox: set INBOX_URL to another file, or move this one away.`,
    { code: "INBOX_UNUSABLE" },
  );
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/** Reading all of it takes too long where it is larger than this, in bytes; then it shows when it is worked on. */
const largestChecked = 64 * 2 ** 20;

function checkHealth(database: DatabaseSync, file: string): void {
  if (readPragma(database, "page_count") * readPragma(database, "page_size") > largestChecked) return;
  const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
  if (found === "ok") return;
  throw new WebhookError(
    `The inbox "${file}" is damaged (${found}): move it and the files beside it away, and start again. What can be saved of it, \`sqlite3 FILE .recover\` shows.`,
    { code: "INBOX_UNUSABLE" },
  );
}

function migrate(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster.
    const version = readPragma(database, "user_version");
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function missing(file: string): WebhookError {
  const place = file === ":memory:" ? "in the memory of this process" : `at "${resolve(file)}"`;
  return new WebhookError(
    `There is no inbox ${place}: name the server's own by its URL (INBOX_URL), as in sqlite:./data/inbox.db. A server makes it at its first start.`,
    { code: "INBOX_UNUSABLE" },
  );
}

function unusable(file: string, cause: unknown): WebhookError {
  const reason = messageOf(cause);
  return new WebhookError(
    `The inbox "${file}" cannot be opened (${reason}): set INBOX_URL to a file that can be read and written, as in sqlite:./data/inbox.db.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
