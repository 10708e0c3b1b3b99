import { join } from "node:path";
import { createFolder } from "../support/temporary-folder.ts";

/** The path of a future file, in a folder that is removed after the test. */
export function inboxFile(): string {
  const folder = createFolder();
  return join(folder, "inbox.db");
}
