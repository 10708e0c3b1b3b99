import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { makePrivateFolder, syncFolder } from "../../core/private-folder.ts";
import type { InboxProblem } from "../inbox.ts";
import { copyMissing } from "./copy-missing.ts";
import { openInboxDatabase } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { DiskSpace, spaceOf } from "./disk-space.ts";
import { isFull } from "./sqlite-error.ts";

/**
 * What passes until a restoration that failed is tried again, in milliseconds: at least so long, and so many times as long
 * as it took, since a copy of a large file blocks the event loop.
 */
const minRetryMs = 900;
const maxRetryMs = 60_000;
const retryFactor = 10;

/** What an {@link InboxFile} is made from. */
export interface InboxFileOptions {
  /** `:memory:` keeps nothing beyond the process. */
  file: string;
  mustExist: boolean;
  log: () => Logger;
}

/** The database, its log and the index of its log: all three have to stay where they are. */
const suffixes = ["", "-wal", "-shm"] as const;

/** The open file of an inbox. When it is deleted, moved or replaced, its deliveries are brought back to its path. */
export class InboxFile {
  readonly #options: InboxFileOptions;
  readonly #path: string | undefined;
  #database: DatabaseSync;
  #table: DeliveryTable;
  #space: DiskSpace;
  #begin: () => void = () => {};
  #commit: () => void = () => {};
  /** Identities of the open files, by suffix. */
  #identities: readonly (string | undefined)[] = [];
  #problem: InboxProblem | undefined;
  /** By performance.now(). */
  #retryAt = 0;
  #restored: () => void = () => {};

  /** @throws `INBOX_UNUSABLE` */
  constructor(options: InboxFileOptions) {
    this.#options = options;
    const { file, mustExist } = options;
    this.#path = file === ":memory:" ? undefined : resolve(file);
    this.#database = openInboxDatabase(file, { mustExist });
    this.#table = new DeliveryTable(this.#database);
    this.#space = this.#adopt(this.#database);
  }

  /** Absolute; `undefined` for one in memory. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Belongs to the current file: read it again after each wait. */
  get table(): DeliveryTable {
    return this.#table;
  }

