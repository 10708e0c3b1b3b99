import { existsSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { readPragma } from "./database.ts";

const fuse = 0x65735546;

/** File systems that are served by other machines or programs, by their type in statfs(2) on Linux. */
const unsafeKinds: ReadonlyMap<number, string> = new Map([
  [fuse, "FUSE"],
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "CIFS"],
  [0x01021997, "9p"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x19830326, "BeeGFS"],
  [0x20030528, "OrangeFS"],
  [0x47504653, "GPFS"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x786f4256, "a folder shared by VirtualBox"],
  [0xbacbacbc, "a folder shared by VMware"],
]);

/** File systems of type FUSE that are safe because only one kernel writes to them. */
const safeKindsOfFuse: ReadonlySet<string> = new Set(["virtiofs", "fuseblk", "fuse.fuse-overlayfs"]);

const thisMachine = {
  kind: (path: string) => statfsSync(path).type,
  mounts: () => readFileSync("/proc/self/mountinfo", "utf8"),
};

/** @throws `INBOX_UNUSABLE` if a file is on a network file system or on FUSE. If `isAllowed` is `true`, only logs a warning. */
export function checkFileSystem(file: string, { isAllowed, log }: { isAllowed: boolean; log: Logger }): void {
  const kind = findUnsafeFileSystem(file);
  if (kind === undefined) return;
  const reason = `The inbox "${file}" is on a network file system or on FUSE (${kind}). On such file systems, a crash or a second process can damage the file, because SQLite needs shared memory and reliable syncs to disk.`;
  const remedy =
    "Set INBOX_URL to a file on a local disk, or to an hf://buckets/, s3://, redis://, or postgres:// URL.";
  if (isAllowed) {
    log.warn(
      { fileSystem: kind },
      `${reason} The file is used anyway, because INBOX_URL contains ?unsafe-file-system=allow. ${remedy}`,
    );
    return;
  }
  throw new WebhookError(`${reason} ${remedy} To use the file anyway, append ?unsafe-file-system=allow to INBOX_URL.`, {
    code: "INBOX_UNUSABLE",
  });
}

/**
 * Returns the name of the file system of a file if it is unsafe for SQLite, whose processes share the index of the WAL through a
 * memory-mapped file. Returns `undefined` if the file system is safe or unknown, and on all platforms except Linux.
 */
export function findUnsafeFileSystem(file: string, reader = thisMachine): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const path = realpathSync(nearestExisting(resolve(file)));
    // The kernel defines the type as unsigned.
    const kind = reader.kind(path) >>> 0;
    const name = unsafeKinds.get(kind);
    if (kind !== fuse) return name;
    const mounted = kindOfMount(path, reader.mounts());
    return mounted !== undefined && safeKindsOfFuse.has(mounted) ? undefined : (mounted ?? name);
  } catch {
    // If the path is invalid, opening the file will report it.
    return undefined;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** Returns the file system type of the mount that contains a path, such as "fuse.s3fs". The last mount of the longest path applies. */
function kindOfMount(path: string, mounts: string): string | undefined {
  let nearest: { at: string; kind: string | undefined } | undefined;
  for (const line of mounts.split("\n")) {
    const [mount = "", source = ""] = line.split(" - ");
    const at = (mount.split(" ")[4] ?? "").replace(/\\(\d{3})/g, (_match, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    const holdsPath = at === "/" || path === at || path.startsWith(`${at}/`);
    if (at !== "" && holdsPath && at.length >= (nearest?.at.length ?? 0)) nearest = { at, kind: source.split(" ")[0] };
  }
  return nearest?.kind;
}

const mebibyte = 2 ** 20;

/** The maximum size of the WAL. With this size, a busy inbox needs a tenth of the checkpoints that SQLite's default needs. */
const maxWalBytes = 40 * mebibyte;
const minWalBytes = 64 * 1_024;
const maxReserveBytes = 16 * mebibyte;
/** The WAL may use one eighth of the free space. One eighth of the disk is reserved, up to `maxReserveBytes`. */
const share = 8;

/** If more space than this is free, the free space is read at most every `refreshMs`, not before each transaction. */
const plentyBytes = 256 * mebibyte;
const refreshMs = 100;

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

  /** @param read returns the space of the disk, or `undefined` if the space is unknown. */
  constructor(database: DatabaseSync, read: () => Space | undefined) {
    this.#database = database;
    this.#read = read;
    this.#pageBytes = readPragma(database, "page_size");
  }

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
    return bytes < readPragma(this.#database, "freelist_count") * this.#pageBytes;
  }
}

export function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return undefined;
  }
}
