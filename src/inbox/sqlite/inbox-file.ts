import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { makePrivateFolder, syncFolder } from "../../core/private-folder.ts";
import { isFull } from "../../core/sqlite-errors.ts";
import type { InboxProblem } from "../inbox.ts";
import { openInboxDatabase } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { DiskSpace, spaceOf } from "./disk-space.ts";
import { copyMissing } from "./restore.ts";

/**
 * The pause after a failed restoration is `retryFactor` times the duration of the restoration, but at least `minRetryMs` and at
 * most `maxRetryMs`. The pause limits how long copies of a large file block the event loop.
 */
const minRetryMs = 900;
const maxRetryMs = 60_000;
const retryFactor = 10;

export interface InboxFileOptions {
  /** The path of the file, or `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  /** Whether to fail if the inbox does not exist, instead of creating it. */
  mustExist: boolean;
  log: Logger;
  /** An open database at `file`, which no other process uses, and the log that stores its changes before each commit. */
  logged?: LoggedDatabase;
}

/** A database whose changes are stored in a log before each commit. */
export interface LoggedDatabase {
  database: DatabaseSync;
  changes: ChangeLog;
}

/** Stores the changes of each transaction outside the database, before the commit. */
export interface ChangeLog {
  /** Called at the start of each transaction. @throws if changes can no longer be stored. */
  begin(database: DatabaseSync): void;
  /** Stores the changes of the open transaction. Returns `undefined` if nothing has changed. */
  store(): Promise<void> | undefined;
  /** Called after each transaction. */
  end(result: "committed" | "rolled back"): void;
}

/** The suffixes of the database file, the WAL, and the index of the WAL. */
const suffixes = ["", "-wal", "-shm"] as const;

/**
 * The open file of an inbox. If the file is deleted, moved, or replaced, the deliveries are restored at the original path, unless
 * the changes are stored in a log.
 */
export class InboxFile {
  readonly #options: InboxFileOptions;
  readonly #path: string | undefined;
  readonly #changes: ChangeLog | undefined;
  /** The connection that sees only committed changes while the changes of an open transaction are being stored. */
  readonly #reader: DatabaseSync | undefined;
  readonly #committed: DeliveryTable | undefined;
  #database: DatabaseSync;
  #table: DeliveryTable;
  #space: DiskSpace;
  #begin: () => void = () => {};
  #commit: () => void = () => {};
  /** The identities of the open files, in the order of `suffixes`. */
  #identities: readonly (string | undefined)[] = [];
  #problem: InboxProblem | undefined;
  /** When the next restoration may start, by `performance.now()`. */
  #retryAt = 0;
  #restored: () => void = () => {};

  /** @throws `INBOX_UNUSABLE` if the file cannot be opened. */
  constructor(options: InboxFileOptions) {
    this.#options = options;
    const { file, mustExist, logged } = options;
    this.#path = file === ":memory:" || logged !== undefined ? undefined : resolve(file);
    this.#changes = logged?.changes;
    this.#reader = logged && new DatabaseSync(file, { readOnly: true });
    this.#committed = this.#reader && new DeliveryTable(this.#reader);
    this.#database = logged?.database ?? openInboxDatabase(file, { mustExist });
    this.#table = new DeliveryTable(this.#database);
    this.#space = this.#adopt(this.#database);
  }

  /** The absolute path of the file, or `undefined` if no other process uses the file. */
  get path(): string | undefined {
    return this.#path;
  }

  /** The deliveries of the current file. Read this property again after each `await`, because the file may have been restored. */
  get table(): DeliveryTable {
    return this.#table;
  }

  /** Whether the changes are stored in a log before each commit. */
  get isLogged(): boolean {
    return this.#changes !== undefined;
  }

  /** The deliveries without the changes of an open transaction. Use this property outside transactions. */
  get committed(): DeliveryTable {
    return this.#committed ?? this.#table;
  }

