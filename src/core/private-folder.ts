import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WebhookError, type WebhookErrorCode } from "./errors.ts";

const defaultName = ".hub-webhooks";
/** Write permission of the group and of others. */
const writableByOthers = 0o022;

/**
 * Creates a folder that only the current user can read, with missing parents, and syncs it to disk so that it survives a
 * power failure as the files in it do. The default folder is inside a project, so it gets a `.gitignore`.
 *
 * @throws `code` when the folder is unsafe, as {@link checkPrivateFolder}; else the error of the file system.
 */
export function makePrivateFolder(folder: string, code: WebhookErrorCode): void {
  checkPrivateFolder(folder, code);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  if (basename(folder) === defaultName) writeFileSync(join(folder, ".gitignore"), "*\n");
  for (let made = folder; made.length >= topmost.length; made = dirname(made)) syncFolder(dirname(made));
}

/**
 * Refuses a `.hub-webhooks` that is a symbolic link or writable by the group or others: they could replace its files
 * (payloads, the IDs of registered webhooks). Accepts a missing folder, and any other name: the user chose it.
 *
 * @throws `code`.
 */
export function checkPrivateFolder(folder: string, code: WebhookErrorCode): void {
  if (basename(folder) !== defaultName) return;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new WebhookError(
      `"${folder}" is a symbolic link. Replace it with a folder of your own, or set the path of the file in it (INBOX_URL, --state).`,
      { code },
    );
  }
  // Windows has no such permissions.
  if (process.platform === "win32" || !found?.isDirectory() || (found.mode & writableByOthers) === 0) return;
  throw new WebhookError(
    `Other users may write to "${folder}" (mode ${(found.mode & 0o777).toString(8)}). Check that its files are yours, then run: chmod go-w "${folder}"`,
    { code },
  );
}

/** Syncs the list of files in a folder to disk. */
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
