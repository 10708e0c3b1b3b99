import { decodeDetails, encodeDetails } from "../attempt-details.ts";
import type { DeliveryAttempt } from "../inbox.ts";
import type { Statements } from "./statements.ts";

/** An attempt with its start time and duration, which SQLite always stores. */
export type TimedAttempt = DeliveryAttempt & { startedAt: Date; durationMs: number };

/** Reads and writes finished attempts. `sequence` identifies the delivery. */
export class AttemptTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Returns a delivery's attempts without details, sorted by number. */
  list(sequence: number): DeliveryAttempt[] {
    return this.#statements.attempts.all(sequence).map(toAttempt);
  }

  /** Returns a delivery's attempts with details, sorted by number. */
  listWithDetails(sequence: number): DeliveryAttempt[] {
    return this.#statements.attemptsWithDetails.all(sequence).map((row) => {
      const details = typeof row.details === "string" ? decodeDetails(row.details) : undefined;
      return { ...toAttempt(row), ...(details && { details }) };
    });
  }

  /** Whether this attempt is stored with the same start time, duration, outcome, and error code. */
  has(sequence: number, { number, startedAt, durationMs, outcome, error }: TimedAttempt): boolean {
    const stored = this.#statements.attempt.get(sequence, number);
    return (
      stored?.started_at === startedAt.getTime() &&
      stored.duration_ms === toStoredDuration(durationMs) &&
      stored.outcome === outcome &&
      stored.code === (error?.code ?? null)
    );
  }

  /** Stores an attempt. Replaces an attempt with the same number. */
  add(sequence: number, { number, startedAt, durationMs, outcome, error, details }: TimedAttempt): void {
    const { code = null, message = null } = error ?? {};
    this.#statements.addAttempt.run(
      sequence,
      number,
      startedAt.getTime(),
      toStoredDuration(durationMs),
      outcome,
      code,
      message,
      encodeDetails(details) ?? null,
    );
    if (error) this.#statements.addFailedAttempt.run(sequence);
  }
}

function toStoredDuration(durationMs: number): number {
  return Math.max(0, Math.round(durationMs));
}

const outcomes = ["succeeded", "failed", "abandoned"] as const;

function toAttempt(row: Record<string, unknown>): DeliveryAttempt {
  return {
    number: Number(row.number),
    startedAt: new Date(Number(row.started_at)),
    durationMs: Number(row.duration_ms),
    outcome: outcomes.find((known) => known === row.outcome) ?? "failed",
    ...(row.code !== null && { error: { code: String(row.code), message: String(row.message) } }),
  };
}
