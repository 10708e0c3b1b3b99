import { createHash } from "node:crypto";
import type { Job } from "bullmq";
import * as z from "zod";
import type { DeliveryStatus, IncomingDelivery, StoredDelivery } from "../inbox.ts";
import { attemptsIn, type JobHistory, replayedRow } from "./job-history.ts";

/** A delivery as the data of a job. */
export const jobDataSchema = z.object({
  id: z.string(),
  /** Absent once its retention is over. */
  body: z.string().optional(),
  /** In place of `body` where PostgreSQL could not keep it as text. */
  base64: z.string().optional(),
  /** In the registry of endpoints: how long finished deliveries are kept, in milliseconds. */
  retentionMs: z.number().optional(),
  /** Likewise: how long their ids are kept. */
  idsKeptMs: z.number().optional(),
});

/** A delivery as the data of a job. */
export type JobData = z.infer<typeof jobDataSchema>;

/** A job of BullMQ that holds a delivery. */
export type DeliveryJob = Job<JobData, undefined, string>;

/** BullMQ refuses integers and colons in the id of a job, and an id of the Hub's may be either. */
export function jobIdOf(deliveryId: string): string {
  return `d${createHash("sha256").update(deliveryId).digest("hex")}`;
}

/** PostgreSQL's jsonb has no room for NUL and for half a character. */
export function toJobData({ id, body }: IncomingDelivery): JobData {
  const fitsJsonb = !body.includes("\u0000") && body.isWellFormed();
  return fitsJsonb ? { id, body } : { id, base64: Buffer.from(body, "utf16le").toString("base64") };
}

/** The body exactly as it arrived; `undefined` when it is not kept any more. */
export function bodyOf({ body, base64 }: JobData): string | undefined {
  return base64 === undefined ? body : Buffer.from(base64, "base64").toString("utf16le");
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

/** A delivery that waits for no other attempt has been due since it arrived. */
function dueAt({ timestamp, delay }: DeliveryJob, history: JobHistory): Date {
  const next = history.flatMap((row) => ("dueAt" in row && row.dueAt ? [row.dueAt] : [])).at(-1);
  return (delay > 0 ? next : undefined) ?? new Date(timestamp);
}

/** Moves a finished job back into the queue, and notes the replay. Returns whether it was still in that state. */
export async function retryFinished(job: DeliveryJob, state: "failed" | "completed"): Promise<boolean> {
  await job.log(replayedRow(job));
  try {
    await job.retry(state);
    return true;
  } catch (error) {
    // Another process was faster.
    if ((await job.getState()) !== state) return false;
    throw error;
  }
}
