import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const mebibyte = 2 ** 20;

/** Under load, a log (WAL) of this size needs a tenth of the checkpoints that SQLite's default needs. */
const maxLogBytes = 40 * mebibyte;
const minLogBytes = 64 * 1_024;
const maxReserveBytes = 16 * mebibyte;
/** Part of the free space that the log may take, and of the whole disk that is kept free. */
const share = 8;

/** With more free space than this, it is read again after `refreshMs`, not before each transaction. */
const plentyBytes = 256 * mebibyte;
const refreshMs = 100;

/** What statfs(2) reports of a disk, in bytes. */
export interface Space {
  free: number;
  total: number;
}

/**
 * Keeps the log of a database small on a small disk, and some space free. A log that takes all space could never be
 * copied into the file again, and then no delivery could even be finished.
 */
export class DiskSpace {
  readonly #database: DatabaseSync;
  readonly #read: () => Space | undefined;
  readonly #pageBytes: number;
  #room = Number.POSITIVE_INFINITY;
  #logPages = 0;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /** @param read returns `undefined` where the space is unknown. */
  constructor(database: DatabaseSync, read: () => Space | undefined) {
    this.#database = database;
    this.#read = read;
    this.#pageBytes = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  }

  /** Does the same as {@link refresh}, unless there was plenty of space a moment ago. */
  refreshIfNeeded(): void {
    if (this.#room < plentyBytes || performance.now() - this.#refreshedAt > refreshMs) this.refresh();
  }

  /** Reads how much space there is, and limits the log accordingly. Call it outside of a transaction. */
  refresh(): void {
    this.#refreshedAt = performance.now();
    const space = this.#read();
    // Some file systems report no size at all.
    const isKnown = space !== undefined && space.total > 0;
    this.#room = isKnown ? space.free - Math.min(maxReserveBytes, space.total / share) : Number.POSITIVE_INFINITY;
    const logBytes = isKnown ? Math.max(minLogBytes, Math.min(maxLogBytes, space.free / share)) : maxLogBytes;
    const logPages = Math.floor(logBytes / this.#pageBytes);
    if (Math.abs(logPages - this.#logPages) < this.#logPages / 4) return;
    this.#logPages = logPages;
    this.#database.exec(
      `PRAGMA wal_autocheckpoint = ${logPages}; PRAGMA journal_size_limit = ${logPages * this.#pageBytes}`,
    );
  }

  /** Whether so many bytes can be added without using the space that is kept free. */
  hasRoomFor(bytes: number): boolean {
    if (bytes < this.#room) return true;
    const freePages = Number(this.#database.prepare("PRAGMA freelist_count").get()?.freelist_count);
    return bytes < freePages * this.#pageBytes;
  }
}

/** The space of the disk that a folder is on; `undefined` where it cannot be read. */
export function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return undefined;
  }
}
