import * as z from "zod";
import { decodeDetails, encodeDetails } from "../attempt-details.ts";
import type { DeliveryAttempt } from "../inbox.ts";
import { storedCrashError } from "../inbox-errors.ts";

/*
 * The history of a delivery is the log of its BullMQ job. Each line of the log is one JSON entry.
 *
 * A claim starts when BullMQ passes a job to a worker. BullMQ counts the claims of a job in `attemptsStarted`. The handler runs at
 * most once per claim. The entries of a claim contain the number of the claim. An earlier claim without an entry that ends it was
 * interrupted by a crash. See `crash-policy.ts` for the terms "suspect" and "alone".
 */

/** The value of `attemptsStarted` during the claim. */
const claim = z.number();

/** Ends a claim that ran the handler. */
const attemptSchema = z.object({
  claim,
  number: z.number(),
  startedAt: z.coerce.date().optional(),
  durationMs: z.number().optional(),
  outcome: z.enum(["succeeded", "failed", "abandoned"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Whether the attempt counts toward the retry policy's maximum number of attempts. */
  counts: z.boolean(),
  /** The JSON text of an `AttemptDetails`. */
  details: z.string().optional(),
  /** When the next attempt is due, if there is one. */
  dueAt: z.coerce.date().optional(),
});

/**
 * A replay. `replayedAfter` is the number of claims before the replay. Attempts before a replay do not count toward the retry
 * policy.
 */
const replaySchema = z.object({ replayedAfter: z.number() });

/** Ends a claim that did not run the handler, because the delivery was requeued, was delayed, or had already succeeded. */
const skippedSchema = z.object({ claim, skipped: z.literal(true), dueAt: z.coerce.date().optional() });

/**
 * The run state of a claim that had to wait before it could run the handler. `waiting`: the handler has not run yet. `alone`: the
 * handler runs alone. `shared`: the handler runs while other deliveries are running. The last run state of a claim applies.
 */
const runStateSchema = z.object({ claim, runState: z.enum(["waiting", "alone", "shared"]) });

const entrySchema = z.union([attemptSchema, replaySchema, skippedSchema, runStateSchema]);

type AttemptEntry = z.infer<typeof attemptSchema>;

/** The entries of a job's log, oldest first. */
export type JobHistory = readonly z.infer<typeof entrySchema>[];

export type RunState = z.infer<typeof runStateSchema>["runState"];

/** The part of a BullMQ job that this file reads. */
interface ClaimedJob {
  /** The number of the current claim, which is also the number of claims so far. */
  attemptsStarted: number;
}

/** A claim that a crash interrupted. */
export interface CrashedClaim {
  claim: number;
  /** Whether no other delivery was running in the crashed process. */
  wasAlone: boolean;
}

/** Creates the entry for the result of an attempt. */
export function attemptEntry({
  attempt,
  ...rest
}: {
  claim: number;
  attempt: DeliveryAttempt;
  counts: boolean;
  dueAt?: Date | undefined;
}): string {
  const { durationMs, details, ...fields } = attempt;
  const text = encodeDetails(details);
  return JSON.stringify({
    ...fields,
    ...(text !== undefined && { details: text }),
    ...(durationMs !== undefined && { durationMs: Math.max(0, Math.round(durationMs)) }),
    ...rest,
  });
}

/** Creates the entry for a replay. */
export function replayEntry({ attemptsStarted }: ClaimedJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

/** Creates the entry for a claim that did not run the handler. */
export function skippedEntry({ attemptsStarted }: ClaimedJob, dueAt?: Date): string {
  return JSON.stringify({ claim: attemptsStarted, skipped: true, ...(dueAt && { dueAt }) });
}

/** Creates the entry for a new run state of a claim. */
export function runStateEntry({ attemptsStarted }: ClaimedJob, runState: RunState): string {
  return JSON.stringify({ claim: attemptsStarted, runState });
}

/** Parses the log of a job. Skips lines that are not entries of this release. */
export function readHistory(log: readonly string[]): JobHistory {
  return log.flatMap((text) => {
    const { success, data } = entrySchema.safeParse(parse(text));
    return success ? [data] : [];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * An attempt can have two entries: one process records a crash because the lease has expired, and the other process
 * still records the result. The outcome with the higher rank applies.
 */
const rank = { abandoned: 0, failed: 1, succeeded: 2 } as const;

/** Returns a delivery's attempts, sorted by number. */
export function attemptsIn(history: JobHistory, { withDetails = false } = {}): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const entry of history) {
    if (!isAttempt(entry)) continue;
    const known = attempts.get(entry.number);
    if (known && rank[known.outcome] >= rank[entry.outcome]) continue;
    const { number, startedAt, durationMs, outcome, error } = entry;
    const details = withDetails && entry.details !== undefined ? decodeDetails(entry.details) : undefined;
    attempts.set(number, {
      number,
      ...(startedAt && { startedAt }),
      ...(durationMs !== undefined && { durationMs }),
      outcome,
      ...(error && { error }),
      ...(details && { details }),
    });
  }
  return [...attempts.values()].sort((one, other) => one.number - other.number);
}

/** Whether an entry that ends a claim was recorded. */
export function hasEnded(history: JobHistory, number: number): boolean {
  return history.some((entry) => "claim" in entry && entry.claim === number && !("runState" in entry));
}

/** Finds the earlier claims that a crash interrupted. */
export function crashedClaims(history: JobHistory, { attemptsStarted }: ClaimedJob): CrashedClaim[] {
  const crashed: CrashedClaim[] = [];
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

/** Whether an attempt has succeeded since the last replay. */
export function hasSucceeded(history: JobHistory): boolean {
  const replays = history.flatMap((entry) => ("replayedAfter" in entry ? [entry.replayedAfter] : []));
  const replayedAfter = Math.max(0, ...replays);
  return history.some((entry) => isAttempt(entry) && entry.outcome === "succeeded" && entry.claim > replayedAfter);
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

/**
 * Whether a delivery is a suspect, that is, whether a crash interrupted its last attempt. Ignores attempts that a shutdown
 * interrupted.
 */
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
