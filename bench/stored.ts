import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openInbox } from "../src/inbox/open-inbox.ts";
import { createConsoleLogger } from "../src/receiver/lifecycle/server-logger.ts";
import { body } from "./delivery.ts";
import { inboxFolder } from "./inbox-folder.ts";

/** Creates an inbox that contains this number of succeeded deliveries. */
export async function storedInbox(count: number): Promise<string> {
  const folder = join(inboxFolder, `stored-${count}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "inbox.db");
  const url = `sqlite:${file}`;
  const inbox = await openInbox({ url, log: createConsoleLogger(), now: Date.now });
  await inbox.close(0);
  const database = new DatabaseSync(file);
  const now = Date.now();
  database.exec("PRAGMA synchronous = OFF; BEGIN");
  const add = database.prepare(
    `INSERT INTO deliveries (endpoint, id, status, body, received_at, attempts, scheduled_at, finished_at)
     VALUES (?, ?, 'succeeded', ?, ?, 1, ?, ?)`,
  );
  const attempt = database.prepare(
    "INSERT INTO attempts (delivery, number, started_at, duration_ms, outcome) VALUES (?, 1, ?, 5, 'succeeded')",
  );
  for (let number = 0; number < count; number += 1) {
    // Stores deliveries of this endpoint and of another one, with random IDs like the Hub's.
    const endpoint = number % 2 === 0 ? "bench" : "other";
    const { lastInsertRowid } = add.run(endpoint, crypto.randomUUID(), body, now, now, now);
    attempt.run(lastInsertRowid, now);
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return url;
}
