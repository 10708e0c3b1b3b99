import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WebhookError, type WebhookErrorCode } from "./errors.ts";

const defaultName = ".hub-webhooks";
/** The mode bits that permit the group and other users to write. */
const writableByOthers = 0o022;

/**
 * Creates a folder that only the current user can read, including missing parent folders. Syncs the folder to disk, so
 * that the folder survives a power failure. Adds a `.gitignore` to the default folder, which is inside the user's
 * project.
 *
 * @throws `code` when the folder is unsafe (see {@link checkPrivateFolder}), and errors of the file system.
 */
export function makePrivateFolder(folder: string, code: WebhookErrorCode): void {
  checkPrivateFolder(folder, code);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  if (basename(folder) === defaultName) writeFileSync(join(folder, ".gitignore"), "*\n");
  for (let made = folder; made.length >= topmost.length; made = dirname(made)) syncFolder(dirname(made));
}

/**
 * Checks that no other user can replace the files in a `.hub-webhooks` folder (payloads, IDs of registered webhooks).
 * Accepts a missing folder, and any folder with another name, because the user chose that folder.
 *
 * @throws `code` when the folder is a symbolic link, or the group or other users can write to it.
 */
export function checkPrivateFolder(folder: string, code: WebhookErrorCode): void {
  if (basename(folder) !== defaultName) return;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new WebhookError(
      `"${folder}" is a symbolic link, which may point to files of other users. Replace the link with a folder that you own, or set another path with INBOX_URL or --state.`,
      { code },
    );
  }
  // Windows does not have these permission bits.
  if (process.platform === "win32" || !found?.isDirectory() || (found.mode & writableByOthers) === 0) return;
  throw new WebhookError(
    `Other users can write to "${folder}" (mode ${(found.mode & 0o777).toString(8)}). Check that you own all files in the folder, then run: chmod go-w "${folder}"`,
    { code },
  );
}

/** Syncs a folder's list of files to disk. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Windows cannot sync a folder.
  }
}
