import { createHash } from "node:crypto";
import type { Job } from "bullmq";
import { z } from "zod";
import type { Arrival } from "../inbox.ts";
import type { DeliveryAttempt, DeliveryStatus, StoredDelivery } from "../stored-delivery.ts";

/** A delivery as the data of a job. */
export const jobDataSchema = z.object({
  id: z.string(),
  /** Absent once its retention is over. */
  body: z.string().optional(),
  /** In place of `body` where PostgreSQL could not keep it as text. */
  base64: z.string().optional(),
});

/** A delivery as the data of a job. */
export type JobData = z.infer<typeof jobDataSchema>;

/** A job of BullMQ that holds a delivery. */
export type DeliveryJob = Job<JobData, undefined, string>;

const attemptSchema = z.object({
  number: z.number(),
  startedAt: z.coerce.date().optional(),
  durationMs: z.number().optional(),
  outcome: z.enum(["succeeded", "failed", "abandoned"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Whether it uses up one of the attempts that a delivery has. */
  counts: z.boolean(),
  /** When the next attempt is due, where there is one. */
  dueAt: z.coerce.date().optional(),
});

/** From here on a delivery has all its attempts anew; it had been begun with so many times. */
const replayedSchema = z.object({ replayedAfter: z.number() });
/** BullMQ has begun with it, only to hear that its attempts are used up, or that the receiver is shutting down. */
const passedSchema = z.object({ passed: z.literal(true) });
const rowSchema = z.union([attemptSchema, replayedSchema, passedSchema]);

/** What has happened to a delivery, oldest first: the log of its job. */
export type JobHistory = readonly z.infer<typeof rowSchema>[];

/** BullMQ refuses integers and colons in the id of a job, and an id of the Hub's may be either. */
export function jobIdOf(deliveryId: string): string {
  return `d${createHash("sha256").update(deliveryId).digest("hex")}`;
}

/** PostgreSQL's jsonb has no room for NUL and for half a character. */
export function toJobData({ id, body }: Arrival): JobData {
  const fitsJsonb = !body.includes("\u0000") && body.isWellFormed();
  return fitsJsonb ? { id, body } : { id, base64: Buffer.from(body, "utf16le").toString("base64") };
}

/** The body exactly as it arrived; `undefined` when it is not kept any more. */
export function bodyOf({ body, base64 }: JobData): string | undefined {
  return base64 === undefined ? body : Buffer.from(base64, "base64").toString("utf16le");
}

/** Writes an attempt as a row of a job's log. */
export function attemptRow({
  attempt,
  ...rest
}: {
  attempt: DeliveryAttempt;
  counts: boolean;
  dueAt?: Date | undefined;
}): string {
  const { durationMs } = attempt;
  return JSON.stringify({
    ...attempt,
    ...(durationMs !== undefined && { durationMs: Math.max(0, Math.round(durationMs)) }),
    ...rest,
  });
}

/** Writes that a delivery was replayed as a row of a job's log. */
export function replayedRow({ attemptsStarted }: DeliveryJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

/** Writes that no handler was run, although BullMQ counts an attempt, as a row of a job's log. */
export const passedRow = JSON.stringify({ passed: true });

/** Reads the log of a job; a row that another release has written, and this one does not know, is passed over. */
export function readHistory(rows: readonly string[]): JobHistory {
  return rows.flatMap((row) => {
    const { success, data } = rowSchema.safeParse(parse(row));
    return success ? [data] : [];
  });
}

function parse(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    return undefined;
  }
}

/** The attempts of a delivery, by number; the first word on each is the one that holds. */
export function attemptsIn(history: JobHistory): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const row of history) {
    if (!("number" in row) || attempts.has(row.number)) continue;
    const { number, startedAt, durationMs, outcome, error } = row;
    attempts.set(number, {
      number,
      ...(startedAt && { startedAt }),
      ...(durationMs !== undefined && { durationMs }),
      outcome,
      ...(error && { error }),
    });
  }
  return [...attempts.values()].sort((one, other) => one.number - other.number);
}

/** How many times BullMQ has begun with a delivery, by what its log tells. */
export function startsIn(history: JobHistory): number {
  return attemptsIn(history).length + history.filter((row) => "passed" in row).length;
}

/** Whether a replay was asked for since BullMQ began with a delivery for the last time. */
export function wasReplayed(history: JobHistory, { attemptsStarted }: DeliveryJob): boolean {
  return history.some((row) => "replayedAfter" in row && row.replayedAfter >= attemptsStarted);
}

/** How many attempts a delivery has used up since it came or was replayed. */
export function countedAttempts(history: JobHistory): number {
  const since = history.slice(history.findLastIndex((row) => "replayedAfter" in row) + 1);
  return new Set(since.flatMap((row) => ("counts" in row && row.counts ? [row.number] : []))).size;
}

/** A job as the delivery that it holds. */
export function toStoredDelivery({
  job,
  endpoint,
  status,
  history,
}: {
  job: DeliveryJob;
  endpoint: string;
  status: DeliveryStatus;
  history: JobHistory;
}): StoredDelivery {
  const body = bodyOf(job.data);
  return {
    id: job.data.id,
    endpoint,
    status,
    receivedAt: new Date(job.timestamp),
    ...(status === "queued" && { dueAt: dueAt(job, history) }),
    ...(status === "running" && job.processedOn !== undefined && { startedAt: new Date(job.processedOn) }),
    ...((status === "succeeded" || status === "dead") &&
      job.finishedOn !== undefined && { finishedAt: new Date(job.finishedOn) }),
    ...(body !== undefined && { body }),
    attempts: attemptsIn(history),
  };
}

/** What does not wait for another attempt is due since it came. */
function dueAt({ timestamp, delay }: DeliveryJob, history: JobHistory): Date {
  const last = history.at(-1);
  const next = last && "dueAt" in last ? last.dueAt : undefined;
  return (delay > 0 ? next : undefined) ?? new Date(timestamp);
}
