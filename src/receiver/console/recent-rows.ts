import type { AttemptInfo, ConsoleStatus, DeliverySummary } from "../../console/protocol/deliveries.ts";
import { describeError } from "../../core/describe-error.ts";
import type { FilteredDelivery } from "../../inbox/delivery-filter.ts";
import { readEventFields } from "../../inbox/event-fields.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { RecentDelivery } from "../recent/recent-deliveries.ts";
import type { RecentAttempt } from "../recent/recent-run.ts";
import { readEvent } from "./delivery-event.ts";
import { shownDetails } from "./inbox-rows.ts";

/** Removes secrets from a text. */
type Redact = (text: string) => string;

/** Returns the status of a delivery in memory, without describing the rest of it. */
export function recentStatus({ attempts }: RecentDelivery): ConsoleStatus {
  return attempts.at(-1)?.end?.outcome.status ?? "running";
}

/** Describes a delivery in memory for the list. */
export function recentSummary(delivery: RecentDelivery, redact: Redact): DeliverySummary {
  const { id, endpoint, body, receivedAt, attempts, replayOf } = delivery;
  const last = attempts.at(-1);
  const end = last?.end;
  const error = end && errorOf(end.outcome, redact);
  return {
    ...{ id, endpoint, storage: "memory", ...readEvent(body) },
    status: recentStatus(delivery),
    receivedAt: receivedAt.getTime(),
    attempts: end?.outcome.status === "ignored" ? 0 : attempts.length,
    ...(end && { durationMs: roundTime(end.durationMs), finishedAt: (last?.startedAt ?? 0) + end.durationMs }),
    ...(last && !end && { startedAt: last.startedAt }),
    ...(error && { error }),
    ...(end?.outcome.status === "ignored" && { ignoredReason: end.outcome.reason }),
    ...(replayOf !== undefined && { replayOf }),
  };
}

/** Returns what the filters of the list compare, like an inbox. */
export function recentFiltered({ id, receivedAt, body, attempts }: RecentDelivery, redact: Redact): FilteredDelivery {
  return {
    id,
    receivedAt: receivedAt.getTime(),
    event: readEventFields(body),
    errors: () => attempts.flatMap(({ end }) => (end && errorOf(end.outcome, redact)) ?? []).reverse(),
  };
}

/** Describes the attempts of a delivery in memory, oldest first. */
export function recentTimeline({ attempts }: RecentDelivery, redact: Redact): AttemptInfo[] {
  return attempts.map((attempt, index) => describeAttempt(attempt, { number: index + 1, redact }));
}

function describeAttempt(
  { startedAt, end }: RecentAttempt,
  { number, redact }: { number: number; redact: Redact },
): AttemptInfo {
  if (!end) return { number, startedAt, outcome: "running" };
  const error = errorOf(end.outcome, redact);
  return {
    ...{ number, startedAt, outcome: end.outcome.status, durationMs: roundTime(end.durationMs) },
    ...(error && { error }),
    ...(end.responseStatus !== undefined && { responseStatus: end.responseStatus }),
    ...shownDetails(end.details()),
  };
}

/** The owner sees the message of the thrown error, which clients never receive. */
function errorOf(outcome: Outcome, redact: Redact): { code: string; message: string } | undefined {
  if (outcome.status !== "failed") return undefined;
  const { code, message, cause } = outcome.error;
  return { code, message: redact(cause === undefined ? message : describeError(cause).message) };
}

/** Rounds to a tenth of a millisecond. */
function roundTime(ms: number): number {
  return Math.round(ms * 10) / 10;
}
