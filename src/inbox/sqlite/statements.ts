import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Excludes the deliveries of a paused endpoint. The first parameter of the statement is the endpoint. */
const notPaused = "NOT EXISTS (SELECT 1 FROM paused_endpoints WHERE paused_endpoints.endpoint = ?1)";

const fromDue = `
  FROM deliveries WHERE status = 'queued' AND crashes = 0 AND endpoint = ?1 AND due_at <= ?2 AND ${notPaused}
  ORDER BY due_at, sequence LIMIT ?3 + 0
`;

const newestOf = (column: string) =>
  `SELECT delivery FROM event_index WHERE ${column} = ? AND delivery < ? ORDER BY delivery DESC LIMIT 1`;

/** Allows a statement to use the index by status. */
const ended = "status NOT IN ('queued', 'running')";

/**
 * The statements of an inbox, each of which is prepared when it is first called. Each statement uses an index, so the cost of a statement
 * does not grow with the number of deliveries.
 *
 * A limit is an expression (`LIMIT ? + 0`), because SQLite prepares a statement with `LIMIT ?` again each time a limit is bound, which
 * takes three times as long as claiming a delivery.
 */
export function createStatements(database: DatabaseSync) {
  const sql = (text: string) => {
    let prepared: StatementSync | undefined;
    return () => {
      prepared ??= database.prepare(text);
      return prepared;
    };
  };
  return {
    row: sql("SELECT * FROM deliveries WHERE sequence = ?"),
    // Searches all deliveries, except in files of older releases, which have an index.
    sequenceOf: sql("SELECT sequence FROM deliveries WHERE endpoint = ? AND id = ?"),
    // These two only read an index, so they also work for deliveries on damaged pages.
    keyOf: sql("SELECT endpoint, id FROM deliveries INDEXED BY deliveries_ids WHERE sequence = ?"),
    keysAfter: sql(
      `SELECT sequence, endpoint, id FROM deliveries INDEXED BY deliveries_ids
       WHERE sequence > ? ORDER BY sequence LIMIT ? + 0`,
    ),
    keysInTableAfter: sql(
      `SELECT sequence, endpoint, id FROM deliveries NOT INDEXED WHERE sequence > ? ORDER BY sequence LIMIT ? + 0`,
    ),
    newest: sql(
      "SELECT sequence FROM deliveries WHERE sequence < ? AND body IS NOT NULL ORDER BY sequence DESC LIMIT ? + 0",
    ),
    // These deliveries have no index by sequence, because each delivery would enter and leave it. Their number is limited.
    newestQueued: sql(
      `SELECT sequence FROM deliveries INDEXED BY deliveries_queued
         WHERE status = 'queued' AND crashes = 0 AND endpoint = ?1 AND sequence < ?2
       UNION ALL
       SELECT sequence FROM deliveries INDEXED BY deliveries_suspect
         WHERE status = 'queued' AND crashes > 0 AND endpoint = ?1 AND sequence < ?2
       ORDER BY sequence DESC LIMIT ?3 + 0`,
    ),
    newestRunning: sql(
      `SELECT sequence FROM deliveries INDEXED BY deliveries_running
       WHERE status = 'running' AND endpoint = ? AND sequence < ? ORDER BY sequence DESC LIMIT ? + 0`,
    ),
    newestEnded: sql(
      `SELECT sequence FROM deliveries INDEXED BY deliveries_by_status
       WHERE endpoint = ? AND status = ? AND ${ended} AND sequence < ? AND body IS NOT NULL
       ORDER BY sequence DESC LIMIT ? + 0`,
    ),
    indexEnd: sql("SELECT delivery FROM event_index_end"),
    moveIndexEnd: sql("UPDATE event_index_end SET delivery = ?"),
    bodiesAfter: sql("SELECT sequence, body FROM deliveries WHERE sequence > ? ORDER BY sequence LIMIT ? + 0"),
    addToIndex: sql(
      `INSERT INTO event_index SELECT ?1, ?2, ?3, ?4 FROM deliveries WHERE sequence = ?1 AND body IS NOT NULL
       ON CONFLICT DO NOTHING`,
    ),
    replaceInIndex: sql("INSERT OR REPLACE INTO event_index VALUES (?, ?, ?, ?)"),
    removeFromIndex: sql("DELETE FROM event_index WHERE delivery = ?"),
    newestOfRepository: sql(newestOf("repository")),
    newestOfScope: sql(newestOf("scope")),
    newestOfAction: sql(newestOf("action")),
    firstFrom: sql("SELECT sequence, received_at FROM deliveries WHERE sequence >= ? ORDER BY sequence LIMIT 1"),
    disorder: sql("SELECT max_ms FROM disorder"),
    addDisorder: sql("UPDATE disorder SET max_ms = max(max_ms, ?)"),
    lastBefore: sql("SELECT received_at FROM deliveries WHERE sequence < ? ORDER BY sequence DESC LIMIT 1"),
    totals: sql("SELECT * FROM totals WHERE deliveries > 0"),
    storedTotal: sql("SELECT sum(deliveries) AS deliveries FROM totals"),
    queuedTotal: sql("SELECT deliveries FROM totals WHERE endpoint = ? AND status = 'queued'"),
    addToTotal: sql(
      "INSERT INTO totals VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries",
    ),
    // Adds no row only in a file of an older release, if the ID of a stored delivery cannot be read.
    add: sql(
      `INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at, headers, replay_of)
       VALUES (?1, ?2, 'queued', ?3, ?4, ?5, ?5, ?6, ?7)
       ON CONFLICT DO NOTHING`,
    ),
    revive: sql(
      `UPDATE deliveries SET status = 'queued', body = ?, headers = ?, due_at = ?, scheduled_at = ?, finished_at = NULL,
         uncounted_attempts = attempts, uncounted_crashes = 0
       WHERE sequence = ?`,
    ),
    due: sql(`SELECT sequence, id, body, received_at, attempts, uncounted_attempts ${fromDue}`),
    dueSequences: sql(`SELECT sequence ${fromDue}`),
    nextDue: sql(
      `SELECT min(due_at) AS due_at FROM deliveries
       WHERE status = 'queued' AND crashes = 0 AND endpoint = ?1 AND due_at > ?2 AND ${notPaused}`,
    ),
    suspects: sql(
      `SELECT sequence, due_at FROM deliveries WHERE status = 'queued' AND crashes > 0 AND endpoint = ?1 AND ${notPaused}
       ORDER BY due_at, sequence LIMIT ?2 + 0`,
    ),
    // One statement for all claimed deliveries, with `sequence IN (…)`, takes a third longer, because it reads each row twice.
    claim: sql(
      `UPDATE deliveries SET status = 'running', process_id = ?1, due_at = NULL, scheduled_at = ?2, started_at = ?2,
         attempts = attempts + 1
       WHERE sequence = ?3`,
    ),
    // Changes no row if the delivery was replayed while it was running. `RETURNING` would add half the time of the update.
    end: sql(
      `UPDATE deliveries SET status = ?1, due_at = ?2, scheduled_at = ?3, finished_at = ?4,
         uncounted_attempts = uncounted_attempts + ?5, crashes = iif(?5, crashes, 0), process_id = NULL
       WHERE sequence = ?6 AND replay_requested = 0`,
    ),
    endReplayed: sql(
      `UPDATE deliveries SET status = 'queued', due_at = ?1, scheduled_at = ?1, finished_at = NULL,
         uncounted_attempts = attempts, crashes = iif(?2, crashes, 0), replay_requested = 0, process_id = NULL
       WHERE sequence = ?3`,
    ),
    running: sql("SELECT sequence, id, process_id FROM deliveries WHERE status = 'running' AND endpoint = ?"),
    runningSequences: sql("SELECT sequence FROM deliveries WHERE status = 'running' AND endpoint = ?"),
    countRunning: sql("SELECT count(*) AS running FROM deliveries WHERE status = 'running' AND process_id = ?"),
    release: sql(
      `UPDATE deliveries SET status = 'queued', due_at = :now, scheduled_at = :now, process_id = NULL, attempts = attempts - 1,
         replay_requested = 0
       WHERE sequence = :sequence AND status = 'running' AND process_id = :process_id
       RETURNING endpoint`,
    ),
    recover: sql(
      `UPDATE deliveries SET status = :status, due_at = :due_at, scheduled_at = :now, finished_at = :finished_at,
         uncounted_attempts = :uncounted_attempts, crashes = crashes + 1, uncounted_crashes = :uncounted_crashes,
         replay_requested = 0, process_id = NULL
       WHERE sequence = :sequence`,
    ),
    // Clears the mark that the process is gone.
    heartbeat: sql(
      `INSERT INTO processes (process_id, heartbeats, last_heartbeat_at) VALUES (?, 1, ?)
       ON CONFLICT DO UPDATE SET
         heartbeats = heartbeats + 1, last_heartbeat_at = excluded.last_heartbeat_at, running_when_gone = NULL`,
    ),
    process: sql("SELECT * FROM processes WHERE process_id = ?"),
    heartbeats: sql("SELECT process_id, heartbeats FROM processes"),
    markProcessGone: sql(
      `INSERT INTO processes (process_id, heartbeats, running_when_gone) VALUES (?, 0, ?)
       ON CONFLICT DO UPDATE SET running_when_gone = excluded.running_when_gone`,
    ),
    removeProcess: sql(
      `DELETE FROM processes WHERE process_id = :process_id
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE status = 'running' AND process_id = :process_id)`,
    ),
    removeProcessesBefore: sql(
      `DELETE FROM processes WHERE coalesce(last_heartbeat_at, 0) < ?
       AND process_id NOT IN (SELECT process_id FROM deliveries WHERE status = 'running' AND process_id IS NOT NULL)`,
    ),
    // A query per partial index, because the others would read all deliveries of the endpoint.
    correctClock: sql(
      `UPDATE deliveries SET due_at = due_at - scheduled_at + :now, scheduled_at = :now
       WHERE scheduled_at > :now AND sequence IN (
         SELECT sequence FROM deliveries WHERE status = 'queued' AND crashes = 0 AND endpoint = :endpoint
         UNION ALL SELECT sequence FROM deliveries WHERE status = 'queued' AND crashes > 0 AND endpoint = :endpoint
         UNION ALL SELECT sequence FROM deliveries WHERE status = 'running' AND endpoint = :endpoint)`,
    ),
    replay: sql(
      `UPDATE deliveries SET
         replay_requested = iif(status = 'running', 1, 0),
         status = iif(status = 'running', status, 'queued'),
         due_at = iif(status = 'running', due_at, :now),
         scheduled_at = iif(status = 'running', scheduled_at, :now),
         uncounted_attempts = iif(status = 'running', uncounted_attempts, attempts),
         uncounted_crashes = 0,
         finished_at = NULL
       WHERE sequence = :sequence AND body IS NOT NULL`,
    ),
    dead: sql(
      `SELECT sequence FROM deliveries
       WHERE status = 'dead' AND ${ended} AND endpoint = ? AND sequence > ? AND sequence <= ?
       ORDER BY sequence LIMIT ? + 0`,
    ),
    lastSequence: sql("SELECT max(sequence) AS sequence FROM deliveries"),
    replayDead: sql(
      `UPDATE deliveries SET status = 'queued', due_at = :now, scheduled_at = :now, finished_at = NULL,
         uncounted_attempts = attempts, uncounted_crashes = 0
       WHERE sequence = :sequence AND status = 'dead' AND body IS NOT NULL`,
    ),
    discard: sql(
      `UPDATE deliveries SET status = 'cancelled', due_at = NULL, scheduled_at = :now, finished_at = :now
       WHERE sequence = :sequence AND status IN ('queued', 'dead')`,
    ),
    attempts: sql(
      "SELECT number, started_at, duration_ms, outcome, code, message FROM attempts WHERE delivery = ? ORDER BY number",
    ),
    attemptsWithDetails: sql("SELECT * FROM attempts WHERE delivery = ? ORDER BY number"),
    // The parameters are the first columns of an attempt.
    hasAttempt: sql(
      `SELECT 1 FROM attempts
       WHERE delivery = ? AND number = ? AND started_at = ? AND duration_ms = ? AND outcome = ? AND code IS ?`,
    ),
    addAttempt: sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
    // Adds no row if the delivery is no longer running in this process.
    addRunningAttempt: sql(
      `INSERT OR REPLACE INTO attempts SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM deliveries
       WHERE sequence = ?1 AND attempts = ?2 AND status = 'running' AND process_id = ?9`,
    ),
    // The statements that claim deliveries skip a paused endpoint.
    pause: sql("INSERT INTO paused_endpoints VALUES (?) ON CONFLICT DO NOTHING"),
    resume: sql("DELETE FROM paused_endpoints WHERE endpoint = ?"),
    paused: sql("SELECT endpoint FROM paused_endpoints ORDER BY endpoint"),
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
      "SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NOT NULL LIMIT ? + 0",
    ),
    removeBody: sql("UPDATE deliveries SET body = NULL, headers = NULL WHERE sequence = ?"),
    removeAttempts: sql("DELETE FROM attempts WHERE delivery = ?"),
    emptied: sql("SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NULL LIMIT ? + 0"),
    removeId: sql("DELETE FROM deliveries WHERE sequence = ?"),
    cursor: sql("SELECT text FROM cursors WHERE endpoint = ? AND key = ?"),
    cursors: sql("SELECT key, text FROM cursors WHERE endpoint = ?"),
    setCursor: sql("INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text"),
    // Takes a claim that is free, has ended, ends too late (see `maxClaimMs`), or is already the holder's.
    claimCursor: sql(
      `INSERT INTO cursor_claims VALUES (:key, :holder, :ends_at)
       ON CONFLICT DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
         WHERE holder = excluded.holder OR ends_at <= :now OR ends_at > :now + :max_ms`,
    ),
    addOwnAction: sql("INSERT INTO own_actions (key, made_at) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    ownAction: sql("SELECT 1 FROM own_actions WHERE key = ?"),
    // The oldest keys have the lowest sequences, so only the first rows are read.
    removeOwnActions: sql(
      `DELETE FROM own_actions WHERE sequence IN (
         SELECT sequence FROM (SELECT sequence, made_at FROM own_actions ORDER BY sequence LIMIT :max_rows + 0)
         WHERE sequence <= (SELECT max(sequence) FROM own_actions) - :max_kept OR made_at < :before
       )`,
    ),
  };
}

export type Statements = ReturnType<typeof createStatements>;
