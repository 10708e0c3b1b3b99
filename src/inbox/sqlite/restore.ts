import type { DatabaseSync } from "node:sqlite";

/**
 * Copies the missing deliveries of `source` into another inbox, in one transaction. Deliveries that both inboxes contain do not
 * change.
 *
 * @param path the path of the other inbox, which must have the same schema version.
 */
export function copyMissing(source: DatabaseSync, path: string): void {
  source.prepare("ATTACH ? AS target").run(path);
  try {
    source.exec("PRAGMA target.synchronous = FULL; PRAGMA busy_timeout = 2000; BEGIN IMMEDIATE");
    const before = Number(
      source.prepare("SELECT coalesce(max(sequence), 0) AS last FROM target.deliveries").get()?.last,
    );
    const columns = columnsOf(source).join(", ");
    source.exec(`
      INSERT INTO target.deliveries (${columns}) SELECT ${columns} FROM main.deliveries WHERE true ORDER BY sequence
        ON CONFLICT DO NOTHING;
      INSERT INTO target.attempts
        SELECT copy.sequence, number, attempt.started_at, duration_ms, outcome, code, message, details
        FROM main.attempts AS attempt
        JOIN main.deliveries AS original ON original.sequence = attempt.delivery
        JOIN target.deliveries AS copy ON copy.endpoint = original.endpoint AND copy.id = original.id
        WHERE copy.sequence > ${before};
      INSERT INTO target.processes SELECT * FROM main.processes WHERE true ON CONFLICT DO NOTHING;
      INSERT INTO target.endpoints SELECT * FROM main.endpoints WHERE true ON CONFLICT DO NOTHING;
      INSERT INTO target.paused_endpoints SELECT * FROM main.paused_endpoints WHERE true ON CONFLICT DO NOTHING;
      INSERT INTO target.own_actions (key, made_at) SELECT key, made_at FROM main.own_actions WHERE true ORDER BY sequence
        ON CONFLICT DO NOTHING;
      COMMIT
    `);
  } finally {
    if (source.isTransaction) source.exec("ROLLBACK");
    source.exec("PRAGMA busy_timeout = 0; DETACH target");
  }
}

/** Returns the columns of `deliveries` except `sequence`. The other inbox assigns new sequences. */
function columnsOf(source: DatabaseSync): string[] {
  return source
    .prepare("SELECT name FROM pragma_table_info('deliveries') WHERE name <> 'sequence'")
    .all()
    .map(({ name }) => String(name));
}
