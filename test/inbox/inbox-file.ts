import { join } from "node:path";
import { createFolder } from "../support/temporary-folder.ts";

/** Returns a path without a file, in a folder that is removed after the test. */
export function inboxFile(): string {
  const folder = createFolder();
  return join(folder, "inbox.db");
}
