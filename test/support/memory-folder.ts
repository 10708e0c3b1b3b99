import { readFileSync, statfsSync } from "node:fs";

const folder = "/dev/shm";
const minFree = 2 ** 30;

/**
 * Puts temporary files into memory on Linux, unless `TMPDIR` is set. Thousands of inboxes and state files sync each
 * change, and a busy disk takes up to a second for it.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR === undefined && isUsable()) process.env.TMPDIR = folder;
}

/** Whether the folder is in memory, large enough (64 MB is common in containers), and may contain programs. */
function isUsable(): boolean {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options =
      mounts
        .find((line) => line.includes(` ${folder} tmpfs `))
        ?.split(" ")[3]
        ?.split(",") ?? [];
    const { bavail, bsize } = statfsSync(folder);
    return options.includes("rw") && !options.includes("noexec") && bavail * bsize > minFree;
  } catch {
    return false;
  }
}
