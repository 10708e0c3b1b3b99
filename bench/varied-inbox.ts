import type { DatabaseSync } from "node:sqlite";
import { variedDelivery } from "./delivery.ts";
import { createEmptyInbox, finishInbox } from "./empty-inbox.ts";

/** Creates an inbox with this number of deliveries, one per second. One of 50 is dead. */
export async function variedInbox(count: number): Promise<{ url: string }> {
  const { url, database } = await createEmptyInbox(`varied-${count}`);
  fill(database, count);
  database.close();
  return { url };
}

function fill(database: DatabaseSync, count: number): void {
  database.exec("PRAGMA synchronous = OFF; BEGIN");
  const add = database.prepare(
    `INSERT INTO deliveries (endpoint, id, status, body, received_at, attempts, scheduled_at, finished_at)
     VALUES ('background', ?, ?, ?, ?, 1, ?, ?)`,
  );
  const addAttempt = database.prepare(
    `INSERT INTO attempts (delivery, number, started_at, duration_ms, outcome, code, message)
     VALUES (?, 1, ?, 5, ?, ?, ?)`,
  );
  const firstAt = Date.now() - count * 1_000;
  for (let number = 0; number < count; number += 1) {
    const at = firstAt + number * 1_000;
    const isDead = number % 50 === 0;
    const { id, body } = variedDelivery(number);
    const { lastInsertRowid } = add.run(id, isDead ? "dead" : "succeeded", body, at, at, at);
    if (isDead) {
      addAttempt.run(
        lastInsertRowid,
        at,
        "failed",
        "HANDLER_FAILED",
        `The worker ${number % 777} has no disk space left`,
      );
    } else addAttempt.run(lastInsertRowid, at, "succeeded", null, null);
  }
  finishInbox(database);
}
