import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "hub-webhooks-inbox-";

/** A private folder for the working file of an inbox. The file is built from the bucket at each start, so it can be deleted. */
export interface WorkingFolder extends Disposable {
  /** The path of the working file. */
  readonly file: string;
}

/** Creates a folder that only the current user can read, and removes the folders of processes that no longer run. */
export function createWorkingFolder(parent: string = tmpdir()): WorkingFolder {
  removeAbandoned(parent);
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  return {
    file: join(folder, "inbox.db"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A killed process cannot remove its folder, which contains payloads. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // The folder belongs to another user.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
