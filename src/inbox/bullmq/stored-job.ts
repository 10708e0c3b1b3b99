import { createHash } from "node:crypto";
import type { Job } from "bullmq";
import * as z from "zod";
import type { DeliveryStatus, IncomingDelivery, StoredDelivery } from "../inbox.ts";
import { decodeHeaders, encodeHeaders } from "../recorded-headers.ts";
import { attemptsIn, type JobHistory, replayEntry } from "./job-history.ts";

/** The data of a job, which contains a delivery or, in the queue of `StoredEndpoints`, an endpoint. */
export const jobDataSchema = z.object({
  /** The ID of the delivery, or the name of the endpoint. */
  id: z.string(),
  /** Missing after the retention period. */
  body: z.string().optional(),
  /** Replaces a `body` that PostgreSQL cannot store as text. Contains the UTF-16 code units of the body in Base64. */
  base64: z.string().optional(),
  /** The JSON text of the request headers. */
  headers: z.string().optional(),
  /** The ID of the delivery of which this delivery is a copy. */
  replayOf: z.string().optional(),
  /** Only for an endpoint: the retention period of bodies and attempts, in milliseconds. */
  retentionMs: z.number().optional(),
  /** Only for an endpoint: the retention period of IDs, in milliseconds. */
  idsKeptMs: z.number().optional(),
});

export type JobData = z.infer<typeof jobDataSchema>;

/** A BullMQ job that contains a delivery. */
export type DeliveryJob = Job<JobData, undefined, string>;

/** Hashes a delivery ID, because BullMQ rejects job IDs that are integers or contain colons. */
export function jobIdOf(deliveryId: string): string {
  return `d${createHash("sha256").update(deliveryId).digest("hex")}`;
}

/** Creates the data of a job. Encodes a body with NUL characters or lone surrogates, which `jsonb` in PostgreSQL cannot store. */
export function toJobData({ id, body, headers, replayOf }: IncomingDelivery): JobData {
  const text = fitsJsonb(body) ? { body } : { base64: Buffer.from(body, "utf16le").toString("base64") };
  // The JSON text contains escape sequences instead of characters that PostgreSQL cannot store.
  const headersText = encodeHeaders(headers);
  return {
    ...{ id, ...text },
    ...(headersText !== undefined && { headers: headersText }),
    ...(replayOf !== undefined && fitsJsonb(replayOf) && { replayOf }),
  };
}

function fitsJsonb(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

/** Returns the body exactly as it was received, or `undefined` after the retention period. */
export function bodyOf({ body, base64 }: JobData): string | undefined {
  return base64 === undefined ? body : Buffer.from(base64, "base64").toString("utf16le");
}

export function toStoredDelivery({
  job,
  endpoint,
  status,
  history,
  withDetails,
}: {
  job: DeliveryJob;
  endpoint: string;
  status: DeliveryStatus;
  history: JobHistory;
  /** Whether to include the headers and the details of attempts. */
  withDetails: boolean;
}): StoredDelivery {
  const body = bodyOf(job.data);
  const headers =
    withDetails && job.data.headers !== undefined && body !== undefined ? decodeHeaders(job.data.headers) : undefined;
  return {
    id: job.data.id,
    endpoint,
    status,
    receivedAt: new Date(job.timestamp),
    ...(status === "queued" && { dueAt: dueAt(job, history) }),
    ...(status === "running" && job.processedOn !== undefined && { startedAt: new Date(job.processedOn) }),
    ...(status !== "queued" &&
      status !== "running" &&
      job.finishedOn !== undefined && { finishedAt: new Date(job.finishedOn) }),
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
    ...(job.data.replayOf !== undefined && { replayOf: job.data.replayOf }),
    attempts: attemptsIn(history, { withDetails }),
  };
}

/**
 * Returns when the next attempt of a queued delivery is due. A delivery without a delay has been due since it was
 * received.
 */
function dueAt({ timestamp, delay }: DeliveryJob, history: JobHistory): Date {
  const next = history.flatMap((entry) => ("dueAt" in entry && entry.dueAt ? [entry.dueAt] : [])).at(-1);
  return (delay > 0 ? next : undefined) ?? new Date(timestamp);
}

/** Queues a finished job again and records the replay. Returns whether the job was still in `state`. */
export async function retryFinished(job: DeliveryJob, state: "failed" | "completed"): Promise<boolean> {
  await job.log(replayEntry(job));
  try {
    await job.retry(state);
    return true;
  } catch (error) {
    // Another process may have replayed the job first.
    if ((await job.getState()) !== state) return false;
    throw error;
  }
}
