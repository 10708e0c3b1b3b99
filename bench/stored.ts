import { body } from "./delivery.ts";
import { createEmptyInbox, finishInbox } from "./empty-inbox.ts";

/** Creates an inbox that contains this number of succeeded deliveries. */
export async function storedInbox(count: number): Promise<string> {
  const { url, database } = await createEmptyInbox(`stored-${count}`);
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
  finishInbox(database);
  database.close();
  return url;
}
