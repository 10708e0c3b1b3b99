import type { DatabaseSync, StatementSync } from "node:sqlite";
import * as z from "zod";
import { maskUrl } from "../../core/urls.ts";
import { suspendedAfterFailure, webhookRequest } from "../../hub/webhooks/schemas.ts";

const record = z.object({
  id: z.string(),
  owner: z.string(),
  /** The latest create or update request. */
  definition: webhookRequest,
  disabled: z.union([z.boolean(), z.literal(suspendedAfterFailure)]),
  lastTriggerAt: z.number().optional(),
  failures: z.number(),
  /** The time of the first trigger in the current 24 hours, in milliseconds since the epoch. */
  dayBeganAt: z.number(),
  triggersToday: z.number(),
});

export type StoredWebhook = z.output<typeof record>;

/** Stores the webhooks. Caches all webhooks in memory, because each event reads all webhooks. */
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

  /** Reloads the cache from the database, for example after a rollback. */
  reload(): void {
    this.#webhooks.clear();
    for (const row of this.#database.prepare("SELECT record FROM webhooks ORDER BY sequence").all()) {
      const webhook = record.parse(JSON.parse(String(row.record)));
      this.#webhooks.set(webhook.id, webhook);
    }
  }

  all(): readonly StoredWebhook[] {
    return [...this.#webhooks.values()];
  }

  get(id: string): StoredWebhook | undefined {
    return this.#webhooks.get(id);
  }

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

/** `disabled`: by a user. `suspended`: after failures. */
export function webhookState({ disabled }: StoredWebhook): "enabled" | "disabled" | "suspended" {
  if (disabled === suspendedAfterFailure) return "suspended";
  return disabled ? "disabled" : "enabled";
}

/** Returns the target URL with masked secrets, or, for a job, the URL at which the local Hub lists jobs. */
export function maskedTargetUrl({ definition }: StoredWebhook, { hubUrl }: { hubUrl: string }): string {
  return definition.url === undefined ? `${hubUrl}/_local/jobs` : maskUrl(definition.url);
}
