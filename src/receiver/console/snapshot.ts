import * as z from "zod/mini";
import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Outcome } from "../../payload/parse.ts";
import type { ServerContext } from "../context.ts";
import { type AttemptRecorderOptions, recordHeaders } from "../recent/attempt-recorder.ts";
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

/** The codes of failed runs. A delivery that the server refused before a run has another code. */
export const failureCodes = ["HANDLER_FAILED", "HANDLER_TIMED_OUT", "RESULT_NOT_JSON", "CLOSING"] as const;

const storedOutcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("succeeded") }),
  z.object({ status: z.literal("ignored"), reason: z.string() }),
  z.object({ status: z.literal("failed"), code: z.enum(failureCodes), message: z.string() }),
]);

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
      startedAt: z.number(),
      end: z.optional(
        z.object({
          durationMs: z.number(),
          outcome: storedOutcome,
          responseStatus: z.optional(z.number()),
          details: z.optional(details),
        }),
      ),
    }),
  ),
});
type Snapshot = z.input<typeof snapshot>;
type EndSnapshot = NonNullable<Snapshot["attempts"][number]["end"]>;

/** Copies the recent deliveries as plain data, so that the next process of a dev session can show them after a reload. */
function exportRecent(recent: RecentDeliveries): Snapshot[] {
  return Array.from(recent.values(), ({ id, endpoint, body, receivedAt, headers, replayOf, attempts }) => ({
    ...{ id, endpoint, body, receivedAt: receivedAt.getTime() },
    ...(headers && { headers: { ...recordHeaders(headers(), (text) => text) } }),
    ...(replayOf !== undefined && { replayOf }),
    attempts: attempts.map(({ startedAt, end }) => ({ startedAt, end: end ? exportEnd(end) : interrupted })),
  }));
}

const interrupted: EndSnapshot = {
  durationMs: 0,
  outcome: { status: "failed", code: "CLOSING", message: "The server stopped while the handler was running." },
};

function exportEnd({ durationMs, outcome, responseStatus, details }: NonNullable<RecentAttempt["end"]>): EndSnapshot {
  const recorded = details();
  return {
    durationMs,
    outcome: exportOutcome(outcome),
    ...(responseStatus !== undefined && { responseStatus }),
    ...(recorded && { details: recorded }),
  };
}

function exportOutcome(outcome: Outcome): z.input<typeof storedOutcome> {
  if (outcome.status !== "failed") {
    return outcome.status === "ignored" ? outcome : { status: "succeeded" };
  }
  const { code: given, message, cause } = outcome.error;
  const code = failureCodes.find((known) => known === given) ?? "HANDLER_FAILED";
  return { status: "failed", code, message: cause === undefined ? message : describeError(cause).message };
}

/** Adds deliveries that {@link exportRecent} copied. Skips values of another format, from another version of this package. */
function importRecent(recent: RecentDeliveries, values: readonly unknown[]): void {
  for (const value of values) {
    const parsed = snapshot.safeParse(value);
    if (!parsed.success) continue;
    if (parsed.data.attempts.some(({ end }) => end?.outcome.status === "failed")) recent.failed.add(parsed.data);
    for (const run of toRuns(parsed.data)) recent.add(run);
  }
}

/** Restored runs record nothing, because they have ended. */
const recordsNothing: AttemptRecorderOptions = { now: () => 0, redact: (text) => text };

function toRuns({ receivedAt, headers, attempts, ...given }: z.output<typeof snapshot>): RecentRun[] {
  return attempts.map(({ startedAt, end }) => {
    const entries = headers && Object.entries(headers);
    const start = { ...given, receivedAt: new Date(receivedAt), headers: entries && (() => entries), startedAt };
    const run = new RecentRun(start, recordsNothing);
    if (end) {
      const { outcome, details, durationMs, responseStatus } = end;
      run.restore({ durationMs, responseStatus, outcome: toOutcome(outcome) }, details);
    }
    return run;
  });
}

function toOutcome(outcome: z.output<typeof storedOutcome>): Outcome {
  if (outcome.status === "succeeded") return { status: "succeeded", result: undefined };
  if (outcome.status === "ignored") return outcome;
  const { code, message } = outcome;
  return { status: "failed", error: new WebhookError(message, { code }) };
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
