import { describeError } from "../core/describe-error.ts";
import type { WebhookError } from "../core/errors.ts";

/**
 * Where a delivery is on its way: waiting for an attempt, in one, done, or given up after its last attempt. What is
 * dead is kept and can be replayed.
 */
export type DeliveryStatus = "queued" | "running" | "succeeded" | "dead";

/** One run of the handler on a delivery. */
export interface DeliveryAttempt {
  /** From 1. */
  number: number;
  /** Absent where the process was killed and the engine has not kept it (Redis, PostgreSQL). */
  startedAt?: Date;
  /** Absent likewise; where the process was killed, until its last sign of life. */
  durationMs?: number;
  /** `abandoned`: the process ended, or was told to, before the handler was done. */
  outcome: "succeeded" | "failed" | "abandoned";
  /** Code and message of the error, where it failed. */
  error?: { code: string; message: string };
}

/** An attempt of which both is known. */
export type TimedAttempt = DeliveryAttempt & { startedAt: Date; durationMs: number };

/** A delivery in the inbox. */
export interface StoredDelivery {
  id: string;
  endpoint: string;
  status: DeliveryStatus;
  receivedAt: Date;
  /** When its next attempt is due; of a queued one. */
  dueAt?: Date;
  /** When the attempt began that is running. */
  startedAt?: Date;
  /** When it succeeded or died. */
  finishedAt?: Date;
  /** The body as it arrived; absent once its retention is over, when only its id is kept to know a duplicate. */
  body?: string;
  attempts: readonly DeliveryAttempt[];
}

/** What is noted of an attempt that a shutdown cut short: it does not count. */
export const closingError = { code: "CLOSING", message: "The receiver was shut down." };

/** What is noted of an attempt of which nobody has told the end. */
export const abandonedError = {
  code: "ABANDONED",
  message: "The process that worked on it has ended, or was too slow to say that it goes on.",
};

const maxMessageLength = 2_000;

/** What is stored of an error: the message of its cause, which only the owner gets to see. */
export function storedError({ code, cause, message }: WebhookError): { code: string; message: string } {
  return { code, message: (cause === undefined ? message : describeError(cause).message).slice(0, maxMessageLength) };
}
