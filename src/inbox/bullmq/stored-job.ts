import { createHash } from "node:crypto";
import type { Job } from "bullmq";
import * as z from "zod/mini";
import { readJson } from "../../core/text.ts";
import { storedCrashError } from "../errors.ts";
import type { DeliveryAttempt, DeliveryStatus, IncomingDelivery, StoredDelivery } from "../inbox.ts";
import { decodeDetails, decodeHeaders, encodeDetails, encodeHeaders } from "../records.ts";

/*
 * The history of a delivery is the log of its BullMQ job. Each line of the log is one JSON entry.
 *
 * A claim starts when BullMQ passes a job to a worker. BullMQ counts the claims of a job in `attemptsStarted`. The handler runs at
 * most once per claim. The entries of a claim contain the number of the claim. An earlier claim without an entry that ends it was
 * interrupted by a crash. See `retry.ts` for the terms "suspect" and "alone".
 */

/** The value of `attemptsStarted` during the claim. */
const claim = z.number();

/** Ends a claim that ran the handler. */
const attemptSchema = z.object({
  claim,
  number: z.number(),
  startedAt: z.optional(z.coerce.date()),
  durationMs: z.optional(z.number()),
  outcome: z.enum(["succeeded", "ignored", "failed", "abandoned"]),
  error: z.optional(z.object({ code: z.string(), message: z.string() })),
  reason: z.optional(z.string()),
  counts: z.boolean(),
  details: z.optional(z.string()),
  dueAt: z.optional(z.coerce.date()),
});

/** `replayedAfter`: the number of claims before the replay. Attempts before a replay do not count toward the retry policy. */
const replaySchema = z.object({ replayedAfter: z.number() });

/** Ends a claim that did not run the handler, because the delivery was requeued, was delayed, or had already ended. */
const skippedSchema = z.object({ claim, skipped: z.literal(true), dueAt: z.optional(z.coerce.date()) });

/**
 * The run state of a claim that had to wait before it could run the handler. `waiting`: the handler has not run yet. `alone`: the
 * handler runs alone. `shared`: the handler runs while other deliveries are running. The last run state of a claim applies.
 */
const runStateSchema = z.object({ claim, runState: z.enum(["waiting", "alone", "shared"]) });

const entrySchema = z.union([attemptSchema, replaySchema, skippedSchema, runStateSchema]);

type AttemptEntry = z.infer<typeof attemptSchema>;

export type JobHistory = readonly z.infer<typeof entrySchema>[];

export type RunState = z.infer<typeof runStateSchema>["runState"];

/** `attemptsStarted`: the number of the current claim, which is also the number of claims so far. */
type ClaimedJob = Pick<DeliveryJob, "attemptsStarted">;

export function attemptEntry({
  attempt: { durationMs, details, ...fields },
  ...rest
}: Pick<AttemptEntry, "claim" | "counts" | "dueAt"> & { attempt: DeliveryAttempt }): string {
  return JSON.stringify({
    ...fields,
    details: encodeDetails(details),
    durationMs: durationMs === undefined ? undefined : Math.max(0, Math.round(durationMs)),
    ...rest,
  });
}

export function replayEntry({ attemptsStarted }: ClaimedJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

export function skippedEntry({ attemptsStarted }: ClaimedJob, dueAt?: Date): string {
  return JSON.stringify({ claim: attemptsStarted, skipped: true, dueAt });
}

export function runStateEntry({ attemptsStarted }: ClaimedJob, runState: RunState): string {
  return JSON.stringify({ claim: attemptsStarted, runState });
}

/** Parses the log of a job. Skips lines that are not entries of this release. */
export function readHistory(log: readonly string[]): JobHistory {
  return log.flatMap((text) => {
    const { success, data } = entrySchema.safeParse(readJson(text));
    return success ? [data] : [];
  });
}

/**
 * An attempt can have two entries: one process records a crash because the lease has expired, and the other process
 * still records the result. The outcome with the higher rank applies.
 */
const rank = { abandoned: 0, failed: 1, ignored: 2, succeeded: 3 } as const;

export function attemptsIn(history: JobHistory, { withDetails = false } = {}): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const entry of history) {
    if (!isAttempt(entry)) continue;
    const known = attempts.get(entry.number);
    if (known && rank[known.outcome] >= rank[entry.outcome]) continue;
    const { claim: _claim, counts: _counts, dueAt: _dueAt, details: text, ...attempt } = entry;
    const details = withDetails && text !== undefined ? decodeDetails(text) : undefined;
    attempts.set(attempt.number, { ...attempt, ...(details && { details }) });
  }
  return [...attempts.values()].sort((one, other) => one.number - other.number);
}

export function hasEnded(history: JobHistory, number: number): boolean {
  return history.some((entry) => "claim" in entry && entry.claim === number && !("runState" in entry));
}

/** `wasAlone`: whether no other delivery was running in the crashed process. */
export function crashedClaims(history: JobHistory, { attemptsStarted }: ClaimedJob) {
  const crashed: { claim: number; wasAlone: boolean }[] = [];
  let wasSuspect = false;
  for (let earlier = 1; earlier < attemptsStarted; earlier += 1) {
    const entries = history.filter((entry) => "claim" in entry && entry.claim === earlier);
    const end = entries.findLast(isAttempt);
    if (end && !isShutdown(end)) wasSuspect = isCrash(end);
    if (entries.some((entry) => !("runState" in entry))) continue;
    const last = entries.at(-1);
    const runState = last && "runState" in last ? last.runState : undefined;
    // In both cases, the handler had not started before the crash. A suspect starts only after `alone` or `shared` was
    // recorded.
    if (runState === "waiting" || (runState === undefined && wasSuspect)) continue;
    crashed.push({ claim: earlier, wasAlone: runState === "alone" });
    wasSuspect = true;
  }
  return crashed;
}

