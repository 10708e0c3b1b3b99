import type { DatabaseSync, StatementSync } from "node:sqlite";
import * as z from "zod";
import { suspendedAfterFailure, webhookRequest } from "../../hub/webhooks/schemas.ts";

const record = z.object({
  id: z.string(),
  /** The name of the user to whom it belongs. */
  owner: z.string(),
  /** What create or update was given. */
  definition: webhookRequest,
  disabled: z.union([z.boolean(), z.literal(suspendedAfterFailure)]),
  /** Milliseconds since the epoch. */
  lastTriggerAt: z.number().optional(),
  /** Deliveries that failed in a row, each with all its attempts. */
  failures: z.number(),
  /** What was triggered since the day began, which is counted from the first trigger (ms since the epoch). */
  dayBeganAt: z.number(),
  triggersToday: z.number(),
});

/** A webhook, with what only the Hub knows of it. */
export type StoredWebhook = z.output<typeof record>;

/** The webhooks of a local Hub. They are few and looked through at each event, so they are kept parsed. */
export class WebhookStore {
  readonly #database: DatabaseSync;
  readonly #putStatement: StatementSync;
  readonly #webhooks = new Map<string, StoredWebhook>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#putStatement = database.prepare(
      "INSERT INTO webhooks (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
    );
    this.reload();
  }

  /** Reads all of them again: after a rollback the database no longer has what is kept here. */
  reload(): void {
    this.#webhooks.clear();
    for (const row of this.#database.prepare("SELECT record FROM webhooks ORDER BY sequence").all()) {
      const webhook = record.parse(JSON.parse(String(row.record)));
      this.#webhooks.set(webhook.id, webhook);
    }
  }

  /** All of them, oldest first. */
  all(): readonly StoredWebhook[] {
    return [...this.#webhooks.values()];
  }

  get(id: string): StoredWebhook | undefined {
    return this.#webhooks.get(id);
  }

  /** Adds it, or writes over the one of the same id. */
  put(webhook: StoredWebhook): void {
    this.#putStatement.run(webhook.id, JSON.stringify(webhook));
    this.#webhooks.set(webhook.id, webhook);
  }

  delete(id: string): void {
    this.#database.prepare("DELETE FROM webhooks WHERE id = ?").run(id);
    this.#webhooks.delete(id);
  }

  clear(): void {
    this.#database.exec("DELETE FROM webhooks");
    this.#webhooks.clear();
  }
}
