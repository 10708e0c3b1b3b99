import { mkdir, readdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeError } from "../../../core/describe-error.ts";
import { WebhookError } from "../../../core/errors.ts";

/** What may be in a folder that counts as empty: what `git init` leaves. */
const repository = ".git";

/**
 * Makes sure that a folder is not there yet, or has nothing in it but a `.git`.
 *
 * @throws `FOLDER_UNUSABLE`.
 */
export async function checkIsFree(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return [];
    throw unusable(`${folder} cannot be used (${codeOf(cause)}): choose a folder that is new or empty.`, cause);
  });
  const found = entries.filter((name) => name !== repository).sort();
  if (found.length === 0) return;
  const shown = found.length > 3 ? `${found.slice(0, 3).join(", ")} and ${found.length - 3} more` : found.join(", ");
  throw unusable(
    `${folder} is not empty: it has ${shown}. Nothing was written, for nothing is ever overwritten: choose a folder that is new or empty, or move what is there out of the way.`,
  );
}

/**
 * Writes files into a folder, which is made where it is not there. All of them or, where one cannot be written, none:
 * what was written till then is taken away. A file that is there is never overwritten.
 *
 * @throws `FOLDER_UNUSABLE`; the message says what could not be taken away.
 */
export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const made: string[] = [];
  try {
    await makeFolder(folder, made);
    for (const [name, text] of files) {
      const path = join(folder, name);
      const writing = writeFile(path, text, { flag: "wx" });
      // A disk that is full leaves half a file; one that was there before is not ours.
      await writing.then(
        () => made.push(path),
        async (error: unknown) => {
          if (codeOf(error) !== "EEXIST") made.push(path);
          throw error;
        },
      );
    }
  } catch (cause) {
    const left = await takeAway(made);
    const rest = left.length === 0 ? "Nothing was left behind" : `What is left behind: ${left.join(", ")}`;
    throw unusable(
      `The project cannot be written to ${folder} (${codeOf(cause)}). ${rest}: choose another folder, or make room and see that you may write there.`,
      cause,
    );
  }
}

/** Makes a folder and those above it that are missing, and notes each that was not there. */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !(await exists(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path);
    made.push(path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Removes the latest first: files, and folders that nobody else has put anything into. Returns what is still there. */
async function takeAway(paths: readonly string[]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const path of paths.toReversed()) {
    try {
      await ((await stat(path)).isDirectory() ? rmdir(path) : rm(path));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") left.push(path);
    }
  }
  return left;
}

function unusable(message: string, cause?: unknown): WebhookError {
  return new WebhookError(message, { code: "FOLDER_UNUSABLE", cause });
}

function codeOf(error: unknown): string {
  const { code, message } = describeError(error);
  return String(code ?? message);
}
