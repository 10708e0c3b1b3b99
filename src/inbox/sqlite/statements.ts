import type { DatabaseSync } from "node:sqlite";

/** Prepares the statements of an inbox. Each uses an index: its cost does not grow with the number of deliveries. */
export function prepareStatements(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    find: sql("SELECT * FROM deliveries WHERE endpoint = ? AND id = ?"),
    row: sql("SELECT * FROM deliveries WHERE sequence = ?"),
    sequenceOf: sql("SELECT sequence FROM deliveries WHERE endpoint = ? AND id = ?"),
    newest: sql(
      "SELECT sequence FROM deliveries WHERE sequence < ? AND body IS NOT NULL ORDER BY sequence DESC LIMIT ?",
    ),
    newestOf: sql(
      `SELECT sequence FROM deliveries WHERE endpoint = ? AND status = ? AND sequence < ? AND body IS NOT NULL
       ORDER BY sequence DESC LIMIT ?`,
    ),
    totals: sql("SELECT * FROM totals WHERE deliveries > 0"),
    // Adds nothing if the delivery is already stored, or too many are queued.
    add: sql(
      `INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, set_at)
       SELECT :endpoint, :id, 'queued', :body, :received_at, :now, :now
       WHERE NOT EXISTS (SELECT 1 FROM totals WHERE endpoint = :endpoint AND status = 'queued' AND deliveries >= :max_queued)
       ON CONFLICT DO NOTHING`,
    ),
    revive: sql(
      `UPDATE deliveries SET status = 'queued', body = ?, due_at = ?, set_at = ?, finished_at = NULL,
         forgiven = attempts, uncounted_crashes = 0
       WHERE sequence = ?`,
    ),
    due: sql(
      `SELECT sequence FROM deliveries WHERE status = 'queued' AND crashes = 0 AND endpoint = ? AND due_at <= ?
       ORDER BY due_at, sequence LIMIT ?`,
    ),
    nextDue: sql(
      "SELECT min(due_at) AS due_at FROM deliveries WHERE status = 'queued' AND crashes = 0 AND endpoint = ?",
    ),
    suspects: sql(
      `SELECT sequence, due_at FROM deliveries WHERE status = 'queued' AND crashes > 0 AND endpoint = ?
       ORDER BY due_at, sequence LIMIT ?`,
    ),
    claim: sql(
      `UPDATE deliveries SET status = 'running', owner = ?, due_at = NULL, set_at = ?, started_at = ?,
         attempts = attempts + 1
       WHERE sequence = ? AND status = 'queued'
       RETURNING sequence, id, body, received_at, attempts, forgiven`,
    ),
    // A delivery that was replayed while running is queued again, however this attempt ended.
    end: sql(
      `UPDATE deliveries SET
         status = iif(again, 'queued', :status), due_at = iif(again, :now, :due_at), set_at = :now,
         finished_at = iif(again, NULL, :finished_at), forgiven = iif(again, attempts, forgiven + :forgiven),
         crashes = iif(:forgiven, crashes, 0), again = 0, owner = NULL
       WHERE sequence = :sequence`,
    ),
    running: sql("SELECT sequence, id, owner FROM deliveries WHERE status = 'running' AND endpoint = ?"),
    runningSequences: sql("SELECT sequence FROM deliveries WHERE status = 'running' AND endpoint = ?"),
    countRunning: sql("SELECT count(*) AS running FROM deliveries WHERE status = 'running' AND owner = ?"),
    release: sql(
      `UPDATE deliveries SET status = 'queued', due_at = :now, set_at = :now, owner = NULL, attempts = attempts - 1
       WHERE sequence = :sequence AND status = 'running' AND owner = :owner`,
    ),
    recover: sql(
      `UPDATE deliveries SET status = :status, due_at = :due_at, set_at = :now, finished_at = :finished_at,
         forgiven = :forgiven, crashes = crashes + 1, uncounted_crashes = :uncounted_crashes, again = 0, owner = NULL
       WHERE sequence = :sequence`,
    ),
    beat: sql(
      `INSERT INTO owners (owner, beat, beat_at) VALUES (?, 1, ?)
       ON CONFLICT DO UPDATE SET beat = beat + 1, beat_at = excluded.beat_at, running_at_death = NULL`,
    ),
    owner: sql("SELECT * FROM owners WHERE owner = ?"),
    owners: sql("SELECT owner, beat FROM owners"),
    markOwnerGone: sql(
      `INSERT INTO owners (owner, beat, running_at_death) VALUES (?, 0, ?)
       ON CONFLICT DO UPDATE SET running_at_death = excluded.running_at_death`,
    ),
    dropOwner: sql(
      `DELETE FROM owners WHERE owner = :owner
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE status = 'running' AND owner = :owner)`,
    ),
    dropOldOwners: sql(
      `DELETE FROM owners WHERE coalesce(beat_at, 0) < ?
       AND owner NOT IN (SELECT owner FROM deliveries WHERE status = 'running' AND owner IS NOT NULL)`,
    ),
    correctClock: sql(
      "UPDATE deliveries SET due_at = due_at - set_at + :now, set_at = :now WHERE status = :status AND endpoint = :endpoint AND set_at > :now",
    ),
    replay: sql(
      `UPDATE deliveries SET
         again = iif(status = 'running', 1, 0), status = iif(status = 'running', status, 'queued'),
         due_at = iif(status = 'running', due_at, :now), set_at = iif(status = 'running', set_at, :now),
         forgiven = iif(status = 'running', forgiven, attempts), uncounted_crashes = 0, finished_at = NULL
       WHERE endpoint = :endpoint AND id = :id AND body IS NOT NULL`,
    ),
    dead: sql(
      `SELECT sequence FROM deliveries WHERE status = 'dead' AND endpoint = ? AND sequence > ? AND sequence <= ?
       ORDER BY sequence LIMIT ?`,
    ),
    lastSequence: sql("SELECT max(sequence) AS sequence FROM deliveries"),
    replayDead: sql(
      `UPDATE deliveries SET status = 'queued', due_at = :now, set_at = :now, finished_at = NULL,
         forgiven = attempts, uncounted_crashes = 0
       WHERE sequence = :sequence AND status = 'dead' AND body IS NOT NULL`,
    ),
    attempts: sql("SELECT * FROM attempts WHERE delivery = ? ORDER BY number"),
    attempt: sql("SELECT * FROM attempts WHERE delivery = ? AND number = ?"),
    addAttempt: sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)"),
    endpoints: sql(
      `SELECT totals.endpoint, max(retention_ms) AS retention_ms, max(ids_kept_ms) AS ids_kept_ms
       FROM totals LEFT JOIN endpoints ON endpoints.endpoint = totals.endpoint GROUP BY totals.endpoint`,
    ),
    setRetention: sql(
      `INSERT INTO endpoints VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET retention_ms = excluded.retention_ms, ids_kept_ms = excluded.ids_kept_ms
         WHERE retention_ms <> excluded.retention_ms OR ids_kept_ms <> excluded.ids_kept_ms`,
    ),
    finished: sql(
      "SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NOT NULL LIMIT ?",
    ),
    dropBody: sql("UPDATE deliveries SET body = NULL WHERE sequence = ?"),
    dropAttempts: sql("DELETE FROM attempts WHERE delivery = ?"),
    emptied: sql("SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NULL LIMIT ?"),
    dropId: sql("DELETE FROM deliveries WHERE sequence = ?"),
  };
}

export type Statements = ReturnType<typeof prepareStatements>;
