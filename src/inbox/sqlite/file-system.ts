import { existsSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";

/** Reads the file system of a path. */
export interface FileSystemReader {
  /** The file system type of statfs(2). */
  kind: (path: string) => number;
  /** The text of `/proc/self/mountinfo`. */
  mounts: () => string;
}

const fuse = 0x65735546;

/** File systems that other machines or programs serve, by their type in statfs(2) of Linux. */
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

/** File systems with the type of FUSE that are safe: only one kernel writes to them. */
const safeKindsOfFuse: ReadonlySet<string> = new Set(["virtiofs", "fuseblk", "fuse.fuse-overlayfs"]);

const thisMachine: FileSystemReader = {
  kind: (path) => statfsSync(path).type,
  mounts: () => readFileSync("/proc/self/mountinfo", "utf8"),
};

/**
 * Rejects a file on a network file system or on FUSE, such as a mounted bucket. Only warns if `isAllowed`.
 *
 * @throws `INBOX_UNUSABLE`
 */
export function checkFileSystem(file: string, { isAllowed, log }: { isAllowed: boolean; log: () => Logger }): void {
  const kind = findUnsafeFileSystem(file);
  if (kind === undefined) return;
  const reason = `The inbox "${file}" is on a network file system or on FUSE (${kind}), where a crash or a second process can damage it. SQLite needs shared memory (WAL) and syncs that reach a disk.`;
  const remedy = "Keep it on a local disk, or in a database: INBOX_URL=redis://… or postgres://…";
  if (isAllowed) {
    log().warn({ fileSystem: kind }, `${reason} INBOX_URL allows it. ${remedy}`);
    return;
  }
  throw new WebhookError(`${reason} ${remedy}. To use it anyway, add ?unsafe-file-system=allow to INBOX_URL.`, {
    code: "INBOX_UNUSABLE",
  });
}

/**
 * The name of the file system of an existing or future file, if it is unsafe for SQLite, whose processes share memory through a
 * file beside the database: that works reliably only on local disks. `undefined` if it is safe or unknown, and always except on
 * Linux.
 */
export function findUnsafeFileSystem(file: string, reader: FileSystemReader = thisMachine): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const path = realpathSync(nearestExisting(resolve(file)));
    // Unsigned, as the kernel defines it.
    const kind = reader.kind(path) >>> 0;
    const name = unsafeKinds.get(kind);
    if (kind !== fuse) return name;
    const mounted = kindOfMount(path, reader.mounts());
    return mounted !== undefined && safeKindsOfFuse.has(mounted) ? undefined : (mounted ?? name);
  } catch {
    // Opening the file reports problems of the path.
    return undefined;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** The file system type of the mount of a path, as in "fuse.s3fs". The last mount of the longest matching path applies. */
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
