import { existsSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";

/** How a path is looked at. */
export interface FileSystemReader {
  /** The number of statfs(2) that tells one kind of file system from another. */
  kind: (path: string) => number;
  /** What is mounted where: the text of `/proc/self/mountinfo`. */
  mounts: () => string;
}

const fuse = 0x65735546;

/** Where several machines, or a program in between, stand behind a file: kinds of Linux, by the number of statfs(2). */
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

/** They have the number of FUSE, but one kernel alone stands behind them. */
const safeKindsOfFuse: ReadonlySet<string> = new Set(["virtiofs", "fuseblk", "fuse.fuse-overlayfs"]);

const thisMachine: FileSystemReader = {
  kind: (path) => statfsSync(path).type,
  mounts: () => readFileSync("/proc/self/mountinfo", "utf8"),
};

/**
 * Refuses a file that lies on a network file system or on FUSE, as a mounted bucket is; warns instead where that is
 * allowed.
 *
 * @throws `INBOX_UNUSABLE`
 */
export function checkFileSystem(file: string, { isAllowed, log }: { isAllowed: boolean; log: () => Logger }): void {
  const kind = findUnsafeFileSystem(file);
  if (kind === undefined) return;
  const reason = `The inbox "${file}" is on a network file system or on FUSE (${kind}), where a crash or a second process can destroy it: SQLite needs memory that processes share through a file (WAL), and syncs that reach a disk.`;
  const remedy = "Keep it on a local disk, or in a database: INBOX_URL=redis://… or postgres://…";
  if (isAllowed) {
    log().warn({ fileSystem: kind }, `${reason} It is used all the same, as INBOX_URL says. ${remedy}`);
    return;
  }
  throw new WebhookError(`${reason} ${remedy}. To use it all the same, add ?unsafe-file-system=allow to INBOX_URL.`, {
    code: "INBOX_UNUSABLE",
  });
}

/**
 * The kind of file system that a file lies on, or would lie on, if SQLite must not be used there: its processes share
 * memory through a file beside the database, which only a disk of the own machine is sure to give. `undefined` where it
 * may, and where it cannot be told: on anything but Linux the numbers mean nothing.
 */
export function findUnsafeFileSystem(file: string, reader: FileSystemReader = thisMachine): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const path = realpathSync(nearestExisting(resolve(file)));
    // As the kernel defines it, without a sign.
    const kind = reader.kind(path) >>> 0;
    const name = unsafeKinds.get(kind);
    if (kind !== fuse) return name;
    const mounted = kindOfMount(path, reader.mounts());
    return mounted !== undefined && safeKindsOfFuse.has(mounted) ? undefined : (mounted ?? name);
  } catch {
    // Whatever is wrong with the path is told when the file is opened.
    return undefined;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** The kind by its name, as in "fuse.s3fs": that of the mount that is nearest to the path, and the latest there. */
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
