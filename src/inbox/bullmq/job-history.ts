import * as z from "zod";
import type { DeliveryAttempt } from "../inbox.ts";
import { abandonedError } from "../inbox-errors.ts";

/*
 * The history of a delivery is the log of its BullMQ job. BullMQ counts the starts of a job, and each row of the log contains the
 * number of its start. A start without a row for its end was interrupted by a crash.
 */

const start = z.number();

const attemptSchema = z.object({
  start,
  number: z.number(),
  startedAt: z.coerce.date().optional(),
  durationMs: z.number().optional(),
  outcome: z.enum(["succeeded", "failed", "abandoned"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Whether it uses up an attempt of the retry policy. */
  counts: z.boolean(),
  /** When the next attempt is due, if there is one. */
  dueAt: z.coerce.date().optional(),
});

/** A replay after this number of starts: the delivery has all its attempts again. */
const replayedSchema = z.object({ replayedAfter: z.number() });

/** A start that ran no handler: the delivery was put back, delayed, or had already succeeded. */
const skippedSchema = z.object({ start, passed: z.literal(true), dueAt: z.coerce.date().optional() });

/**
 * The state of a start that did not run immediately beside others: it waits for its turn, runs alone, or runs beside others. The
 * last such row of a start applies.
 */
const turnSchema = z.object({ start, turn: z.enum(["waiting", "alone", "shared"]) });

const rowSchema = z.union([attemptSchema, replayedSchema, skippedSchema, turnSchema]);

type AttemptRow = z.infer<typeof attemptSchema>;

/** The rows of the log of a job, oldest first. */
export type JobHistory = readonly z.infer<typeof rowSchema>[];

export type Turn = z.infer<typeof turnSchema>["turn"];

/** The part of a job that its history needs. */
interface StartedJob {
  /** How often BullMQ has started the job, which is also the number of the current start. */
  attemptsStarted: number;
}

/** A start that a crash interrupted. */
export interface CrashedStart {
  start: number;
  /** Whether no other delivery was running in its process. */
  wasAlone: boolean;
}

/** The row of the end of an attempt. */
export function attemptRow({
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

/** The row of a replay. */
export function replayedRow({ attemptsStarted }: StartedJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

/** The row of a start that ran no handler. */
export function skippedRow({ attemptsStarted }: StartedJob, dueAt?: Date): string {
  return JSON.stringify({ start: attemptsStarted, passed: true, ...(dueAt && { dueAt }) });
}

/** The row of a new state of a start. */
export function turnRow({ attemptsStarted }: StartedJob, turn: Turn): string {
  return JSON.stringify({ start: attemptsStarted, turn });
}

/** Parses the log of a job. Skips rows that this release does not support. */
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

/** A later row replaces one with a lower rank: a process whose lease expired may record a result later. */
const rank = { abandoned: 0, failed: 1, succeeded: 2 } as const;

/** The attempts of a delivery, by number. */
export function attemptsIn(history: JobHistory): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const row of history) {
    if (!isAttempt(row)) continue;
    const known = attempts.get(row.number);
    if (known && rank[known.outcome] >= rank[row.outcome]) continue;
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

/** Whether the end of a start was recorded. */
export function hasEnded(history: JobHistory, number: number): boolean {
  return history.some((row) => "start" in row && row.start === number && !("turn" in row));
}

/** The starts before the current one that a crash interrupted. */
export function crashedStarts(history: JobHistory, { attemptsStarted }: StartedJob): CrashedStart[] {
  const crashed: CrashedStart[] = [];
  let wasSuspect = false;
  for (let earlier = 1; earlier < attemptsStarted; earlier += 1) {
    const rows = history.filter((row) => "start" in row && row.start === earlier);
    const end = rows.findLast(isAttempt);
    if (end && !isShutdown(end)) wasSuspect = isCrash(end);
    if (rows.some((row) => !("turn" in row))) continue;
    const row = rows.at(-1);
    const turn = row && "turn" in row ? row.turn : undefined;
    // It had not run yet when its process crashed: a suspect runs only after its turn was recorded.
    if (turn === "waiting" || (turn === undefined && wasSuspect)) continue;
    crashed.push({ start: earlier, wasAlone: turn === "alone" });
    wasSuspect = true;
  }
  return crashed;
}

/** Whether a replay was requested while the current start was running. */
export function wasReplayed(history: JobHistory, { attemptsStarted }: StartedJob): boolean {
  return history.some((row) => "replayedAfter" in row && row.replayedAfter >= attemptsStarted);
}

/** Whether a run has succeeded since the last replay. */
export function hasSucceeded(history: JobHistory): boolean {
  const replayedAfter = Math.max(0, ...history.flatMap((row) => ("replayedAfter" in row ? [row.replayedAfter] : [])));
  return history.some((row) => isAttempt(row) && row.outcome === "succeeded" && row.start > replayedAfter);
}

/** How many attempts of the retry policy were used up since the last replay. */
export function countedAttempts(history: JobHistory): number {
  return new Set(attemptRowsSinceReplay(history).flatMap(({ counts, number }) => (counts ? [number] : []))).size;
}

/** The number of crashes since the last replay. */
export function crashesIn(history: JobHistory): { counted: number; uncounted: number } {
  const crashes = attemptRowsSinceReplay(history).filter(isCrash);
  const counted = crashes.filter(({ counts }) => counts).length;
  return { counted, uncounted: crashes.length - counted };
}

/** Whether the last run of a delivery ended in a crash, which the delivery may have caused. */
export function isSuspect(history: JobHistory): boolean {
  const last = history.filter(isAttempt).findLast((row) => !isShutdown(row));
  return last !== undefined && isCrash(last);
}

function attemptRowsSinceReplay(history: JobHistory): AttemptRow[] {
  return history.slice(history.findLastIndex((row) => "replayedAfter" in row) + 1).filter(isAttempt);
}

function isAttempt(row: JobHistory[number]): row is AttemptRow {
  return "number" in row;
}

function isCrash({ outcome, error }: AttemptRow): boolean {
  return outcome === "abandoned" && error?.code === abandonedError.code;
}

/** Whether a shutdown interrupted a run. This is not a sign of a crash. */
function isShutdown(row: AttemptRow): boolean {
  return row.outcome === "abandoned" && !isCrash(row);
}
