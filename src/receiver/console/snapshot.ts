import * as z from "zod/mini";
import type { ServerContext } from "../context.ts";
import { type RecentAttempt, type RecentDeliveries, RecentRun } from "../recent/delivery-history.ts";
import { EarlierActivity } from "./endpoints.ts";

const details = z.object({
  result: z.optional(z.string()),
  stack: z.optional(z.string()),
  logs: z.optional(
    z.readonly(
      z.array(
        z.object({
          at: z.number(),
          level: z.enum(["debug", "info", "warn", "error"]),
          message: z.string(),
          fields: z.optional(z.string()),
        }),
      ),
    ),
  ),
  isTruncated: z.optional(z.boolean()),
});

const snapshot = z.object({
  id: z.string(),
  endpoint: z.string(),
  body: z.string(),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  headers: z.optional(z.record(z.string(), z.string())),
  replayOf: z.optional(z.string()),
  attempts: z.array(
    z.object({
      /** Milliseconds since the epoch. */
      startedAt: z.number(),
      durationMs: z.number(),
      outcome: z.enum(["succeeded", "ignored", "failed"]),
      error: z.optional(z.object({ code: z.string(), message: z.string() })),
      reason: z.optional(z.string()),
      responseStatus: z.optional(z.number()),
      details: z.optional(details),
    }),
  ),
});
type Snapshot = z.input<typeof snapshot>;
type AttemptSnapshot = Snapshot["attempts"][number];

/** Copies the recent deliveries as plain data, so that the next process of a dev session can show them after a reload. */
function exportRecent(recent: RecentDeliveries): Snapshot[] {
  return Array.from(recent.values(), ({ id, endpoint, body, receivedAt, startedAt, headers, replayOf, attempts }) => ({
    ...{ id, endpoint, body, receivedAt: receivedAt.getTime() },
    ...(headers && { headers: { ...headers } }),
    ...(replayOf !== undefined && { replayOf }),
    attempts: [...attempts.map(exportAttempt), ...(startedAt ? [interruptedAt(startedAt)] : [])],
  }));
}

function interruptedAt(startedAt: Date): AttemptSnapshot {
  const error = { code: "CLOSING", message: "The server stopped while the handler was running." };
  return { startedAt: startedAt.getTime(), durationMs: 0, outcome: "failed", error };
}

function exportAttempt({ number, startedAt, details, ...attempt }: RecentAttempt): AttemptSnapshot {
  return { ...attempt, startedAt: startedAt.getTime(), ...(details && { details }) };
}

/** Adds deliveries that {@link exportRecent} copied. Skips values of another format, from another version of this package. */
function importRecent(recent: RecentDeliveries, values: readonly unknown[]): void {
  for (const value of values) {
    const parsed = snapshot.safeParse(value);
    if (!parsed.success) continue;
    if (parsed.data.attempts.some(({ outcome }) => outcome === "failed")) recent.failed.add(parsed.data);
    for (const run of toRuns(parsed.data)) recent.add(run);
  }
}

function toRuns({ receivedAt, headers, attempts, ...given }: z.output<typeof snapshot>): RecentRun[] {
  const entries = headers && Object.entries(headers);
  return attempts.map(({ startedAt, details, ...attempt }) => {
    const start = { ...given, receivedAt: new Date(receivedAt), headers: entries && (() => entries), startedAt };
    const run = new RecentRun(start, { recordDetails: true, now: () => 0, redact: (text) => text });
    run.restore({ ...attempt, startedAt: new Date(startedAt), details });
    return run;
  });
}

const sessionSnapshot = z.object({ deliveries: z.array(z.unknown()), activity: z.unknown() });

type SnapshotSource = Pick<ServerContext, "history" | "activity" | "endpoints" | "now">;

/** Copies what the console shows and no inbox stores as plain data: the deliveries in memory, and the activity. */
export function takeSessionSnapshot(
  { history, activity, endpoints, now }: SnapshotSource,
  earlier = EarlierActivity.read(undefined),
): z.infer<typeof sessionSnapshot> {
  return {
    deliveries: exportRecent(history.recent),
    activity: earlier.takeSnapshot({ activity, endpoints: endpoints.byName, now: now() }),
  };
}

/**
 * Adds the deliveries of a snapshot to the history, and returns its activity. Skips values of another format, from another version of
 * this package.
 */
export function restoreSessionSnapshot({ history }: Pick<SnapshotSource, "history">, value: unknown): EarlierActivity {
  const { data } = sessionSnapshot.safeParse(value);
  if (data) importRecent(history.recent, data.deliveries);
  return EarlierActivity.read(data?.activity);
}
