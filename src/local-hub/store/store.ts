import type { DatabaseSync } from "node:sqlite";
import { AuditLogStore } from "./audit-log-store.ts";
import { openDatabase, stateUnusable } from "./database.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { JobStore } from "./job-store.ts";
import { openRecords } from "./records.ts";
import { RepositoryStore } from "./repository-store.ts";
import { WebhookStore } from "./webhook-store.ts";

/** Everything that a local Hub knows, in memory or in a SQLite file. */
export interface Store extends ReturnType<typeof openRecords> {
  webhooks: WebhookStore;
  repositories: RepositoryStore;
  deliveries: DeliveryStore;
  jobs: JobStore;
  auditLog: AuditLogStore;
  /** Runs `change` so that all of what it writes is there after a crash, or none. */
  atOnce<Result>(change: () => Result): Result;
  /** Forgets everything. */
  clear(): void;
  close(): void;
}

/**
 * Opens the store of a local Hub: in memory where no `file` is given.
 *
 * @throws `STATE_UNUSABLE`.
 */
export function openStore({ file }: { file?: string | undefined }): Store {
  const database = openDatabase(file);
  try {
    return storeOn(database);
  } catch (error) {
    database.close();
    // A record in it that no release has written.
    throw stateUnusable(file ?? ":memory:", error);
  }
}

function storeOn(database: DatabaseSync): Store {
  const webhooks = new WebhookStore(database);
  const repositories = new RepositoryStore(database);
  const deliveries = new DeliveryStore(database);
  const jobs = new JobStore(database);
  // What cannot be read is told now, when nobody relies on it yet.
  jobs.all();
  const store: Store = {
    webhooks,
    repositories,
    deliveries,
    jobs,
    auditLog: new AuditLogStore(database),
    ...openRecords(database),
    atOnce(change) {
      database.exec("BEGIN");
      try {
        const result = change();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        database.exec("ROLLBACK");
        webhooks.reload();
        throw error;
      }
    },
    clear() {
      store.atOnce(() => {
        for (const part of [webhooks, repositories, deliveries, jobs]) part.clear();
        database.exec("DELETE FROM records; DELETE FROM audit_log");
      });
    },
    close: () => database.close(),
  };
  return store;
}
