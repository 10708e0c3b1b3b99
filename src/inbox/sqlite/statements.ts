import type { DatabaseSync } from "node:sqlite";

/** All that is asked of the database of an inbox. Each finds what it needs by an index, however many deliveries there are. */
export function prepareStatements(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    find: sql("SELECT * FROM deliveries WHERE endpoint = ? AND id = ?"),
    row: sql("SELECT * FROM deliveries WHERE sequence = ?"),
    newest: sql(
      "SELECT sequence FROM deliveries WHERE sequence < ? AND body IS NOT NULL ORDER BY sequence DESC LIMIT ?",
    ),
    newestOf: sql(
      `SELECT sequence FROM deliveries WHERE endpoint = ? AND status = ? AND sequence < ? AND body IS NOT NULL
       ORDER BY sequence DESC LIMIT ?`,
    ),
    totals: sql("SELECT * FROM totals WHERE deliveries > 0"),
    // Adds nothing where it is known already, or where too many wait.
    add: sql(
      `INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, set_at)
       SELECT :endpoint, :id, 'queued', :body, :received_at, :now, :now
       WHERE NOT EXISTS (SELECT 1 FROM totals WHERE endpoint = :endpoint AND status = 'queued' AND deliveries >= :most)
       ON CONFLICT DO NOTHING`,
    ),
    revive: sql(
      "UPDATE deliveries SET status = 'queued', body = ?, due_at = ?, set_at = ?, finished_at = NULL, forgiven = attempts WHERE sequence = ?",
    ),
    claim: sql(
      `UPDATE deliveries SET status = 'running', owner = ?, due_at = ?, set_at = ?, started_at = ?, attempts = attempts + 1
       WHERE sequence IN (SELECT sequence FROM deliveries WHERE status = 'queued' AND endpoint = ? AND due_at <= ?
         ORDER BY due_at, sequence LIMIT ?)
       RETURNING sequence, id, body, received_at, attempts, forgiven`,
    ),
    // What is to be replayed goes back into the queue however this attempt has ended.
    end: sql(
      `UPDATE deliveries SET
         status = iif(again, 'queued', :status), due_at = iif(again, :now, :due_at), set_at = :now,
         finished_at = iif(again, NULL, :finished_at), forgiven = iif(again, attempts, forgiven + :forgiven),
         again = 0, owner = NULL
       WHERE sequence = :sequence AND status = 'running' AND owner = :owner`,
    ),
    renew: sql(
      `UPDATE deliveries SET due_at = ?, set_at = ?
       WHERE status = 'running' AND owner = ? AND sequence IN (SELECT value FROM json_each(?)) RETURNING sequence`,
    ),
    abandoned: sql("SELECT * FROM deliveries WHERE status = 'running' AND due_at <= ?"),
    takeBack: sql(
      `UPDATE deliveries SET status = ?, due_at = ?, finished_at = ?, set_at = ?, owner = NULL
       WHERE sequence = ? AND status = 'running' AND due_at <= ?`,
    ),
    // From one endpoint to the next, however many deliveries of each wait: this is asked every second.
    due: sql(
      `WITH RECURSIVE waiting (endpoint) AS (
         SELECT min(endpoint) FROM deliveries WHERE status = 'queued' AND endpoint > ''
         UNION ALL
         SELECT (SELECT min(endpoint) FROM deliveries WHERE status = 'queued' AND endpoint > waiting.endpoint)
           FROM waiting WHERE endpoint IS NOT NULL
       )
       SELECT endpoint, (
         SELECT min(due_at) FROM deliveries WHERE status = 'queued' AND endpoint = waiting.endpoint
       ) AS due_at FROM waiting WHERE endpoint IS NOT NULL`,
    ),
    correctClock: sql(
      "UPDATE deliveries SET due_at = due_at - set_at + :now, set_at = :now WHERE status IN ('queued', 'running') AND set_at > :now",
    ),
    replay: sql(
      `UPDATE deliveries SET
         again = iif(status = 'running', 1, 0), status = iif(status = 'running', status, 'queued'),
         due_at = iif(status = 'running', due_at, :now), set_at = iif(status = 'running', set_at, :now),
         forgiven = iif(status = 'running', forgiven, attempts), finished_at = NULL
       WHERE endpoint = :endpoint AND id = :id AND body IS NOT NULL`,
    ),
    replayDead: sql(
      `UPDATE deliveries SET status = 'queued', due_at = ?, set_at = ?, finished_at = NULL, forgiven = attempts
       WHERE status = 'dead' AND endpoint = ? AND body IS NOT NULL`,
    ),
    attempts: sql("SELECT * FROM attempts WHERE delivery = ? ORDER BY number"),
    addAttempt: sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)"),
    dropBodies: sql(
      `UPDATE deliveries SET body = NULL WHERE sequence IN
         (SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NOT NULL LIMIT ?)
       RETURNING sequence`,
    ),
    dropAttempts: sql("DELETE FROM attempts WHERE delivery IN (SELECT value FROM json_each(?))"),
    dropIds: sql(
      `DELETE FROM deliveries WHERE sequence IN
         (SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NULL LIMIT ?)`,
    ),
  };
}
