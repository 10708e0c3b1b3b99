import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openInbox } from "../src/inbox/open-inbox.ts";
import { createConsoleLogger } from "../src/receiver/logs.ts";
import { inboxFolder } from "./inbox-folder.ts";

/** Creates an inbox without deliveries in a folder of this name, and opens its file. The caller closes the database. */
export async function createEmptyInbox(name: string): Promise<{ file: string; url: string; database: DatabaseSync }> {
  const folder = join(inboxFolder, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "inbox.db");
  const url = `sqlite:${file}`;
  const inbox = await openInbox({ url, log: createConsoleLogger(), now: Date.now });
  await inbox.close(0);
  return { file, url, database: new DatabaseSync(file) };
}
