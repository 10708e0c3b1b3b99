import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WebhookError, type WebhookErrorCode } from "./errors.ts";

/** The default folder, in the folder of a project. */
const defaultName = ".hub-webhooks";
/** Write permission of the group and of others. */
const writableByOthers = 0o022;

/**
 * Makes a folder that nobody else can read, with those above it that are missing, and that outlives a power cut as the
 * files in it do. The default one lies in somebody's project, and keeps itself out of git.
 *
 * @throws `code` when the folder is unsafe, as {@link checkPrivateFolder}; else what the file system says.
 */
export function makePrivateFolder(folder: string, code: WebhookErrorCode): void {
  checkPrivateFolder(folder, code);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  if (basename(folder) === defaultName) writeFileSync(join(folder, ".gitignore"), "*\n");
  for (let made = folder; made.length >= topmost.length; made = dirname(made)) syncFolder(dirname(made));
}

/**
 * Refuses a `.hub-webhooks` that is a symbolic link, or that the group or others may write: what is kept there (payloads,
 * which webhooks are ours) could be replaced. One that is not there yet is fine, and so is a folder of another name, which
 * somebody has chosen.
 *
 * @throws `code`, with the remedy.
 */
export function checkPrivateFolder(folder: string, code: WebhookErrorCode): void {
  if (basename(folder) !== defaultName) return;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new WebhookError(
      `"${folder}" is a symbolic link. Replace it with a folder of your own, or name the file that it leads to (INBOX_URL, --state).`,
      { code },
    );
  }
  // Windows has other permissions than these.
  if (process.platform === "win32" || !found?.isDirectory() || (found.mode & writableByOthers) === 0) return;
  throw new WebhookError(
    `Other users may write to "${folder}" (mode ${(found.mode & 0o777).toString(8)}). Check that its files are yours, then run: chmod go-w "${folder}"`,
    { code },
  );
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
