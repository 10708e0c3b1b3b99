import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { makePrivateFolder, syncFolder } from "../../core/private-folder.ts";
import type { InboxProblem } from "../inbox.ts";
import { copyMissing, isFull, openInboxDatabase } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { DiskSpace, spaceOf } from "./disk-space.ts";

/**
 * The wait after a failed restoration: `retryFactor` times its duration, from `minRetryMs` to `maxRetryMs`. Copying a large file
 * blocks the event loop.
 */
const minRetryMs = 900;
const maxRetryMs = 60_000;
const retryFactor = 10;

export interface InboxFileOptions {
  /** `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  mustExist: boolean;
  log: () => Logger;
}

/** The database, its WAL, and the index of the WAL. */
const suffixes = ["", "-wal", "-shm"] as const;

/** The open file of an inbox. If it is deleted, moved or replaced, its deliveries are restored at its path. */
export class InboxFile {
  readonly #options: InboxFileOptions;
  readonly #path: string | undefined;
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

  /** @throws `INBOX_UNUSABLE` */
  constructor(options: InboxFileOptions) {
    this.#options = options;
    const { file, mustExist } = options;
    this.#path = file === ":memory:" ? undefined : resolve(file);
    this.#database = openInboxDatabase(file, { mustExist });
    this.#table = new DeliveryTable(this.#database);
    this.#space = this.#adopt(this.#database);
  }

  /** The absolute path; `undefined` if the inbox is in memory. */
  get path(): string | undefined {
    return this.#path;
  }

  /** The table of the current file. Read this property again after each `await`. */
  get table(): DeliveryTable {
    return this.#table;
  }

  /** The problem, if the file is gone and not restored yet. */
  get problem(): InboxProblem | undefined {
    return this.#problem;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Sets the callback for each restoration. */
  onRestored(callback: () => void): void {
    this.#restored = callback;
  }

  /** Starts a write transaction. @throws if the lock is taken, or the file is gone and cannot be restored. */
  begin(): void {
    if (this.#problem) this.#ensureInPlace();
    this.#space.refreshIfNeeded();
    this.#begin();
  }

  /**
   * Commits, and checks that the next start will open the same file.
   *
   * @throws also if the committed file is no longer at its path.
   */
  commit(): void {
    this.#commit();
    if (!this.#isInPlace()) throw this.#recordGone();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  /** Frees space after a write to a full disk: checkpoints the WAL and truncates it. */
  afterFailure(error: unknown): void {
    if (isFull(error)) this.#checkpoint();
  }

  /** Whether a delivery of this size fits on the disk, leaving space to finish others. */
  hasRoomFor(bytes: number): boolean {
    // It is written to the file and to the WAL, with pages of the indexes.
    return this.#space.hasRoomFor(2 * bytes + 32 * 1_024);
  }

  /** Whether a small delivery fits on the disk now. */
  hasSpace(): boolean {
    this.#space.refresh();
    return this.hasRoomFor(0);
  }

  /** Restores the file if it is not at its path. Returns whether it is there now; logs the error otherwise. */
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
    if (!this.#problem) this.#recordGone();
    if (performance.now() < this.#retryAt)
      throw new WebhookError(String(this.#problem?.message), { code: "INBOX_UNAVAILABLE" });
    this.#restore();
  }

  /** Restores the file first if it is not at its path. */
  close(): void {
    this.restoreIfGone();
    // SQLite does not delete the WAL of another file at this path.
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
    // The WAL of an earlier process may fill a small disk.
    this.#checkpoint();
    this.#identities = this.#identitiesAtPath();
    this.#problem = undefined;
    return this.#space;
  }

  #checkpoint(): void {
    try {
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The disk has no space for this either. The next failed write tries again.
    }
  }

  /** Whether the open files are at their paths. Takes about 7 µs; a sync of the disk takes a hundred times as long. */
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
      // A moved file is then complete without its WAL.
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
    this.#options.log().warn({ file: path }, "The inbox was restored at its path, with all accepted deliveries.");
    this.#restored();
  }

  /** Writes all deliveries to a new file at a path that is free or still belongs to this inbox. */
  #writeSnapshot(path: string, { isOurs }: { isOurs: boolean }): void {
    const snapshot = `${path}.restored-${crypto.randomUUID()}`;
    try {
      // Only the owner may read payloads. SQLite treats an empty file as a new database.
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

  /** Copies all deliveries into an inbox that another process created at the path. @throws if that file is not an inbox. */
  #copyInto(path: string): void {
    // Otherwise SQLite would use the WAL of this inbox for the other file.
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
      ? "Move that file away, and the receiver writes its deliveries there again."
      : "The receiver keeps trying.";
    const message = `The inbox "${this.#path}" was deleted, moved or replaced while it was open, and cannot be restored: ${messageOf(error)} ${remedy}`;
    if (this.#problem?.message !== message) this.#options.log().error({ code, err: error, file: this.#path }, message);
    this.#problem = { code, severity: "unavailable", message };
  }
}

/** The identity of the file at a path; `undefined` if there is none, or it is not accessible. */
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

/** Moves a file to a path, and fails if another process has created a file there. */
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
