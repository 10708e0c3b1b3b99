import * as z from "zod";
import type { DeliveryAttempt } from "../inbox.ts";
import { storedAbandonedError } from "../inbox-errors.ts";

/*
 * The history of a delivery is the log of its BullMQ job, which contains one JSON entry per line.
 *
 * Each time BullMQ hands a job to a worker, this is a start of the job. BullMQ numbers the starts in `attemptsStarted`. A start runs
 * the handler at most once, so most starts are attempts. The entries of a start contain its number. If a start has no entry that ends
 * it, a crash interrupted the start. See `crash-policy.ts` for the terms "suspect" and "alone".
 */

/** The number of the start. */
const start = z.number();

/** Ends a start that ran the handler. */
const attemptSchema = z.object({
  start,
  /** The number of the attempt. */
  number: z.number(),
  startedAt: z.coerce.date().optional(),
  durationMs: z.number().optional(),
  outcome: z.enum(["succeeded", "failed", "abandoned"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Whether the attempt uses up one of the attempts of the retry policy. */
  counts: z.boolean(),
  /** When the next attempt is due, if there is one. */
  dueAt: z.coerce.date().optional(),
});

/** A replay, with the number of starts before it. Attempts before a replay do not count toward the retry policy. */
const replaySchema = z.object({ replayedAfter: z.number() });

/** Ends a start that did not run the handler, because the delivery was put back, was delayed, or had already succeeded. */
const skippedSchema = z.object({ start, skipped: z.literal(true), dueAt: z.coerce.date().optional() });

/**
 * The run state of a start that had to wait before it could run the handler. `waiting`: the handler has not run yet. `alone`: it
 * runs alone. `shared`: it runs while other deliveries are running. The last run state of a start applies.
 */
const runStateSchema = z.object({ start, runState: z.enum(["waiting", "alone", "shared"]) });

const entrySchema = z.union([attemptSchema, replaySchema, skippedSchema, runStateSchema]);

type AttemptEntry = z.infer<typeof attemptSchema>;

/** The entries of a job's log, oldest first. */
export type JobHistory = readonly z.infer<typeof entrySchema>[];

export type RunState = z.infer<typeof runStateSchema>["runState"];

/** The part of a job that its history needs. */
interface StartedJob {
  /** The number of the current start, which is also the number of starts so far. */
  attemptsStarted: number;
}

/** A start that a crash interrupted. */
export interface CrashedStart {
  start: number;
  /** Whether no other delivery was running in the crashed process. */
  wasAlone: boolean;
}

/** Creates the entry for the end of an attempt. */
export function attemptEntry({
  attempt,
  ...rest
}: {
  start: number;
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

/** Creates the entry for a replay. */
export function replayEntry({ attemptsStarted }: StartedJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

/** Creates the entry for a start that did not run the handler. */
export function skippedEntry({ attemptsStarted }: StartedJob, dueAt?: Date): string {
  return JSON.stringify({ start: attemptsStarted, skipped: true, ...(dueAt && { dueAt }) });
}

/** Creates the entry for a new run state of a start. */
export function runStateEntry({ attemptsStarted }: StartedJob, runState: RunState): string {
  return JSON.stringify({ start: attemptsStarted, runState });
}

/** Parses the log of a job. Skips entries that this release does not support. */
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
 * An attempt may have two outcomes, because a process whose lease expired may still record its result. The outcome with the higher
 * rank applies.
 */
const rank = { abandoned: 0, failed: 1, succeeded: 2 } as const;

/** Returns the attempts of a delivery, sorted by number. */
export function attemptsIn(history: JobHistory): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const entry of history) {
    if (!isAttempt(entry)) continue;
    const known = attempts.get(entry.number);
    if (known && rank[known.outcome] >= rank[entry.outcome]) continue;
    const { number, startedAt, durationMs, outcome, error } = entry;
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

/** Whether the end of a start was recorded. */
export function hasEnded(history: JobHistory, number: number): boolean {
  return history.some((entry) => "start" in entry && entry.start === number && !("runState" in entry));
}

/** Finds the starts before the current one that a crash interrupted. */
export function crashedStarts(history: JobHistory, { attemptsStarted }: StartedJob): CrashedStart[] {
  const crashed: CrashedStart[] = [];
  let wasSuspect = false;
  for (let earlier = 1; earlier < attemptsStarted; earlier += 1) {
    const entries = history.filter((entry) => "start" in entry && entry.start === earlier);
    const end = entries.findLast(isAttempt);
    if (end && !isShutdown(end)) wasSuspect = isCrash(end);
    if (entries.some((entry) => !("runState" in entry))) continue;
    const last = entries.at(-1);
    const runState = last && "runState" in last ? last.runState : undefined;
    // The handler had not run before the crash. A suspect runs only after its run state was recorded.
    if (runState === "waiting" || (runState === undefined && wasSuspect)) continue;
    crashed.push({ start: earlier, wasAlone: runState === "alone" });
    wasSuspect = true;
  }
  return crashed;
}

/** Whether a replay was requested during the current start. */
export function wasReplayed(history: JobHistory, { attemptsStarted }: StartedJob): boolean {
  return history.some((entry) => "replayedAfter" in entry && entry.replayedAfter >= attemptsStarted);
}

/** Whether an attempt has succeeded since the last replay. */
export function hasSucceeded(history: JobHistory): boolean {
  const replays = history.flatMap((entry) => ("replayedAfter" in entry ? [entry.replayedAfter] : []));
  const replayedAfter = Math.max(0, ...replays);
  return history.some((entry) => isAttempt(entry) && entry.outcome === "succeeded" && entry.start > replayedAfter);
}

/** Returns how many attempts of the retry policy were used up since the last replay. */
export function countedAttempts(history: JobHistory): number {
  return new Set(attemptsSinceReplay(history).flatMap(({ counts, number }) => (counts ? [number] : []))).size;
}

/** Counts the crashes since the last replay, by whether they count as attempts. */
export function crashesIn(history: JobHistory): { counted: number; uncounted: number } {
  const crashes = attemptsSinceReplay(history).filter(isCrash);
  const counted = crashes.filter(({ counts }) => counts).length;
  return { counted, uncounted: crashes.length - counted };
}

/** Whether a delivery is a suspect: a crash interrupted its last attempt. Attempts that a shutdown interrupted are ignored. */
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
  return outcome === "abandoned" && error?.code === storedAbandonedError.code;
}

/** Whether a shutdown interrupted an attempt. A shutdown does not make a delivery a suspect. */
function isShutdown(entry: AttemptEntry): boolean {
  return entry.outcome === "abandoned" && !isCrash(entry);
}
