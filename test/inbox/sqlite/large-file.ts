import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";

const pageBytes = 4_096;

/** The number of queued deliveries in a large file. */
export const waiting = 2_400;

/**
 * Creates an inbox file of more than 64 MB, which is too large for the check at opening. The body of "bad-7" spans
 * several pages.
 */
export function makeLargeFile(file: string, { endpoint = "bad" } = {}): void {
  const database = openInboxDatabase(file);
  const numbers = (count: number) =>
    `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${count})`;
  database.exec(`
    ${numbers(waiting)}
    INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at)
      SELECT '${endpoint}', '${endpoint}-' || number,
        replace(hex(zeroblob(iif(number = 7, 1500, 10))), '00', 'body of ${endpoint}-' || number || ','), 1, 1, 'queued', number
      FROM numbers;
    ${numbers(3_400)}
    INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, finished_at)
      SELECT 'old', 'old-' || number, hex(zeroblob(10000)), 1, 1, 'succeeded', 4e12 FROM numbers;
    ${countAllSql}
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  database.close();
}

/** Overwrites pages of a file to simulate a faulty disk. */
export function damage(file: string, pages: readonly number[]): void {
  const descriptor = openSync(file, "r+");
  for (const page of pages) writeSync(descriptor, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(descriptor);
}

/** Returns the pages of a table or index that contain a text, in key order. */
export function pagesWith(
  file: string,
  { name, kind, text }: { name: string; kind: "leaf" | "overflow"; text: string },
): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path")
    .all(name, kind);
  database.close();
  const descriptor = openSync(file, "r");
  const page = Buffer.alloc(pageBytes);
  const found = rows
    .map(({ pageno }) => Number(pageno))
    .filter((number) => {
      readSync(descriptor, page, 0, pageBytes, (number - 1) * pageBytes);
      return page.includes(text);
    });
  closeSync(descriptor);
  return found;
}