  /** The current problem, if the file is gone and has not been restored yet. */
  get problem(): InboxProblem | undefined {
    return this.#problem;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Sets a callback that is called after each restoration. */
  onRestored(callback: () => void): void {
    this.#restored = callback;
  }

  /** Starts a write transaction. @throws if another connection holds the lock, or if the file is gone and cannot be restored. */
  begin(): void {
    if (this.#problem) this.#ensureInPlace();
    this.#space.refreshIfNeeded();
    this.#begin();
    try {
      this.#changes?.begin(this.#database);
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** See `TransactionTarget.storeChanges`. */
  storeChanges(): Promise<void> | undefined {
    return this.#changes?.store();
  }

  /**
   * Commits the transaction, and checks that the file is still at its path, so that the next start opens the same file.
   *
   * @throws if the commit fails, or if the file is no longer at its path.
   */
  commit(): void {
    this.#commit();
    this.#changes?.end("committed");
    if (!this.#isInPlace()) throw this.#recordGone();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#changes?.end("rolled back");
  }

  /** Frees disk space if the disk is full, by checkpointing and truncating the WAL. */
  afterFailure(error: unknown): void {
    if (isFull(error)) this.#checkpoint();
  }

  /** Whether a delivery of this size fits on the disk without using the space that is reserved for the results of other deliveries. */
  hasRoomFor(bytes: number): boolean {
    // A delivery is written both to the WAL and to the file, together with pages of the indexes.
    return this.#space.hasRoomFor(2 * bytes + 32 * 1_024);
  }

  /** Whether a small delivery fits on the disk now. */
  hasSpace(): boolean {
    this.#space.refresh();
    return this.hasRoomFor(0);
  }

  /**
   * Restores the file if the file is not at its path. Returns whether the file is at its path now. Logs an error if the restoration
   * fails.
   */
  restoreIfGone(): boolean {
    try {
      this.#ensureInPlace();
      return true;
    } catch {
      return false;
    }
  }

  /** @throws if the file is gone and cannot be restored. */
  #ensureInPlace(): void {
    if (this.#isInPlace()) {
      this.#problem = undefined;
      return;
    }
    if (!this.#problem) this.#recordGone();
    if (performance.now() < this.#retryAt)
      throw new WebhookError(String(this.#problem?.message), { code: "INBOX_UNAVAILABLE" });
    this.#restore();
  }

  /** Restores the file if the file is not at its path, and then closes the file. */
  close(): void {
    this.restoreIfGone();
    // If the restoration failed, another file can be at this path. Closing the database does not delete that file's
    // WAL.
    this.#reader?.close();
    this.#database.close();
  }

  #adopt(database: DatabaseSync): DiskSpace {
    const { file } = this.#options;
    const folder = file === ":memory:" ? undefined : dirname(resolve(file));
    this.#database = database;
    this.#table = new DeliveryTable(database);
    const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
    this.#begin = () => void begin.run();
    this.#commit = () => void commit.run();
    this.#space = new DiskSpace(database, () => (folder === undefined ? undefined : spaceOf(folder)));
    this.#space.refresh();
    // The WAL of an earlier process can fill a small disk.
    this.#checkpoint();
    this.#identities = this.#identitiesAtPath();
    this.#problem = undefined;
    return this.#space;
  }

  #checkpoint(): void {
    try {
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // On a full disk, the checkpoint can fail too. The checkpoint is retried after the next failed write.
    }
  }

  /** Whether the open files are at their paths. The check takes about 7 µs, which is about a hundredth of a sync to disk. */
  #isInPlace(): boolean {
    if (this.#path === undefined) return true;
    const current = this.#identitiesAtPath();
    return this.#identities.every((identity, index) => identity === current[index]);
  }

  #identitiesAtPath(): (string | undefined)[] {
    const path = this.#path;
    return path === undefined ? [] : suffixes.map((suffix) => identityOf(`${path}${suffix}`));
  }

  #recordGone(): WebhookError {
    const message = `The inbox "${this.#path}" was deleted, moved, or replaced while it was open. New deliveries are rejected until the inbox is restored.`;
    if (!this.#problem) this.#options.log.error({ code: "INBOX_UNAVAILABLE", file: this.#path }, message);
    this.#problem ??= { code: "INBOX_UNAVAILABLE", severity: "unavailable", message };
    return new WebhookError(message, { code: "INBOX_UNAVAILABLE" });
  }

  #restore(): void {
    const path = this.#path;
    if (path === undefined) return;
    const before = this.#database;
    const startedAt = performance.now();
    try {
      // After the checkpoint, a moved file is complete without its WAL.
      this.#checkpoint();
      makePrivateFolder(dirname(path), "INBOX_UNUSABLE");
      const current = identityOf(path);
      const isOurs = current !== undefined && current === this.#identities[0];
      if (current === undefined || isOurs) this.#writeSnapshot(path, { isOurs });
      else this.#copyInto(path);
    } catch (error) {
      this.#recordFailure(error);
      const now = performance.now();
      this.#retryAt = now + Math.min(Math.max(minRetryMs, retryFactor * (now - startedAt)), maxRetryMs);
      throw error;
    }
    before.close();
    this.#options.log.warn({ file: path }, "The inbox was restored at its path, with all accepted deliveries.");
    this.#restored();
  }

  /**
   * Writes all deliveries to a new file at the path. Replaces only the file of this inbox. @throws if another file exists at the
   * path.
   */
  #writeSnapshot(path: string, { isOurs }: { isOurs: boolean }): void {
    const snapshot = `${path}.restored-${crypto.randomUUID()}`;
    try {
      // The file is created with mode 0600, so that other users cannot read payloads. SQLite treats an empty file as a new
      // database.
      closeSync(openSync(snapshot, "ax", 0o600));
      this.#database.prepare("VACUUM INTO ?").run(snapshot);
      syncFile(snapshot);
      this.#removeOwn(["-wal", "-shm"]);
      if (isOurs) renameSync(snapshot, path);
      else placeWithoutReplacing(snapshot, path);
      syncFolder(dirname(path));
    } finally {
      rmSync(snapshot, { force: true });
    }
    this.#adopt(openInboxDatabase(path));
  }

  /** Copies all deliveries into an inbox that another process created at the path. @throws if the file at the path is not an inbox. */
  #copyInto(path: string): void {
    // Otherwise, SQLite would use the WAL of this inbox for the other file.
    this.#removeOwn(["-wal", "-shm"]);
    const target = openInboxDatabase(path);
    try {
      copyMissing(this.#database, path);
    } catch (error) {
      target.close();
      throw error;
    }
    this.#adopt(target);
  }

  #removeOwn(removed: readonly (typeof suffixes)[number][]): void {
    for (const [index, suffix] of suffixes.entries()) {
      const at = `${this.#path}${suffix}`;
      if (removed.includes(suffix) && identityOf(at) === this.#identities[index]) rmSync(at, { force: true });
    }
  }

  #recordFailure(error: unknown): void {
    const isForeign = WebhookError.isInstance(error) && error.code === "INBOX_UNUSABLE";
    const code = isForeign ? "INBOX_FILE_REPLACED" : "INBOX_UNAVAILABLE";
    const remedy = isForeign
      ? "Move the file at this path away. The server then restores the inbox there."
      : "The restoration will be retried.";
    const reason = messageOf(error).replace(/\.$/, "");
    const message = `The inbox "${this.#path}" was deleted, moved, or replaced while it was open, and cannot be restored: ${reason}. ${remedy}`;
    if (this.#problem?.message !== message) this.#options.log.error({ code, err: error, file: this.#path }, message);
    this.#problem = { code, severity: "unavailable", message };
  }
}

/** Returns the identity of the file at a path, or `undefined` if the file does not exist or is not accessible. */
function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  } catch {
    return undefined;
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Moves a file to a path. @throws if another process has created a file at that path. */
function placeWithoutReplacing(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // Not all file systems support hard links.
    if (existsSync(to) || !hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP")) throw error;
    renameSync(from, to);
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