  /** Why nothing can be stored, when the file is gone and cannot be restored. */
  get problem(): InboxProblem | undefined {
    return this.#problem;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Calls back each time that the deliveries have been brought to another file. */
  onRestored(callback: () => void): void {
    this.#restored = callback;
  }

  /** Starts a transaction that may write. @throws when the lock is taken, or the file is gone and cannot be restored. */
  begin(): void {
    if (this.#problem) this.#ensureInPlace();
    this.#space.refreshIfNeeded();
    this.#begin();
  }

  /**
   * Commits, and makes sure that what was committed is in the file that a restart opens.
   *
   * @throws also when the commit went to a file that is gone from its path.
   */
  commit(): void {
    this.#commit();
    if (!this.#isInPlace()) throw this.#noteGone();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  /** Makes room after a write that found none: what the log holds is copied into the file, and the log emptied. */
  afterFailure(error: unknown): void {
    if (isFull(error)) this.#checkpoint();
  }

  /** Whether a delivery of so many bytes fits on the disk, with some space left to finish deliveries in. */
  hasRoomFor(bytes: number): boolean {
    // In the file itself and in its log, with the pages of the indexes.
    return this.#space.hasRoomFor(2 * bytes + 32 * 1_024);
  }

  /** Whether an ordinary delivery fits on the disk now. */
  hasSpace(): boolean {
    this.#space.refresh();
    return this.hasRoomFor(0);
  }

  /** Restores the file if it is gone from its path. Returns whether it is there; why not is logged. */
  restoreIfGone(): boolean {
    try {
      this.#ensureInPlace();
      return true;
    } catch {
      return false;
    }
  }

  /** @throws when the file is gone and cannot be restored. */
  #ensureInPlace(): void {
    if (this.#isInPlace()) {
      this.#problem = undefined;
      return;
    }
    if (!this.#problem) this.#noteGone();
    if (performance.now() < this.#retryAt)
      throw new WebhookError(String(this.#problem?.message), { code: "INBOX_UNAVAILABLE" });
    this.#restore();
  }

  /** Brings everything to the path before, if the file is gone from there. */
  close(): void {
    this.restoreIfGone();
    // SQLite leaves the log at the path alone when the path names another file by now.
    this.#database.close();
  }

  #adopt(database: DatabaseSync): DiskSpace {
    const path = this.#path;
    this.#database = database;
    this.#table = new DeliveryTable(database);
    const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
    this.#begin = () => void begin.run();
    this.#commit = () => void commit.run();
    this.#space = new DiskSpace(database, () => (path === undefined ? undefined : spaceOf(dirname(path))));
    this.#space.refresh();
    // What an earlier process has left in the log may take all of a small disk.
    this.#checkpoint();
    this.#identities = this.#identitiesAtPath();
    this.#problem = undefined;
    return this.#space;
  }

  #checkpoint(): void {
    try {
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // There is no space even for that: the next failed write tries again.
    }
  }

  /** Costs three stat(2), about 7 µs: a sync of the disk takes a hundred times as long. */
  #isInPlace(): boolean {
    if (this.#path === undefined) return true;
    const current = this.#identitiesAtPath();
    return this.#identities.every((identity, index) => identity === current[index]);
  }

  #identitiesAtPath(): (string | undefined)[] {
    const path = this.#path;
    return path === undefined ? [] : suffixes.map((suffix) => identityOf(`${path}${suffix}`));
  }

  #noteGone(): WebhookError {
    const message = `The inbox "${this.#path}" was deleted, moved or replaced while it was open. Deliveries are refused until it is restored.`;
    if (!this.#problem) this.#options.log().error({ code: "INBOX_UNAVAILABLE", file: this.#path }, message);
    this.#problem ??= { code: "INBOX_UNAVAILABLE", severity: "unavailable", message };
    return new WebhookError(message, { code: "INBOX_UNAVAILABLE" });
  }

  #restore(): void {
    const path = this.#path;
    if (path === undefined) return;
    const before = this.#database;
    const startedAt = performance.now();
    try {
      // So that a file that was moved has everything, also without its log.
      this.#checkpoint();
      makePrivateFolder(dirname(path), "INBOX_UNUSABLE");
      const there = identityOf(path);
      if (there === undefined || there === this.#identities[0])
        this.#putSnapshot(path, { isOurs: there !== undefined });
      else this.#moveInto(path);
    } catch (error) {
      this.#noteFailure(error);
      const now = performance.now();
      this.#retryAt = now + Math.min(Math.max(minRetryMs, retryFactor * (now - startedAt)), maxRetryMs);
      throw error;
    }
    before.close();
    this.#options
      .log()
      .warn({ file: path }, "The inbox was restored at its path, with all deliveries that it had accepted.");
    this.#restored();
  }

  /** Writes everything into a new file at a path that is free, or that only our own file has. */
  #putSnapshot(path: string, { isOurs }: { isOurs: boolean }): void {
    const snapshot = `${path}.restored-${crypto.randomUUID()}`;
    try {
      // Payloads are for the owner alone. SQLite takes an empty file for a new database.
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

  /** Adds everything to an inbox that another process has put at the path. @throws when the file there is no inbox. */
  #moveInto(path: string): void {
    // Or SQLite would take our log for that of the other file.
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

  #noteFailure(error: unknown): void {
    const isForeign = WebhookError.isInstance(error) && error.code === "INBOX_UNUSABLE";
    const code = isForeign ? "INBOX_FILE_REPLACED" : "INBOX_UNAVAILABLE";
    const remedy = isForeign
      ? "Move that file away: the receiver then writes its deliveries there again."
      : "The receiver tries again until it can.";
    const message = `The inbox "${this.#path}" was deleted, moved or replaced while it was open, and cannot be restored: ${messageOf(error)} ${remedy}`;
    if (this.#problem?.message !== message) this.#options.log().error({ code, err: error, file: this.#path }, message);
    this.#problem = { code, severity: "unavailable", message };
  }
}

/** Which file a path names; `undefined` where there is none, or none that can be looked at. */
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

/** Gives a file its path, and fails where another process was faster. */
function placeWithoutReplacing(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // Not every file system has links.
    if (existsSync(to) || !hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP")) throw error;
    renameSync(from, to);
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
