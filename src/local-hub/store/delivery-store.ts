import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";

/** The maximum number of attempts per webhook. Older attempts are deleted. */
export const maxKeptAttempts = 100;

/** A delivery that is waiting for its first attempt or a retry. */
export interface PendingDelivery {
  deliveryId: string;
  webhookId: string;
  /** The ID of the next attempt. */
  logId: string;
  /** The number of the next attempt, starting at 1. */
  attempt: number;
  dueAt: number;
  body: string;
}

export type ScheduledDelivery = Pick<PendingDelivery, "deliveryId" | "webhookId" | "dueAt">;

const attemptRecord = z.object({
  attempt: z.number(),
  at: z.string(),
  durationMs: z.number(),
  url: z.string(),
  status: z.number().nullable(),
  requestHeaders: z.record(z.string(), z.string()),
  response: z
    .object({ headers: z.record(z.string(), z.string()), body: z.string(), truncated: z.boolean() })
    .nullable(),
  error: z.string().nullable(),
});

export class DeliveryStore {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  putPending({ deliveryId, webhookId, logId, attempt, dueAt, body }: PendingDelivery): void {
    this.#statements.putPending.run(deliveryId, webhookId, logId, attempt, dueAt, body);
  }

  getPending(deliveryId: string): PendingDelivery | undefined {
    const row = this.#statements.getPending.get(deliveryId);
    return row && toPending(row);
  }

  hasPending(): boolean {
    return this.#statements.anyPending.get() !== undefined;
  }

  /** Returns all pending deliveries, next due first. */
  allScheduled(): ScheduledDelivery[] {
    return this.#statements.allScheduled.all().map((row) => {
      return { deliveryId: String(row.delivery_id), webhookId: String(row.webhook_id), dueAt: Number(row.due_at) };
    });
  }

  pendingOf(webhookId: string): string[] {
    return this.#statements.pendingOf.all(webhookId).map((row) => String(row.delivery_id));
  }

  deletePending(deliveryId: string): void {
    this.#statements.deletePending.run(deliveryId);
  }

  /** Adds an attempt, and deletes the webhook's oldest attempts beyond the limit. */
  addAttempt(webhookId: string, { logId, deliveryId, request, ...attempt }: HubDeliveryAttempt): void {
    const record = JSON.stringify({ ...attempt, requestHeaders: request.headers });
    this.#statements.addAttempt.run(logId, deliveryId, webhookId, record, request.body);
    this.#statements.deleteOldAttempts.run(webhookId, webhookId, maxKeptAttempts);
  }

  attempts(webhookId: string, { limit = maxKeptAttempts }: { limit?: number } = {}): HubDeliveryAttempt[] {
    return this.#statements.attempts.all(webhookId, limit).map(toAttempt);
  }

  countAttempts(webhookId: string): number {
    return Number(this.#statements.countAttempts.get(webhookId)?.count);
  }

  attempt(webhookId: string, logId: string): HubDeliveryAttempt | undefined {
    const row = this.#statements.attempt.get(logId, webhookId);
    return row && toAttempt(row);
  }

  /** Returns a delivery's latest attempt, or `undefined` before the first attempt. */
  latestAttempt(deliveryId: string): HubDeliveryAttempt | undefined {
    const row = this.#statements.latestAttempt.get(deliveryId);
    return row && toAttempt(row);
  }

  deleteAttempts(webhookId: string): void {
    this.#database.prepare("DELETE FROM attempts WHERE webhook_id = ?").run(webhookId);
  }

  clear(): void {
    this.#database.exec("DELETE FROM pending; DELETE FROM attempts");
  }
}

function prepareStatements(database: DatabaseSync) {
  return {
    putPending: database.prepare(
      "INSERT OR REPLACE INTO pending (delivery_id, webhook_id, log_id, attempt, due_at, body) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    getPending: database.prepare("SELECT * FROM pending WHERE delivery_id = ?"),
    anyPending: database.prepare("SELECT 1 FROM pending LIMIT 1"),
    allScheduled: database.prepare("SELECT delivery_id, webhook_id, due_at FROM pending ORDER BY due_at"),
    pendingOf: database.prepare("SELECT delivery_id FROM pending WHERE webhook_id = ?"),
    deletePending: database.prepare("DELETE FROM pending WHERE delivery_id = ?"),
    addAttempt: database.prepare(
      "INSERT INTO attempts (log_id, delivery_id, webhook_id, record, body) VALUES (?, ?, ?, ?, ?)",
    ),
    deleteOldAttempts: database.prepare(
      `DELETE FROM attempts WHERE webhook_id = ? AND sequence <=
        (SELECT sequence FROM attempts WHERE webhook_id = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?)`,
    ),
    attempts: database.prepare("SELECT * FROM attempts WHERE webhook_id = ? ORDER BY sequence DESC LIMIT ?"),
    countAttempts: database.prepare("SELECT count(*) AS count FROM attempts WHERE webhook_id = ?"),
    attempt: database.prepare("SELECT * FROM attempts WHERE log_id = ? AND webhook_id = ?"),
    latestAttempt: database.prepare("SELECT * FROM attempts WHERE delivery_id = ? ORDER BY sequence DESC LIMIT 1"),
  };
}

type Row = Record<string, unknown>;

function toPending(row: Row): PendingDelivery {
  return {
    deliveryId: String(row.delivery_id),
    webhookId: String(row.webhook_id),
    logId: String(row.log_id),
    attempt: Number(row.attempt),
    dueAt: Number(row.due_at),
    body: String(row.body),
  };
}

function toAttempt(row: Row): HubDeliveryAttempt {
  const { requestHeaders, ...record } = attemptRecord.parse(JSON.parse(String(row.record)));
  return {
    logId: String(row.log_id),
    deliveryId: String(row.delivery_id),
    ...record,
    request: { headers: requestHeaders, body: String(row.body) },
  };
}