/** Whether a replay was requested during the current claim. */
export function wasReplayed(history: JobHistory, { attemptsStarted }: ClaimedJob): boolean {
  return history.some((entry) => "replayedAfter" in entry && entry.replayedAfter >= attemptsStarted);
}

/** Returns whether an attempt since the last replay has succeeded or, if none has, was ignored. */
export function finalOutcome(history: JobHistory): "succeeded" | "ignored" | undefined {
  const replays = history.flatMap((entry) => ("replayedAfter" in entry ? [entry.replayedAfter] : []));
  const replayedAfter = Math.max(0, ...replays);
  const has = (outcome: string) =>
    history.some((entry) => isAttempt(entry) && entry.outcome === outcome && entry.claim > replayedAfter);
  return (["succeeded", "ignored"] as const).find(has);
}

/** Returns the number of attempts since the last replay that count toward the retry policy. */
export function countedAttempts(history: JobHistory): number {
  return new Set(attemptsSinceReplay(history).flatMap(({ counts, number }) => (counts ? [number] : []))).size;
}

/** Returns how many crashes since the last replay count as attempts, and how many do not. */
export function crashesIn(history: JobHistory): { counted: number; uncounted: number } {
  const crashes = attemptsSinceReplay(history).filter(isCrash);
  const counted = crashes.filter(({ counts }) => counts).length;
  return { counted, uncounted: crashes.length - counted };
}

/** Whether a crash interrupted the last attempt. Ignores attempts that a shutdown interrupted. */
export function isSuspect(history: JobHistory): boolean {
  const last = history.filter(isAttempt).findLast((entry) => !isShutdown(entry));
  return last !== undefined && isCrash(last);
}

function attemptsSinceReplay(history: JobHistory): AttemptEntry[] {
  return history.slice(history.findLastIndex((entry) => "replayedAfter" in entry) + 1).filter(isAttempt);
}

function isAttempt(entry: JobHistory[number]): entry is AttemptEntry {
  return "number" in entry;
}

function isCrash({ outcome, error }: AttemptEntry): boolean {
  return outcome === "abandoned" && error?.code === storedCrashError.code;
}

/** Whether a shutdown interrupted an attempt. A shutdown does not make a delivery a suspect. */
function isShutdown(entry: AttemptEntry): boolean {
  return entry.outcome === "abandoned" && !isCrash(entry);
}

/** The data of a job, which contains a delivery or, in the queue of `StoredEndpoints`, an endpoint. */
export const jobDataSchema = z.object({
  id: z.string(),
  /** Missing after the retention period. */
  body: z.optional(z.string()),
  /** Replaces a `body` that PostgreSQL cannot store as text. Contains the UTF-16 code units of the body in Base64. */
  base64: z.optional(z.string()),
  headers: z.optional(z.string()),
  replayOf: z.optional(z.string()),
  /** Only for an endpoint: the retention period of bodies and attempts. */
  retentionMs: z.optional(z.number()),
  /** Only for an endpoint: the retention period of IDs. */
  idsKeptMs: z.optional(z.number()),
});

export type JobData = z.infer<typeof jobDataSchema>;

/** What BullMQ stores as the result of a completed job: whether the delivery was ignored. Otherwise, it has succeeded. */
export type JobResult = "ignored" | undefined;

export type DeliveryJob = Job<JobData, JobResult, string>;

export function toJobResult(outcome: "succeeded" | "ignored"): JobResult {
  return outcome === "ignored" ? outcome : undefined;
}

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

/** `status`: by the BullMQ list of the job, whose list of succeeded deliveries also contains the ignored ones. */
export function toStoredDelivery(
  job: DeliveryJob,
  listed: { endpoint: string; status: DeliveryStatus; history: JobHistory; withDetails: boolean },
): StoredDelivery {
  const { endpoint, history, withDetails } = listed;
  const body = bodyOf(job.data);
  const status = listed.status === "succeeded" && job.returnvalue === "ignored" ? "ignored" : listed.status;
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

/** A delivery without a delay has been due since it was received. */
function dueAt({ timestamp, delay }: DeliveryJob, history: JobHistory): Date {
  const next = history.flatMap((entry) => ("dueAt" in entry && entry.dueAt ? [entry.dueAt] : [])).at(-1);
  return (delay > 0 ? next : undefined) ?? new Date(timestamp);
}

/** Makes a dead or delayed job due. */
export async function makeDue(job: DeliveryJob, state: Awaited<ReturnType<DeliveryJob["getState"]>>): Promise<void> {
  try {
    if (state === "delayed") await job.promote();
    if (state === "failed") await job.retry(state);
  } catch (error) {
    // The job may have become due, or another process may have changed its state, after the state was read.
    if ((await job.getState()) === state) throw error;
  }
}

/** The code of BullMQ's error if a job is in another state. */
const wrongState = -3;

/**
 * Queues a finished job again and records the replay. Returns whether the job was still in `state`, or `undefined` if it is no longer
 * stored.
 */
export async function retryFinished(job: DeliveryJob, state: "failed" | "completed"): Promise<boolean | undefined> {
  try {
    await job.log(replayEntry(job));
    await job.retry(state);
    return true;
  } catch (error) {
    // Another caller has replayed the job first. It can already have finished again.
    if (error instanceof Error && "code" in error && error.code === wrongState) return false;
    const found = await job.getState();
    // Another process has pruned the job.
    if (found === "unknown") return undefined;
    if (found !== state) return false;
    throw error;
  }
}
