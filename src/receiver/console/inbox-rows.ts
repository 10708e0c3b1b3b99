import type { AttemptInfo, ConsoleStatus, DeliverySummary } from "../../console/protocol/deliveries.ts";
import type { AttemptDetails, DeliveryAttempt, DeliveryStatus, StoredDelivery } from "../../inbox/inbox.ts";
import { readEvent } from "./delivery-event.ts";

/** The statuses of the console that a delivery in the inbox can have, and its status in the inbox. */
export const inboxStatuses: Readonly<Partial<Record<ConsoleStatus, DeliveryStatus>>> = {
  queued: "queued",
  retrying: "queued",
  running: "running",
  succeeded: "succeeded",
  dead: "dead",
  cancelled: "cancelled",
};

/** Describes a delivery of the inbox for the list. */
export function inboxSummary(delivery: StoredDelivery): DeliverySummary {
  const { id, endpoint, status, receivedAt, dueAt, startedAt, finishedAt, body, attempts, replayOf } = delivery;
  const last = attempts.at(-1);
  const isRunning = status === "running";
  return {
    ...{ id, endpoint, storage: "inbox", ...readEvent(body) },
    status: status === "queued" && attempts.length > 0 ? "retrying" : status,
    receivedAt: receivedAt.getTime(),
    attempts: attempts.length + (isRunning ? 1 : 0),
    ...(last?.durationMs !== undefined && { durationMs: last.durationMs }),
    ...(dueAt && { nextAttemptAt: dueAt.getTime() }),
    ...(isRunning && startedAt && { startedAt: startedAt.getTime() }),
    ...(finishedAt && { finishedAt: finishedAt.getTime() }),
    ...(last?.error && status !== "succeeded" && { error: last.error }),
    ...(replayOf !== undefined && { replayOf }),
  };
}

/** Describes the attempts of a delivery of the inbox, oldest first. */
export function inboxTimeline({ status, startedAt, attempts }: StoredDelivery): AttemptInfo[] {
  const timeline = attempts.map(describeAttempt);
  if (status !== "running") return timeline;
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  return [...timeline, { number, outcome: "running", ...(startedAt && { startedAt: startedAt.getTime() }) }];
}

function describeAttempt({ number, startedAt, durationMs, outcome, error, details }: DeliveryAttempt): AttemptInfo {
  return {
    number,
    outcome: details?.ignoredReason === undefined ? outcome : "ignored",
    ...(startedAt && { startedAt: startedAt.getTime() }),
    ...(durationMs !== undefined && { durationMs }),
    ...(error && { error }),
    ...shownDetails(details),
  };
}

/** Returns the recorded details under the names of the API. */
export function shownDetails(
  details: AttemptDetails | undefined,
): Pick<AttemptInfo, "result" | "stack" | "logs" | "isTruncated"> {
  if (!details) return {};
  const { result, stack, logs, isTruncated } = details;
  return {
    ...(result !== undefined && { result }),
    ...(stack !== undefined && { stack }),
    ...(logs && { logs }),
    ...(isTruncated && { isTruncated }),
  };
}
