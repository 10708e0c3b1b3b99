import type { DatabaseSync } from "node:sqlite";
import { ContentStore } from "../git/content-store.ts";
import { AuditLogStore } from "./audit-log-store.ts";
import { openDatabase, stateUnusable } from "./database.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { DiscussionStore } from "./discussion-store.ts";
import { EventStore } from "./event-store.ts";
import { JobStore } from "./job-store.ts";
import { ObjectStore } from "./object-store.ts";
import { openRecords } from "./records.ts";
import { RepositoryStore } from "./repository-store.ts";
import { WebhookStore } from "./webhook-store.ts";

/** The data of a local Hub, in memory or in a SQLite file. */
export interface Store extends ReturnType<typeof openRecords> {
  webhooks: WebhookStore;
  repositories: RepositoryStore;
  /** The commits and files of the repositories. */
  content: ContentStore;
  /** The objects of buckets. */
  objects: ObjectStore;
  discussions: DiscussionStore;
  deliveries: DeliveryStore;
  /** The latest events. */
  events: EventStore;
  jobs: JobStore;
  auditLog: AuditLogStore;
  /** Reports the tables whose rows change, even if the change is rolled back later. `onChange` must not use the store. */
  watch(onChange: Listener): void;
  /**
   * Runs `change` in a transaction. Rolls back the transaction and rethrows the error if `change` throws. A transaction within a
   * transaction is rolled back alone, and committed together with the outer transaction. After a call of `rollBack`, the
   * transaction is rolled back when `change` returns.
   */
  transaction<Result>(change: (rollBack: () => void) => Result): Result;
  /**
   * Runs `task` after the current transaction is committed, or now if there is none. Does nothing if the transaction is rolled back.
   * Use it for effects outside the database.
   */
  afterCommit(task: () => void): void;
  clear(): void;
  /** Returns the database, or `undefined` if this version of Node cannot serialize it. */
  serialize(): Uint8Array | undefined;
  close(): void;
}

/** `image` is the content of a store in memory. @throws `LOCAL_HUB_STATE_UNUSABLE` if the file cannot be used. */
export function openStore({ file, image }: { file?: string | undefined; image?: Uint8Array | undefined }): Store {
  const database = openDatabase(file, image);
  try {
    return createStore(database, file);
  } catch (error) {
    database.close();
    // The file contains a record that is not valid in this version.
    throw stateUnusable(file ?? ":memory:", error);
  }
}

function createStore(database: DatabaseSync, file: string | undefined): Store {
  const webhooks = new WebhookStore(database);
  const repositories = new RepositoryStore(database);
  const content = new ContentStore(database, { folder: file === undefined ? undefined : `${file}.files` });
  const objects = new ObjectStore(database, { folder: file === undefined ? undefined : `${file}.objects` });
  const discussions = new DiscussionStore(database);
  const deliveries = new DeliveryStore(database);
  const watcher = createWatcher(database);
  const events = new EventStore(database);
  const jobs = new JobStore(database);
  // Read all jobs, so that an unreadable job makes `openStore` fail instead of a later read.
  jobs.all();
  const tables = { webhooks, repositories, content, objects, discussions, deliveries, events, jobs };
  // Prepared, because `exec` would parse the statements for each of several transactions per event.
  const outer = {
    begin: database.prepare("BEGIN"),
    end: database.prepare("COMMIT"),
    rollBack: [database.prepare("ROLLBACK")],
  };
  const nested = {
    begin: database.prepare("SAVEPOINT nested"),
    end: database.prepare("RELEASE nested"),
    rollBack: [database.prepare("ROLLBACK TO nested"), database.prepare("RELEASE nested")],
  };
  /** Tasks for the end of the current transaction. */
  const tasks: (() => void)[] = [];
  function transaction<Result>(change: (rollBack: () => void) => Result): Result {
    const isNested = database.isTransaction;
    const statements = isNested ? nested : outer;
    const earlierTasks = tasks.length;
    const rollBack = () => {
      tasks.length = earlierTasks;
      // SQLite itself rolls back if the disk is full.
      if (database.isTransaction) for (const statement of statements.rollBack) statement.run();
      webhooks.reload();
      content.reload();
    };
    let isRolledBack = false;
    statements.begin.run();
    try {
      const result = change(() => {
        isRolledBack = true;
      });
      if (isRolledBack) rollBack();
      else statements.end.run();
      if (!isNested) for (const task of tasks.splice(0)) task();
      return result;
    } catch (error) {
      rollBack();
      throw error;
    }
  }
  function afterCommit(task: () => void): void {
    if (database.isTransaction) tasks.push(task);
    else task();
  }
  return {
    ...tables,
    auditLog: new AuditLogStore(database),
    ...openRecords(database),
    watch: (onChange) => watcher.add(onChange),
    transaction,
    afterCommit,
    clear() {
      transaction(() => {
        for (const table of Object.values(tables)) table.clear();
        database.exec("DELETE FROM records; DELETE FROM audit_log");
        watcher.notifyAll();
        afterCommit(() => {
          content.clearFiles();
          objects.clearFiles();
        });
      });
    },
    serialize: () => ("serialize" in database ? database.serialize() : undefined),
    close() {
      database.close();
      content.close();
      objects.close();
    },
  };
}

const all = ["INSERT", "UPDATE", "DELETE"] as const;

/** Rows of the first three tables are deleted together with a change of another table, or because they are old. */
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

export type WatchedTable = keyof typeof watchedChanges;

const watchedTables = Object.keys(watchedChanges).filter((name): name is WatchedTable =>
  Object.hasOwn(watchedChanges, name),
);

type Listener = (table: WatchedTable) => void;

/**
 * Notices changes of tables, with temporary triggers. Calls of the stores would have to be noticed one by one, and the
 * triggers are not part of the state file. Without listeners, there are no triggers.
 */
function createWatcher(database: DatabaseSync) {
  const listeners: Listener[] = [];
  const notify = (table: WatchedTable) => {
    for (const listener of listeners) listener(table);
  };
  const createTriggers = (table: WatchedTable) => {
    const name = `notify_${table}`;
    database.function(name, () => {
      notify(table);
      return null;
    });
    for (const change of watchedChanges[table]) {
      database.exec(
        `CREATE TEMP TRIGGER watch_${table}_${change} AFTER ${change} ON main.${table} BEGIN SELECT ${name}(); END`,
      );
    }
  };
  return {
    /** Adds a listener. It runs within a statement, so it must not use the database. */
    add(listener: Listener): void {
      listeners.push(listener);
      if (listeners.length === 1) for (const table of watchedTables) createTriggers(table);
    },
    /** Reports that all tables were cleared. */
    notifyAll(): void {
      for (const table of watchedTables) notify(table);
    },
  };
}
