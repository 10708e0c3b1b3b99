import { constants, type DatabaseSync } from "node:sqlite";

/**
 * Applies the changes of a record. The database must have no triggers (see {@link dropTriggers}), because the changes contain what
 * the triggers did. Returns whether all changes were applied. If not, the database is unchanged.
 */
export function applyChanges(database: DatabaseSync, changes: Uint8Array): boolean {
  if (changes.length === 0) return true;
  return database.applyChangeset(changes, { onConflict: () => constants.SQLITE_CHANGESET_ABORT });
}

/**
 * Applies as many changes as possible to a database that lacks earlier changes. Rows of the record replace other rows. Changes of
 * missing rows are skipped.
 */
export function applyPossibleChanges(database: DatabaseSync, changes: Uint8Array): void {
  if (changes.length === 0) return;
  const { SQLITE_CHANGESET_DATA, SQLITE_CHANGESET_CONFLICT } = constants;
  database.applyChangeset(changes, {
    onConflict: (kind) =>
      kind === SQLITE_CHANGESET_DATA || kind === SQLITE_CHANGESET_CONFLICT
        ? constants.SQLITE_CHANGESET_REPLACE
        : constants.SQLITE_CHANGESET_OMIT,
  });
}

/** Drops all triggers. Returns a function that creates them again. */
export function dropTriggers(database: DatabaseSync): () => void {
  const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`);
  return () => {
    for (const { sql } of triggers) database.exec(String(sql));
  };
}
