import { createHash } from "node:crypto";
import type { Job } from "bullmq";
import * as z from "zod";
import type { DeliveryStatus, IncomingDelivery, StoredDelivery } from "../inbox.ts";
import { attemptsIn, type JobHistory, replayedRow } from "./job-history.ts";

/** The data of a job: a delivery, or an endpoint in `StoredEndpoints`. */
export const jobDataSchema = z.object({
  id: z.string(),
  /** Missing after the retention. */
  body: z.string().optional(),
  /** Replaces `body` if PostgreSQL cannot store it as text: UTF-16 in Base64. */
  base64: z.string().optional(),
  /** Only of an endpoint: how long finished deliveries are kept, in milliseconds. */
  retentionMs: z.number().optional(),
  /** Only of an endpoint: how long IDs are kept, in milliseconds. */
  idsKeptMs: z.number().optional(),
});

export type JobData = z.infer<typeof jobDataSchema>;

/** A BullMQ job with a delivery. */
export type DeliveryJob = Job<JobData, undefined, string>;

/** A hash of the ID: BullMQ rejects job IDs that are integers or contain colons, which delivery IDs may be. */
export function jobIdOf(deliveryId: string): string {
  return `d${createHash("sha256").update(deliveryId).digest("hex")}`;
}

/** Encodes bodies that the `jsonb` of PostgreSQL cannot store: with NUL or a lone surrogate. */
export function toJobData({ id, body }: IncomingDelivery): JobData {
  const fitsJsonb = !body.includes("\u0000") && body.isWellFormed();
  return fitsJsonb ? { id, body } : { id, base64: Buffer.from(body, "utf16le").toString("base64") };
}

/** The body exactly as it was received; `undefined` after the retention. */
export function bodyOf({ body, base64 }: JobData): string | undefined {
  return base64 === undefined ? body : Buffer.from(base64, "base64").toString("utf16le");
}

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

/** The time of the next attempt. The first attempt is due when the delivery is received. */
function dueAt({ timestamp, delay }: DeliveryJob, history: JobHistory): Date {
  const next = history.flatMap((row) => ("dueAt" in row && row.dueAt ? [row.dueAt] : [])).at(-1);
  return (delay > 0 ? next : undefined) ?? new Date(timestamp);
}

/** Queues a finished job again, and records the replay. Returns whether it was still in that state. */
export async function retryFinished(job: DeliveryJob, state: "failed" | "completed"): Promise<boolean> {
  await job.log(replayedRow(job));
  try {
    await job.retry(state);
    return true;
  } catch (error) {
    // Another process may have replayed it first.
    if ((await job.getState()) !== state) return false;
    throw error;
  }
}
