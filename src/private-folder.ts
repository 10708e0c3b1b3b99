import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Makes a folder that nobody else can read, with those above it that are missing, and that outlives a power cut as the
 * files in it do. The default one lies in somebody's project, and keeps itself out of git.
 *
 * @throws what the file system says.
 */
export function makePrivateFolder(folder: string): void {
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  if (basename(folder) === ".hub-webhooks") writeFileSync(join(folder, ".gitignore"), "*\n");
  for (let made = folder; made.length >= topmost.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Writes to the disk which files a folder has. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not every system can sync a folder: Windows cannot.
  }
}
