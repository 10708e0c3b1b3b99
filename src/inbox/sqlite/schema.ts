/*
 * Tables and triggers that are the same in `currentTables` as in the migration that created them. If a later migration changes one,
 * write the new one in `currentTables`.
 */

const totalsTable = `
  CREATE TABLE totals (
    endpoint TEXT NOT NULL,
    status TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (endpoint, status)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER deliveries_forgotten AFTER DELETE ON deliveries BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    DELETE FROM attempts WHERE delivery = old.sequence;
  END;
`;
const movedTrigger = `
  CREATE TRIGGER deliveries_moved AFTER UPDATE OF status ON deliveries
  WHEN old.status <> new.status AND 'running' NOT IN (old.status, new.status) BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
`;
const logTables = `
  CREATE TABLE log_position (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
  ) STRICT;
  INSERT INTO log_position VALUES (1, 0);
  CREATE TABLE log_gaps (
    number INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    repaired_at INTEGER
  ) STRICT;
  CREATE TABLE log_fences (
    number INTEGER PRIMARY KEY
  ) STRICT;
`;
const ownActionsTable = `
  CREATE TABLE own_actions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    made_at INTEGER NOT NULL
  ) STRICT;
`;
const cursorTables = `
  CREATE TABLE cursors (
    endpoint TEXT NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (endpoint, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE cursor_claims (
    key TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
const eventIndexTables = `
  CREATE TABLE event_index (
    delivery INTEGER PRIMARY KEY,
    repository INTEGER,
    scope INTEGER,
    action INTEGER
  ) STRICT;
  CREATE INDEX event_index_repository ON event_index (repository);
  CREATE INDEX event_index_scope ON event_index (scope);
  CREATE INDEX event_index_action ON event_index (action);
  CREATE TABLE event_index_end (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    delivery INTEGER NOT NULL
  ) STRICT;
  INSERT INTO event_index_end VALUES (1, 0);
