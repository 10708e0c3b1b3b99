import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openInboxDatabase } from "../../src/inbox/sqlite/database.ts";
import { createFolder } from "../support/temporary-folder.ts";

/** Returns a path without a file, in a folder that is removed after the test. */
export function inboxFile(): string {
  const folder = createFolder();
  return join(folder, "inbox.db");
}

let empty: Uint8Array | undefined;

/** Returns the path of a file with an empty inbox. To copy one is faster than to create its tables. */
export function emptyInboxFile(): string {
  const file = inboxFile();
  if (empty === undefined) {
    openInboxDatabase(file).close();
    empty = readFileSync(file);
  } else writeFileSync(file, empty, { mode: 0o600 });
  return file;
}
