import * as z from "zod";
import type { DeliveryAttempt } from "../inbox.ts";
import { abandonedError } from "../inbox-errors.ts";

/*
 * The history of a delivery is the log of its job. BullMQ counts how often a job was started; each row names the start
 * that it belongs to, so that a start without an end is known to be one that a crash has cut short.
 */

const start = z.number();

const attemptSchema = z.object({
  start,
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

/** The delivery has all its attempts again; it had been started this many times. */
const replayedSchema = z.object({ replayedAfter: z.number() });

/** A start that ran no handler: the delivery was handed back, put off, or had nothing left to do. */
const passedSchema = z.object({ start, passed: z.literal(true), dueAt: z.coerce.date().optional() });

/**
 * Where a start stands that did not run beside others as usual: it waits for its turn, runs alone, or runs beside
 * others after all. The last such row of a start holds.
 */
const turnSchema = z.object({ start, turn: z.enum(["waiting", "alone", "shared"]) });

const rowSchema = z.union([attemptSchema, replayedSchema, passedSchema, turnSchema]);

type AttemptRow = z.infer<typeof attemptSchema>;

/** What has happened to a delivery, oldest first: the log of its job. */
export type JobHistory = readonly z.infer<typeof rowSchema>[];

/** Where a start stands, see {@link turnRow}. */
export type Turn = z.infer<typeof turnSchema>["turn"];

/** As much of a job as its history needs: how often BullMQ has started it. */
interface StartedJob {
  attemptsStarted: number;
}

/** A start that a crash has cut short. */
export interface CrashedStart {
  start: number;
  /** Whether nothing else was running in its process. */
  wasAlone: boolean;
}

/** Writes an attempt as a row of a job's log. */
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

/** Writes that a delivery was replayed as a row of a job's log. */
export function replayedRow({ attemptsStarted }: StartedJob): string {
  return JSON.stringify({ replayedAfter: attemptsStarted });
}

/** Writes that a start ran no handler as a row of a job's log. */
export function skippedRow({ attemptsStarted }: StartedJob, dueAt?: Date): string {
  return JSON.stringify({ start: attemptsStarted, passed: true, ...(dueAt && { dueAt }) });
}

/** Writes where a start stands as a row of a job's log. */
export function turnRow({ attemptsStarted }: StartedJob, turn: Turn): string {
  return JSON.stringify({ start: attemptsStarted, turn });
}

/** Reads the log of a job; rows that this release does not know are skipped. */
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

/** What is known best holds: a process that was given up may report an end later. */
const certainty = { abandoned: 0, failed: 1, succeeded: 2 } as const;

/** The attempts of a delivery, by number. */
export function attemptsIn(history: JobHistory): DeliveryAttempt[] {
  const attempts = new Map<number, DeliveryAttempt>();
  for (const row of history) {
    if (!isAttempt(row)) continue;
    const known = attempts.get(row.number);
    if (known && certainty[known.outcome] >= certainty[row.outcome]) continue;
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
export function hasEnded(history: JobHistory, started: number): boolean {
  return history.some((row) => "start" in row && row.start === started && !("turn" in row));
}

/** The starts before the current one that a crash has cut short. */
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
    // It waited for its turn when its process died, or for a note of it, without which no suspect runs.
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

/** Whether a run has succeeded after which no replay was requested. */
export function hasSucceeded(history: JobHistory): boolean {
  const replayedAfter = Math.max(0, ...history.flatMap((row) => ("replayedAfter" in row ? [row.replayedAfter] : [])));
  return history.some((row) => isAttempt(row) && row.outcome === "succeeded" && row.start > replayedAfter);
}

/** How many attempts a delivery has used up since it arrived or was replayed. */
export function countedAttempts(history: JobHistory): number {
  return new Set(attemptRowsSinceReplay(history).flatMap(({ counts, number }) => (counts ? [number] : []))).size;
}

/** How many crashes a delivery has been in since it arrived or was replayed. */
export function crashesIn(history: JobHistory): { counted: number; uncounted: number } {
  const crashes = attemptRowsSinceReplay(history).filter(isCrash);
  const counted = crashes.filter(({ counts }) => counts).length;
  return { counted, uncounted: crashes.length - counted };
}

/** Whether the last run of a delivery ended in a crash, so that it may cause the next one. */
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

/** Whether a run was cut short by a shutdown, which says nothing about the delivery. */
function isShutdown(row: AttemptRow): boolean {
  return row.outcome === "abandoned" && !isCrash(row);
}
