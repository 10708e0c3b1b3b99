import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { isBusy, isFull } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import { unavailable } from "../errors.ts";
import type { CompactedInbox, InboxProblem } from "../inbox.ts";
import { createReleaseCheck, openInboxDatabase } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { DiskSpace, spaceOf } from "./file-system.ts";

export interface InboxFileOptions {
  /** The path of the file, or `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  log: Logger;
  /**
   * The open database at `file`, and the log that stores its changes before each commit. No other process may use the file. The
   * file must contain no running deliveries of processes that can still store results.
   */
  logged?: LoggedDatabase;
}

export interface LoggedDatabase {
  database: DatabaseSync;
  changes: ChangeLog;
}

/** Stores the changes of each transaction outside the database, before the commit. */
export interface ChangeLog {
  /** Called at the start of each transaction. @throws if changes can no longer be stored. */
  begin(): void;
  /** Stores the changes of the open transaction. Returns `undefined` if nothing has changed. */
  store(): Promise<void> | undefined;
  /** Called after each transaction. */
  end(result: "committed" | "rolled back"): void;
}

/** The suffixes of the database file, the WAL, and the index of the WAL. */
const suffixes = ["", "-wal", "-shm"];

/** The open file of an inbox. While it is deleted, moved, or replaced, nothing is stored, because the next start would not find it. */
export class InboxFile {
  readonly table: DeliveryTable;
  /** The deliveries without the changes of an open transaction. Use this property outside transactions. */
  readonly committed: DeliveryTable;
  readonly #options: InboxFileOptions;
  /** The absolute path of the file, or `undefined` if no other process uses the file. */
  readonly #path: string | undefined;
  readonly #changes: ChangeLog | undefined;
  readonly #space: DiskSpace;
  readonly #isFromNewerRelease: () => boolean;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  /** The identities of the open files, in the order of `suffixes`. */
  readonly #identities: readonly (string | undefined)[];
  #problem: InboxProblem | undefined;
  /** The problem of a file whose tables a newer release has changed. */
  #outdated: InboxProblem | undefined;

  /** @throws `INBOX_UNUSABLE` if the file cannot be opened. */
  constructor(options: InboxFileOptions) {
    this.#options = options;
    const { file, logged } = options;
    const path = file === ":memory:" ? undefined : resolve(file);
    this.#path = logged ? undefined : path;
    this.#changes = logged?.changes;
    const database = logged?.database ?? openInboxDatabase(file, options);
    this.table = new DeliveryTable(database);
    // The second connection sees only committed changes while the changes of an open transaction are being stored.
    const { ids } = this.table;
    this.committed = logged ? new DeliveryTable(new DatabaseSync(file, { readOnly: true }), { ids }) : this.table;
    this.#isFromNewerRelease = createReleaseCheck(database);
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#space = new DiskSpace(database, () => (path === undefined ? undefined : spaceOf(dirname(path))));
    this.#space.refresh();
    // The WAL of an earlier process can fill a small disk.
    this.#checkpoint();
    this.#identities = this.#identitiesAtPath();
  }

  /** The current problem, if the file is gone, or if this process must not write to it. */
  get problem(): InboxProblem | undefined {
    return this.#problem ?? this.#outdated;
  }

  get isTransaction(): boolean {
    return this.table.database.isTransaction;
  }

