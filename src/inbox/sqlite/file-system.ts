import { existsSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";

/** Reads information about the file systems of this machine. */
export interface FileSystemReader {
  /** Returns the file system type of a path, as defined by statfs(2). */
  kind: (path: string) => number;
  /** Returns the text of `/proc/self/mountinfo`. */
  mounts: () => string;
}

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

const thisMachine: FileSystemReader = {
  kind: (path) => statfsSync(path).type,
  mounts: () => readFileSync("/proc/self/mountinfo", "utf8"),
};

/**
 * Rejects a file on a network file system or on FUSE, such as a mounted bucket. If `isAllowed` is `true`, only logs a warning.
 *
 * @throws `INBOX_UNUSABLE` if the file system is unsafe and not allowed.
 */
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
 * Returns the name of the file system that contains or would contain a file, if this file system is unsafe for SQLite. SQLite
 * processes share the index of the WAL through a memory-mapped file, which works reliably only on local disks. Returns
 * `undefined` if the file system is safe or unknown, and on all platforms except Linux.
 */
export function findUnsafeFileSystem(file: string, reader: FileSystemReader = thisMachine): string | undefined {
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
