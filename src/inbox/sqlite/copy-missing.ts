import type { DatabaseSync } from "node:sqlite";

/**
 * Copies everything that another inbox lacks into it, in one transaction. A delivery that both have stays there as it is.
 *
 * @param source where the deliveries are.
 * @param path of the other inbox, which has the same version.
 */
export function copyMissing(source: DatabaseSync, path: string): void {
  source.prepare("ATTACH ? AS there").run(path);
  try {
    source.exec("PRAGMA there.synchronous = FULL; PRAGMA busy_timeout = 2000; BEGIN IMMEDIATE");
    const before = Number(
      source.prepare("SELECT coalesce(max(sequence), 0) AS last FROM there.deliveries").get()?.last,
    );
    const columns = columnsOf(source).join(", ");
    source.exec(`
      INSERT INTO there.deliveries (${columns}) SELECT ${columns} FROM main.deliveries WHERE true ORDER BY sequence
        ON CONFLICT DO NOTHING;
      INSERT INTO there.attempts
        SELECT copy.sequence, number, attempt.started_at, duration_ms, outcome, code, message
        FROM main.attempts AS attempt
        JOIN main.deliveries AS original ON original.sequence = attempt.delivery
        JOIN there.deliveries AS copy ON copy.endpoint = original.endpoint AND copy.id = original.id
        WHERE copy.sequence > ${before};
      INSERT INTO there.owners SELECT * FROM main.owners WHERE true ON CONFLICT DO NOTHING;
      INSERT INTO there.endpoints SELECT * FROM main.endpoints WHERE true ON CONFLICT DO NOTHING;
      COMMIT
    `);
  } finally {
    if (source.isTransaction) source.exec("ROLLBACK");
    source.exec("PRAGMA busy_timeout = 0; DETACH there");
  }
}

/** All columns but `sequence`, which the other inbox numbers itself. */
function columnsOf(source: DatabaseSync): string[] {
  return source
    .prepare("SELECT name FROM pragma_table_info('deliveries') WHERE name <> 'sequence'")
    .all()
    .map(({ name }) => String(name));
}
