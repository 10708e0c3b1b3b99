import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WebhookError, type WebhookErrorCode } from "./errors.ts";

/** Whether this module runs from the TypeScript sources rather than from the bundled package. */
const isSource = import.meta.url.endsWith(".ts");

/** The URL of the root folder of this package, with a trailing slash. */
export const packageRoot = new URL(isSource ? "../.." : "..", import.meta.url);

/**
 * Returns the URL of a file that runs in a separate thread or process. In the sources, the file is in the folder of the
 * module that starts it. In the bundled package, all of these files are in the folder of the bundled chunks.
 *
 * @param name the file name without its extension. It must be unique in this package.
 */
export function programUrl(name: string, moduleUrl: string): URL {
  return new URL(`./${name}.${isSource ? "ts" : "js"}`, moduleUrl);
}

export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8"));
  return version;
}

const defaultName = ".hub-webhooks";
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

/** Primary result codes of SQLite. */
const busy = 5;
const corrupt = 11;
const full = 13;
const notADatabase = 26;
/** Extended result codes for reads: the disk returned an error or too little data. */
const readError = 266;
const shortRead = 522;

/** Returns the extended result code of SQLite. The lowest byte is the primary result code. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}

/** Whether another connection holds a lock on the file. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === busy;
}

export function isFull(error: unknown): boolean {
  return (resultCode(error) & 0xff) === full;
}

/** Whether part of the file is damaged or unreadable. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return [corrupt, notADatabase].includes(code & 0xff) || code === readError || code === shortRead;
}
