import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openInbox } from "../src/inbox/open-inbox.ts";
import { DeliveryTable } from "../src/inbox/sqlite/delivery-table.ts";
import { countAllSql } from "../src/inbox/sqlite/schema.ts";
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

/** Counts and indexes the deliveries that the open transaction has added, so that a server does not do so later. */
export function finishInbox(database: DatabaseSync): void {
  database.exec(countAllSql);
  const { index } = new DeliveryTable(database);
  for (let group = index.readGroup(); group; group = index.readGroup()) index.add(group);
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}
