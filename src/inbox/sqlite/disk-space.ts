import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const mebibyte = 2 ** 20;

/** The maximum size of the WAL. With this size, a busy inbox needs a tenth of the checkpoints that SQLite's default needs. */
const maxWalBytes = 40 * mebibyte;
const minWalBytes = 64 * 1_024;
const maxReserveBytes = 16 * mebibyte;
/** The WAL may use one eighth of the free space. One eighth of the disk is reserved, up to `maxReserveBytes`. */
const share = 8;

/**
 * If more space than this is free, the free space is read at most every `refreshMs` milliseconds instead of before each
 * transaction.
 */
const plentyBytes = 256 * mebibyte;
const refreshMs = 100;

/** Optional data, such as the search index, only grows if at least this many bytes are free. */
const minSpareBytes = 64 * mebibyte;

/** The free and total space of a disk, in bytes. */
export interface Space {
  free: number;
  total: number;
}

/**
 * Limits the size of the WAL on a small disk and reserves some free space. Without these limits, the WAL could fill the disk.
 * SQLite could then neither checkpoint the WAL nor store the results of running deliveries.
 */
export class DiskSpace {
  readonly #database: DatabaseSync;
  readonly #read: () => Space | undefined;
  readonly #pageBytes: number;
  /** The free space without the reserved space, in bytes. */
  #room = Number.POSITIVE_INFINITY;
  #walPages = 0;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /** @param read reads the space of the disk. Returns `undefined` if the space is unknown. */
  constructor(database: DatabaseSync, read: () => Space | undefined) {
    this.#database = database;
    this.#read = read;
    this.#pageBytes = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  }

  /** Calls {@link refresh} unless plenty of space was free at a recent refresh. */
  refreshIfNeeded(): void {
    if (this.#room < plentyBytes || performance.now() - this.#refreshedAt > refreshMs) this.refresh();
  }

  /** Reads the free space and limits the WAL accordingly. Call this method outside a transaction. */
  refresh(): void {
    this.#refreshedAt = performance.now();
    const space = this.#read();
    // Some file systems report a total size of 0.
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

  /** Whether a number of bytes fits into the free space without the reserved space, or into free pages of the file. */
  hasRoomFor(bytes: number): boolean {
    if (bytes < this.#room) return true;
    const freePages = Number(this.#database.prepare("PRAGMA freelist_count").get()?.freelist_count);
    return bytes < freePages * this.#pageBytes;
  }
}

/** Returns the space of the disk that contains a folder, or `undefined` if the space cannot be read. */
export function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return undefined;
  }
}

/** Whether optional data can grow without taking space that deliveries will soon need. Returns `true` if the space is unknown. */
export function hasSpareSpace(space: Space | undefined): boolean {
  return space === undefined || space.total === 0 || space.free >= minSpareBytes;
}
