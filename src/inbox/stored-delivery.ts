import type { WebhookError } from "../errors.ts";

/**
 * Where a delivery is on its way: waiting for an attempt, in one, done, or given up after its last attempt. What is
 * dead is kept and can be replayed.
 */
export type DeliveryStatus = "queued" | "running" | "succeeded" | "dead";

/** One run of the handler on a delivery. */
export interface DeliveryAttempt {
  /** From 1. */
  number: number;
  startedAt: Date;
  durationMs: number;
  /** `abandoned`: the process ended, or was told to, before the handler was done. */
  outcome: "succeeded" | "failed" | "abandoned";
  /** Code and message of the error, where it failed. */
  error?: { code: string; message: string };
}

/** A delivery in the inbox. */
export interface StoredDelivery {
  id: string;
  endpoint: string;
  status: DeliveryStatus;
  receivedAt: Date;
  /** When its next attempt is due; of a queued one. */
  dueAt?: Date;
  /** When it succeeded or died. */
  finishedAt?: Date;
  /** The body as it arrived; absent once its retention is over, when only its id is kept to know a duplicate. */
  body?: string;
  attempts: readonly DeliveryAttempt[];
}

const longestMessage = 2_000;

/** What is stored of an error: the handler's own words, which the owner alone gets to see. */
export function describeError({ code, cause, message }: WebhookError): { code: string; message: string } {
  return { code, message: (cause === undefined ? message : textOf(cause)).slice(0, longestMessage) };
}

/** A handler may throw anything: an error whose message is no text, an object that cannot be made one. */
function textOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause);
  } catch {
    return "What the handler threw cannot be told as text.";
  }
}
