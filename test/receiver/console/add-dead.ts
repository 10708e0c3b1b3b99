import { DatabaseSync } from "node:sqlite";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";

/** Adds dead deliveries to an inbox file. */
export function addDead(file: string, endpoint: string, count: number): void {
  const database = new DatabaseSync(file);
  database
    .prepare(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
       INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at)
       SELECT ?1, 'd' || n, 'dead', '{}', n, NULL, n FROM numbers`,
    )
    .run(endpoint, count);
  database.exec(countAllSql);
  database.close();
}
