import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const mebibyte = 2 ** 20;

/** Under load, a WAL of this size needs a tenth of the checkpoints of SQLite's default. */
const maxWalBytes = 40 * mebibyte;
const minWalBytes = 64 * 1_024;
const maxReserveBytes = 16 * mebibyte;
/** The WAL may take an eighth of the free space, and an eighth of the disk is kept free. */
const share = 8;

/** With more free space than this, it is read at most every `refreshMs` instead of before each transaction. */
const plentyBytes = 256 * mebibyte;
const refreshMs = 100;

/** The space of a disk, in bytes. */
export interface Space {
  free: number;
  total: number;
}

/**
 * Limits the WAL of a database on a small disk, and keeps some space free. If the WAL filled the disk, it could not be
 * checkpointed, and not even running deliveries could finish.
 */
export class DiskSpace {
  readonly #database: DatabaseSync;
  readonly #read: () => Space | undefined;
  readonly #pageBytes: number;
  #room = Number.POSITIVE_INFINITY;
  #walPages = 0;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /** @param read returns `undefined` if the space is unknown. */
  constructor(database: DatabaseSync, read: () => Space | undefined) {
    this.#database = database;
    this.#read = read;
    this.#pageBytes = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  }

  /** Calls {@link refresh} unless there was plenty of space a moment ago. */
  refreshIfNeeded(): void {
    if (this.#room < plentyBytes || performance.now() - this.#refreshedAt > refreshMs) this.refresh();
  }

  /** Reads the free space and limits the WAL accordingly. Call it outside of a transaction. */
  refresh(): void {
    this.#refreshedAt = performance.now();
    const space = this.#read();
    // Some file systems report no size.
    const isKnown = space !== undefined && space.total > 0;
    this.#room = isKnown ? space.free - Math.min(maxReserveBytes, space.total / share) : Number.POSITIVE_INFINITY;
    const walBytes = isKnown ? Math.max(minWalBytes, Math.min(maxWalBytes, space.free / share)) : maxWalBytes;
    const walPages = Math.floor(walBytes / this.#pageBytes);
    if (Math.abs(walPages - this.#walPages) < this.#walPages / 4) return;
    this.#walPages = walPages;
    this.#database.exec(
      `PRAGMA wal_autocheckpoint = ${walPages}; PRAGMA journal_size_limit = ${walPages * this.#pageBytes}`,
    );
  }

  /** Whether this many bytes fit without using the reserved space. */
  hasRoomFor(bytes: number): boolean {
    if (bytes < this.#room) return true;
    const freePages = Number(this.#database.prepare("PRAGMA freelist_count").get()?.freelist_count);
    return bytes < freePages * this.#pageBytes;
  }
}

/** The space of the disk of a folder; `undefined` if it cannot be read. */
export function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return undefined;
  }
}
