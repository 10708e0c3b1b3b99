/** Each migrates a file to the next version. Never change a released migration: add another one. */
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
  CREATE TABLE totals (
    endpoint TEXT NOT NULL,
    status TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (endpoint, status)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries BEGIN
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_moved AFTER UPDATE OF status ON deliveries WHEN old.status <> new.status BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    INSERT INTO totals VALUES (new.endpoint, new.status, 1)
      ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_forgotten AFTER DELETE ON deliveries BEGIN
    UPDATE totals SET deliveries = deliveries - 1 WHERE endpoint = old.endpoint AND status = old.status;
    DELETE FROM attempts WHERE delivery = old.sequence;
  END;
`,
  // When the running attempt started, so that an attempt ended by a crash is recorded with its start.
  "ALTER TABLE deliveries ADD COLUMN started_at INTEGER;",
  // `crashes`: crashes in a row while it was running; above 0 the delivery is a suspect and runs alone.
  // `uncounted_crashes`: crashes beside others, which used up no attempt.
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
];

/** The current schema version. */
export const schemaVersion = migrations.length;
