import { accessSync, closeSync, constants, existsSync, openSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { isBusy, makePrivateFolder } from "../../core/files.ts";
import { noInbox } from "../errors.ts";
import { currentTables, migrations, schemaVersion } from "./schema.ts";

/** The `application_id` of inbox files: "hwin" in ASCII. */
const applicationId = 0x6877696e;

/**
 * Opens the database of an inbox. Creates a missing file unless `mustExist` is `true`. Every commit is synced to disk.
 *
 * @throws `INBOX_UNUSABLE` if the file cannot be opened. The file is then unchanged.
 */
export function openInboxDatabase(file: string, options: { mustExist?: boolean } = {}): DatabaseSync {
  const startedAt = performance.now();
  for (;;) {
    try {
      return open(file, options);
    } catch (error) {
      if (WebhookError.isInstance(error)) throw error;
      if (!isBusy(error) || performance.now() - startedAt > maxWaitMs) {
        throw new WebhookError(
          `The inbox "${file}" cannot be opened (${messageOf(error)}). Set INBOX_URL to a readable and writable file, such as sqlite:./data/inbox.db.`,
          { code: "INBOX_UNUSABLE", cause: error },
        );
      }
      // Several processes can create the file at the same time, and SQLite's timeout does not cover all of its locks.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

const maxWaitMs = 5_000;

function open(file: string, { mustExist = false }: { mustExist?: boolean }): DatabaseSync {
  if (mustExist && !existsSync(file)) throw inboxMissing(file);
  if (file !== ":memory:") {
    makePrivateFolder(dirname(resolve(file)), "INBOX_UNUSABLE");
    // The file is created with mode 0600, so that other users cannot read payloads. SQLite treats an empty file as a new database.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    checkAccess(file);
  }
  const database = new DatabaseSync(file, { timeout: maxWaitMs });
  try {
    const version = readVersion(database, file);
    if (version === 0 && mustExist) throw inboxMissing(file);
    checkHealth(database, file);
    // This setting must precede the first table. `deliveries compact` enables it in older files.
    if (version === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (version < schemaVersion) migrateDatabase(database);
    // Removes the search index of an older release.
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}-search${suffix}`, { force: true });
    // From now on, `GroupCommit` waits for locks without blocking the event loop.
    database.exec("PRAGMA busy_timeout = 0");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Rejects read-only files. SQLite would open a read-only file, but reject all writes even after the file becomes writable. */
function checkAccess(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  }
}

/** Returns the schema version of an inbox, or 0 if the file is empty. @throws `INBOX_UNUSABLE` if the file is not an inbox. */
function readVersion(database: DatabaseSync, file: string): number {
  // The transaction makes the reads consistent, because another process may be creating the inbox.
  database.exec("BEGIN");
  const version = readPragma(database, "user_version");
  const isInbox = readPragma(database, "application_id") === applicationId;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  database.exec("COMMIT");
  if (isInbox && version <= schemaVersion) return version;
  if (isEmpty && version === 0) return 0;
  throw new WebhookError(
    isInbox
      ? `"${file}" was written by a newer release of hub-webhooks. Update hub-webhooks, or set INBOX_URL to another file.`
      : `"${file}" is a database, but not an inbox. Set INBOX_URL to another file, or move the database away.`,
    { code: "INBOX_UNUSABLE" },
  );
}

export function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/**
 * The maximum size of files that are checked for damage when they are opened. Checking larger files takes too long, so damage to larger
 * files is found only while deliveries are processed.
 */
const maxCheckedBytes = 64 * 2 ** 20;

function checkHealth(database: DatabaseSync, file: string): void {
  if (readPragma(database, "page_count") * readPragma(database, "page_size") > maxCheckedBytes) return;
  const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
  if (found === "ok") return;
  throw new WebhookError(
    `The inbox "${file}" is damaged (${found}). Move the file and its -wal and -shm files away, then start again. To recover the deliveries, run \`sqlite3 FILE .recover\`.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/** Updates a database to a schema version. Does nothing if the database already has this version or a newer one. */
export function migrateDatabase(database: DatabaseSync, to: number = schemaVersion): void {
  // If a migration fails, closing the database rolls the transaction back.
  database.exec("BEGIN IMMEDIATE");
  // Another process may already have migrated the file.
  const version = schemaVersionOf(database);
  if (version === 0 && to === schemaVersion) database.exec(currentTables);
  else for (const migration of migrations.slice(version, to)) database.exec(migration);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${Math.max(version, to)}; COMMIT`);
}

export function schemaVersionOf(database: DatabaseSync): number {
  return readPragma(database, "user_version");
}

/** Returns a function that checks whether a newer release has updated the tables of an inbox. Each transaction calls it. */
export function createReleaseCheck(database: DatabaseSync): () => boolean {
  const version = database.prepare("PRAGMA user_version");
  return () => Number(version.get()?.user_version) > schemaVersion;
}

/** Opens or creates a file that only this process uses and can build again. Does not update its schema, and does not sync commits. */
export function openPrivateDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  return database;
}

function inboxMissing(file: string): WebhookError {
  const place = file === ":memory:" ? "in the memory of this process" : `at "${resolve(file)}"`;
  return noInbox(place, "sqlite:./data/inbox.db");
}
