import { WebhookError } from "../../../core/errors.ts";
import { formatDuration } from "../../../core/options.ts";
import type { ListOptions, StoredDelivery } from "../../../inbox/inbox.ts";
import { summarizeEvent } from "../../../payload/names.ts";
import type { ServerInbox } from "../../../receiver/inbox.ts";
import type { Column, Result } from "../../invocation.ts";

/** A delivery without its body, its headers, and the details of its attempts, which can be large. */
export interface DeliverySummary extends Omit<StoredDelivery, "body" | "headers"> {
  /** The event, such as `repo.content update`. Absent if the body was removed or contains no event. */
  event?: string;
  /** The repository, such as `dataset:me/data`. */
  repo?: string;
  /** The pushed ref, such as `main`, or the discussion or pull request, such as `#3`. */
  subject?: string;
}

/** The number of deliveries per read. The number is small, because a body can have up to 10 MiB by default. */
const pageSize = 20;

const statusColors: Readonly<Record<string, "green" | "yellow" | "red">> = {
  succeeded: "green",
  running: "yellow",
  dead: "red",
};

/** Returns the color of a status. */
export function statusColor(status: string): "green" | "yellow" | "red" | undefined {
  return statusColors[status];
}

/** The columns of a list of deliveries. */
export const deliveryColumns: readonly Column[] = [
  { key: "id", title: "ID" },
  { key: "endpoint", title: "Endpoint" },
  { key: "status", title: "Status", color: statusColor },
  { key: "event", title: "Event" },
  { key: "repo", title: "Repository" },
  { key: "subject", title: "Subject" },
  { key: "receivedAt", title: "Received" },
  { key: "duration", title: "Duration" },
  { key: "attempts", title: "Attempts" },
  { key: "note", title: "Last error, reason, or next attempt" },
];

/** Formats a delivery as a row of {@link deliveryColumns}. */
export function deliveryRow(delivery: DeliverySummary): readonly string[] {
  const { id, endpoint, status, event = "", repo = "", subject = "", receivedAt, attempts } = delivery;
  const durationMs = attempts.at(-1)?.durationMs;
  const duration = durationMs === undefined ? "" : formatDuration(durationMs);
  return [
    ...[id, endpoint, status, event, repo, subject, receivedAt.toISOString()],
    ...[duration, String(attempts.length), noteFor(delivery)],
  ];
}

/** Creates the result for a list of deliveries. */
export function deliveriesResult(deliveries: readonly DeliverySummary[]): Result {
  return {
    json: deliveries,
    quiet: deliveries.map(({ id }) => id),
    columns: deliveryColumns,
    rows: deliveries.map(deliveryRow),
  };
}

/** Replaces the body of a delivery with its event, repository, and subject, and removes other data that can be large. */
export function summarize({ body, headers: _headers, ...delivery }: StoredDelivery): DeliverySummary {
  const { scope, action, repoType, repoName, subject } = summarizeEvent(body);
  const event = [scope, action].filter((text) => text !== undefined).join(" ");
  const repo = [repoType, repoName].filter((text) => text !== undefined).join(":");
  const attempts = delivery.attempts.map(({ details: _details, ...attempt }) => attempt);
  return {
    ...{ ...delivery, attempts },
    ...(event !== "" && { event }),
    ...(repo !== "" && { repo }),
    ...(subject !== undefined && { subject }),
  };
}

/**
 * Lists deliveries without their bodies. Reads a few deliveries at a time to limit the memory for their bodies.
 *
 * @param options `limit` can be `Infinity`.
 */
export async function listDeliveries(
  inbox: ServerInbox,
  { limit, ...options }: ListOptions & { limit: number },
): Promise<{ deliveries: DeliverySummary[]; next?: string }> {
  const deliveries: DeliverySummary[] = [];
  let next = options.cursor;
  do {
    const page = await inbox.list({
      ...options,
      limit: Math.min(pageSize, limit - deliveries.length),
      ...(next !== undefined && { cursor: next }),
    });
    for (const delivery of page.deliveries) deliveries.push(summarize(delivery));
    next = page.next;
  } while (next !== undefined && deliveries.length < limit);
  return { deliveries, ...(next !== undefined && { next }) };
}

/**
 * Returns the message for an empty list. Lists the known endpoints if the endpoint is unknown, because its name may be
 * misspelled.
 */
export async function describeEmptyList(inbox: ServerInbox, { endpoint }: { endpoint: string | undefined }) {
  const known = Object.keys(await inbox.counts()).sort();
  if (known.length === 0) return "The inbox contains no deliveries yet.";
  if (endpoint === undefined || known.includes(endpoint)) return "The inbox contains no matching deliveries.";
  return `The inbox contains no deliveries for endpoint "${endpoint}". Endpoints with deliveries: ${known.join(", ")}.`;
}

function noteFor({ status, dueAt, attempts }: DeliverySummary): string {
  const last = attempts.at(-1);
  const message = last?.error?.message ?? last?.reason;
  const due = status === "queued" && dueAt ? `due ${dueAt.toISOString()}` : undefined;
  return [due, message].filter((part) => part !== undefined).join(": ");
}

/** Creates the error for an unknown delivery ID. The exit code is 1. */
export function deliveryUnknown({ id, endpoint }: { id: string; endpoint: string | undefined }): WebhookError {
  const owner = endpoint === undefined ? "" : ` of endpoint "${endpoint}"`;
  return new WebhookError(
    `The inbox contains no delivery "${id}"${owner}. To list deliveries, run: npx hub-webhooks deliveries list`,
    { code: "DELIVERY_UNKNOWN" },
  );
}
