import type { DatabaseSync } from "node:sqlite";

const all = ["INSERT", "UPDATE", "DELETE"] as const;

/**
 * The changes that are watched, by table. Rows of the first three tables are deleted together with a change of another table, or
 * because they are old.
 */
const watchedChanges = {
  pending: ["INSERT"],
  attempts: ["INSERT"],
  events: ["INSERT"],
  webhooks: all,
  repositories: all,
  refs: all,
  discussions: all,
  discussion_events: all,
  jobs: all,
  job_logs: ["INSERT"],
} as const satisfies Record<string, readonly (typeof all)[number][]>;

/** A table whose changes can be watched. */
export type WatchedTable = keyof typeof watchedChanges;

const watchedTables = Object.keys(watchedChanges).filter((name): name is WatchedTable =>
  Object.hasOwn(watchedChanges, name),
);

type Listener = (table: WatchedTable) => void;

/**
 * Notices changes of tables, with temporary triggers. Calls of the stores would have to be noticed one by one, and the
 * triggers are not part of the state file. Without listeners, there are no triggers.
 */
export class TableWatcher {
  readonly #database: DatabaseSync;
  readonly #listeners: Listener[] = [];

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Adds a listener. It runs within a statement, so it must not use the database. */
  add(listener: Listener): void {
    this.#listeners.push(listener);
    if (this.#listeners.length === 1) this.#createTriggers();
  }

  /** Reports that all tables were cleared. */
  notifyAll(): void {
    for (const table of watchedTables) this.#notify(table);
  }

  #notify(table: WatchedTable): void {
    for (const listener of this.#listeners) listener(table);
  }

  #createTriggers(): void {
    for (const table of watchedTables) {
      const name = `notify_${table}`;
      this.#database.function(name, () => {
        this.#notify(table);
        return null;
      });
      for (const change of watchedChanges[table]) {
        this.#database.exec(
          `CREATE TEMP TRIGGER watch_${table}_${change} AFTER ${change} ON main.${table} BEGIN SELECT ${name}(); END`,
        );
      }
    }
  }
}