`;
const idIndex = "CREATE INDEX deliveries_ids ON deliveries (sequence, endpoint, id);";
const disorderTable = `
  CREATE TABLE disorder (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    max_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO disorder VALUES (1, 0);
`;

/**
 * Creates the current tables in an empty file. Running all migrations instead takes five times as long. Times are milliseconds since the
 * epoch.
 *
 * deliveries                One row per delivery. `DeliveryIds` ensures that the ID is unique per endpoint. In files that older releases have
 *                           created, a constraint ensures the same.
 *   sequence                The order in which deliveries were stored, and the cursor of lists.
 *   status                  See `DeliveryStatus`.
 *   body                    NULL after the retention period, when only the ID is kept to detect duplicates.
 *   attempts                The number of attempts so far, which is also the number of the running attempt.
 *   uncounted_attempts      The number of attempts that do not count, because they were before a replay or were interrupted by a
 *                           shutdown or by a crash while other deliveries were running.
 *   replay_requested        1 if the delivery was replayed while it was running. It is queued again when the attempt ends.
 *   due_at                  When a queued delivery may run.
 *   process_id              The process that is running the delivery. Each process generates a UUID when it opens the file.
 *   started_at              When the running attempt started.
 *   scheduled_at            When `status` and `due_at` were set. If this time is in the future, the clock was set back, and
 *                           both times are corrected.
 *   finished_at             When the delivery succeeded, was ignored, became dead, or was discarded.
 *   crashes                 The number of consecutive crashes while the delivery was running. If above 0, the delivery is a suspect.
 *   uncounted_crashes       The number of crashes since the last replay that did not count as attempts.
 *   headers                 The JSON text of the request headers. NULL after the retention period.
 *   replay_of               The ID of the delivery of which this delivery is a copy.
 *
 * attempts                  One row per finished attempt. `delivery` is the `sequence` of the delivery.
 *   details                 The JSON text of an `AttemptDetails`.
 *
 * paused_endpoints          The endpoints whose deliveries no process claims.
 *
 * totals                    The number of deliveries per endpoint and status. `createTotals` counts new deliveries and those that start or
 *                           stop running, once per transaction. Triggers count all other changes, which are rare.
 *
 * processes                 One row per process with running deliveries.
 *   heartbeats              A counter that the process increments while it runs deliveries. If the counter stops changing, the
 *                           process is gone.
 *   last_heartbeat_at       The time of the last heartbeat, by the clock of the process.
 *   running_when_gone       The number of deliveries that the process was running when another process found that it was gone.
 *
 * endpoints                 The retention of each endpoint, for processes that do not serve the endpoint.
 *   retention_ms            How long bodies and attempts are kept.
 *   ids_kept_ms             How long IDs are kept.
 *
 * log_position              The number of the last record of the log whose changes the tables contain. Only in the working file of an
 *                           inbox in a bucket.
 *
 * log_gaps                  The records of the log whose changes are missing. Only in the working file of an inbox in a bucket.
 *   reason                  Why the changes are missing: `missing`, `unreadable`, or `conflict`.
 *
 * log_fences                The numbers of the records that are never deleted from the log. A process that no longer owns the inbox finds
 *                           one of them when it tries to write. Only in the working file of an inbox in a bucket.
 *
 * own_actions               The changes on the Hub that servers of this inbox made (see `OwnActions`), oldest first.
 *
 * cursors                   What `catchUp` has seen of the Hub, by endpoint and key (see `Cursors`).
 *
 * cursor_claims             The processes that are catching up, by endpoint. A claim ends at `ends_at`.
 *
 * event_index               The hashes of the repository, the scope, and the action of each delivery with a body. `delivery` is the
 *                           `sequence` of the delivery. See `EventIndex`.
 *
 * event_index_end           The `sequence` up to which deliveries are indexed.
 *
 * disorder                  The maximum time by which a delivery was received before an earlier one, if that was noticed: the clock was
 *                           set back, or a delivery was recovered. A search by time allows for it.
 */
export const currentTables = `
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    body TEXT,
    received_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    uncounted_attempts INTEGER NOT NULL DEFAULT 0,
    replay_requested INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    process_id TEXT,
    scheduled_at INTEGER NOT NULL,
    finished_at INTEGER,
    started_at INTEGER,
    crashes INTEGER NOT NULL DEFAULT 0,
    uncounted_crashes INTEGER NOT NULL DEFAULT 0,
    headers TEXT,
    replay_of TEXT
  ) STRICT;
  ${idIndex}
  CREATE INDEX deliveries_queued ON deliveries (endpoint, due_at) WHERE status = 'queued' AND crashes = 0;
  CREATE INDEX deliveries_suspect ON deliveries (endpoint, due_at) WHERE status = 'queued' AND crashes > 0;
  CREATE INDEX deliveries_running ON deliveries (status, endpoint) WHERE status = 'running';
  CREATE INDEX deliveries_by_status ON deliveries (status, endpoint) WHERE status NOT IN ('queued', 'running');
  CREATE INDEX deliveries_finished ON deliveries (endpoint, finished_at)
    WHERE finished_at IS NOT NULL AND body IS NOT NULL;
  CREATE INDEX deliveries_emptied ON deliveries (endpoint, finished_at)
    WHERE finished_at IS NOT NULL AND body IS NULL;
  CREATE TABLE attempts (
    delivery INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    message TEXT,
    details TEXT,
    PRIMARY KEY (delivery, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE paused_endpoints (
    endpoint TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID;
  ${totalsTable}
  ${movedTrigger}
  CREATE TABLE processes (
    process_id TEXT PRIMARY KEY,
    heartbeats INTEGER NOT NULL,
    last_heartbeat_at INTEGER,
    running_when_gone INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE endpoints (
    endpoint TEXT PRIMARY KEY,
    retention_ms INTEGER NOT NULL,
    ids_kept_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  ${logTables}
  ${ownActionsTable}
  ${cursorTables}
  ${eventIndexTables}
  ${disorderTable}
`;

/**
 * Each migration updates a file to the next schema version. Never change a released migration. Add a new migration instead,
 * and change `currentTables`.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    body TEXT,
    received_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    forgiven INTEGER NOT NULL DEFAULT 0,
    again INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    owner TEXT,
    set_at INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (endpoint, id)
  ) STRICT;
  CREATE INDEX deliveries_queued ON deliveries (endpoint, due_at) WHERE status = 'queued';
  CREATE INDEX deliveries_finished ON deliveries (endpoint, finished_at)
    WHERE finished_at IS NOT NULL AND body IS NOT NULL;
  CREATE INDEX deliveries_emptied ON deliveries (endpoint, finished_at)
    WHERE finished_at IS NOT NULL AND body IS NULL;
  CREATE INDEX deliveries_by_status ON deliveries (status, endpoint);
  CREATE TABLE attempts (
    delivery INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    message TEXT,
    PRIMARY KEY (delivery, number)
  ) STRICT, WITHOUT ROWID;
  ${totalsTable}
  CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries BEGIN
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_moved AFTER UPDATE OF status ON deliveries WHEN old.status <> new.status BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
`,
  "ALTER TABLE deliveries ADD COLUMN started_at INTEGER;",
  `
  ALTER TABLE deliveries ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE deliveries ADD COLUMN uncounted_crashes INTEGER NOT NULL DEFAULT 0;
  DROP INDEX deliveries_queued;
  CREATE INDEX deliveries_queued ON deliveries (endpoint, due_at) WHERE status = 'queued' AND crashes = 0;
  CREATE INDEX deliveries_suspect ON deliveries (endpoint, due_at) WHERE status = 'queued' AND crashes > 0;
  CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat INTEGER NOT NULL,
    beat_at INTEGER,
    running_at_death INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE endpoints (
    endpoint TEXT PRIMARY KEY,
    retention_ms INTEGER NOT NULL,
    ids_kept_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
  // Renames columns and tables. Does not change any rows.
  `
  ALTER TABLE deliveries RENAME COLUMN forgiven TO uncounted_attempts;
  ALTER TABLE deliveries RENAME COLUMN again TO replay_requested;
  ALTER TABLE deliveries RENAME COLUMN owner TO process_id;
  ALTER TABLE deliveries RENAME COLUMN set_at TO scheduled_at;
  ALTER TABLE owners RENAME TO processes;
  ALTER TABLE processes RENAME COLUMN owner TO process_id;
  ALTER TABLE processes RENAME COLUMN beat TO heartbeats;
  ALTER TABLE processes RENAME COLUMN beat_at TO last_heartbeat_at;
  ALTER TABLE processes RENAME COLUMN running_at_death TO running_when_gone;
`,
  ownActionsTable,
  logTables,
  `
  ALTER TABLE attempts ADD COLUMN details TEXT;
  ALTER TABLE deliveries ADD COLUMN headers TEXT;
  CREATE TABLE paused_endpoints (
    endpoint TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE failed_attempts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL
  ) STRICT;
`,
  "ALTER TABLE deliveries ADD COLUMN replay_of TEXT;",
  // These tables were used by a search index.
  "DROP TABLE failed_attempts; DROP TABLE identity;",
  "-- Deliveries and attempts can be `ignored`. An older release would show such deliveries as dead.",
  // A delivery enters the index by status only when it ends. See `totals` for the triggers.
  `
  DROP INDEX deliveries_by_status;
  CREATE INDEX deliveries_by_status ON deliveries (status, endpoint) WHERE status NOT IN ('queued', 'running');
  CREATE INDEX deliveries_running ON deliveries (status, endpoint) WHERE status = 'running';
  DROP TRIGGER deliveries_counted;
  DROP TRIGGER deliveries_moved;
  ${movedTrigger}
`,
  eventIndexTables,
  cursorTables,
  disorderTable,
  // The table keeps its constraint, because removing it would copy all deliveries.
  idIndex,
];

export const schemaVersion = migrations.length;

/** Counts all deliveries again, after changes that were not counted. Run these statements in a transaction. */
export const countAllSql = `
  DELETE FROM totals;
  INSERT INTO totals SELECT endpoint, status, count(*) FROM deliveries GROUP BY endpoint, status;
`;
