import type { DatabaseSync } from "node:sqlite";
import { schemaVersionOf } from "../sqlite/database.ts";

/** A record of the log whose changes are missing. */
export interface Gap {
  /** The number of the record. */
  number: number;
  /**
   * `missing`: the object does not exist. `unreadable`: the object is not a complete record. `conflict`: the changes do not fit the
   * earlier changes.
   */
  reason: "missing" | "unreadable" | "conflict";
}

/** Returns the numbers of all gaps that are recorded in a database, including repaired ones. */
export function readGapNumbers(database: DatabaseSync): ReadonlySet<number> {
  if (schemaVersionOf(database) === 0) return new Set();
  return new Set(
    database
      .prepare("SELECT number FROM log_gaps")
      .all()
      .map(({ number }) => Number(number)),
  );
}

/** Returns the numbers of the gaps that have not been repaired. */
export function readOpenGaps(database: DatabaseSync): number[] {
  return database
    .prepare("SELECT number FROM log_gaps WHERE repaired_at IS NULL ORDER BY number")
    .all()
    .map(({ number }) => Number(number));
}

/** Records gaps, and counts all deliveries again. Call this function inside a transaction. */
export function addGaps(database: DatabaseSync, gaps: readonly Gap[], now: number): void {
  const insert = database.prepare(
    "INSERT INTO log_gaps (number, reason, found_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  for (const { number, reason } of gaps) insert.run(number, reason, now);
  database.exec(`
    DELETE FROM totals;
    INSERT INTO totals SELECT endpoint, status, count(*) FROM deliveries GROUP BY endpoint, status;
  `);
}
