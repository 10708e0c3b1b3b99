import type { DatabaseSync } from "node:sqlite";
import * as z from "zod/mini";

const keptEvents = 500;
/** Older events are deleted together, once per this number of events, because each deletion takes as long as an event. */
const deletionInterval = 50;

/** The maximum number of deliveries and of skipped webhooks that are stored with an event. */
const maxWebhooks = 100;

const storedEvent = z.object({
  id: z.string(),
  at: z.number(),
  scope: z.string(),
  action: z.string(),
  repo: z.object({ type: z.string(), name: z.string() }),
  user: z.string(),
  /** Whether only a payload was delivered, without a change. */
  isPayloadOnly: z.boolean(),
  deliveries: z.array(z.object({ webhookId: z.string(), deliveryId: z.string(), url: z.string() })),
  skipped: z.array(z.object({ webhookId: z.string(), url: z.string(), reason: z.string() })),
  /** The number of deliveries and skipped webhooks that are not stored. */
  unlisted: z.number(),
});

/** An event that happened, with the webhooks that watch its repository. */
export type StoredEvent = z.output<typeof storedEvent>;

export type ListedEvent = StoredEvent & { sequence: number };

export class EventStore {
  readonly #database: DatabaseSync;
  readonly #statements;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = {
      add: database.prepare("INSERT INTO events (id, record) VALUES (?, ?)"),
      deleteOld: database.prepare("DELETE FROM events WHERE sequence <= ?"),
      list: database.prepare("SELECT sequence, record FROM events WHERE sequence < ? ORDER BY sequence DESC LIMIT ?"),
      get: database.prepare("SELECT sequence, record FROM events WHERE id = ?"),
    };
  }

  /** Adds an event, and sometimes deletes the oldest events. */
  add({ deliveries, skipped, ...event }: Omit<StoredEvent, "unlisted">): void {
    const kept = { deliveries: deliveries.slice(0, maxWebhooks), skipped: skipped.slice(0, maxWebhooks) };
    const unlisted = deliveries.length - kept.deliveries.length + skipped.length - kept.skipped.length;
    const { lastInsertRowid } = this.#statements.add.run(event.id, JSON.stringify({ ...event, ...kept, unlisted }));
    const sequence = Number(lastInsertRowid);
    if (sequence % deletionInterval === 0) this.#statements.deleteOld.run(sequence - keptEvents);
  }

  /** Returns events, newest first. `before` is the sequence of the last event of the previous page. */
  list({ before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number }): ListedEvent[] {
    return this.#statements.list.all(before, limit).map(toListed);
  }

  get(id: string): ListedEvent | undefined {
    const row = this.#statements.get.get(id);
    return row && toListed(row);
  }

  clear(): void {
    this.#database.exec("DELETE FROM events");
  }
}

function toListed({ sequence, record }: Record<string, unknown>): ListedEvent {
  return { ...storedEvent.parse(JSON.parse(String(record))), sequence: Number(sequence) };
}