  /** @throws if another connection holds the lock, if the file is gone, or if a newer release has changed the tables. */
  begin(): void {
    if (this.#problem) this.#throwIfGone();
    this.#space.refreshIfNeeded();
    this.#begin.run();
    this.table.ids.begin();
    try {
      if (this.#path !== undefined) this.#checkRelease();
      this.#changes?.begin();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /**
   * Stores the changes of the transaction outside the database, before the commit. Returns `undefined` if there is nothing to store.
   * If the promise rejects, the transaction is rolled back. Later writes wait for the promise.
   */
  storeChanges(): Promise<void> | undefined {
    if (!this.#changes) return undefined;
    this.table.totals.store();
    return this.#changes.store();
  }

  /** @throws if the commit fails, or if the file is no longer at its path, so that the next start would not open it. */
  commit(): void {
    this.table.totals.store();
    this.#commit.run();
    this.table.ids.end("committed");
    this.#changes?.end("committed");
    this.#throwIfGone();
  }

  /** Also frees disk space if the transaction failed because the disk is full. */
  rollback(error?: unknown): void {
    if (this.isTransaction) this.table.database.exec("ROLLBACK");
    this.table.totals.discard();
    this.table.ids.end("rolled back");
    this.#changes?.end("rolled back");
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

  /** Checks whether the open files are at their paths, and logs an error if not. Takes about 7 µs, a hundredth of a sync to disk. */
  checkPlace(): boolean {
    const current = this.#identitiesAtPath();
    if (this.#identities.every((identity, index) => identity === current[index])) {
      this.#problem = undefined;
      return true;
    }
    if (this.#problem) return false;
    const message = `The inbox "${this.#path}" was deleted, moved, or replaced while it was open. New deliveries are rejected. Move the file and its -wal and -shm files back, or restart the server with a new inbox.`;
    this.#options.log.error({ code: "INBOX_UNAVAILABLE", file: this.#path }, message);
    this.#problem = unavailable(message);
    return false;
  }

  /** Closing the database does not delete the WAL of another file at the path. */
  close(): void {
    if (this.committed !== this.table) this.committed.database.close();
    this.table.database.close();
  }

  #checkpoint(): void {
    try {
      this.table.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // On a full disk, the checkpoint can fail too. The checkpoint is retried after the next failed write.
    }
  }

  #identitiesAtPath(): (string | undefined)[] {
    return this.#path === undefined ? [] : suffixes.map((suffix) => identityOf(`${this.#path}${suffix}`));
  }

  /** @throws if a newer release has changed the tables, to which this release could write wrong rows. */
  #checkRelease(): void {
    if (!this.#isFromNewerRelease()) return;
    const message = `A newer release of hub-webhooks has updated the inbox "${this.#path}" while this process was running. New deliveries are rejected. Update hub-webhooks, and restart this process.`;
    if (!this.#outdated) this.#options.log.error({ code: "INBOX_UNUSABLE", file: this.#path }, message);
    this.#outdated = unavailable(message, "INBOX_UNUSABLE");
    throw new WebhookError(message, { code: "INBOX_UNUSABLE" });
  }

  #throwIfGone(): void {
    if (!this.checkPlace()) throw new WebhookError(String(this.#problem?.message), { code: "INBOX_UNAVAILABLE" });
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

/**
 * Returns the unused space of an inbox to the disk. Afterwards, pruning also returns unused space. Stop all processes that use the
 * inbox first.
 *
 * @throws `INBOX_IN_USE` if a process has the inbox open, `INBOX_UNUSABLE` if the file is not an inbox or cannot be compacted.
 */
export function compactInboxFile(file: string): CompactedInbox {
  // Opening the inbox checks and migrates the file.
  openInboxDatabase(file, { mustExist: true }).close();
  const bytesBefore = statSync(file).size;
  const database = new DatabaseSync(file);
  try {
    // This fails while another connection is open, even if that connection is idle.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    database.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
  } catch (error) {
    const path = resolve(file);
    if (isBusy(error)) {
      throw new WebhookError(
        `The inbox "${path}" is in use by another process. Stop the server, compact the inbox, then start the server again.`,
        { code: "INBOX_IN_USE", retryable: true },
      );
    }
    const remedy = isFull(error) ? "Free at least as much disk space as the inbox uses, then try again." : "Try again.";
    throw new WebhookError(`The inbox "${path}" could not be compacted: ${messageOf(error)}. ${remedy}`, {
      code: "INBOX_UNUSABLE",
      cause: error,
    });
  } finally {
    database.close();
  }
  return { bytesBefore, bytesAfter: statSync(file).size };
}
