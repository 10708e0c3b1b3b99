import { WebhookError } from "../../../core/errors.ts";
import { formatDuration } from "../../../core/options.ts";
import type { ListOptions, StoredDelivery } from "../../../inbox/inbox.ts";
import { summarizeEvent } from "../../../payload/names.ts";
import type { ServerInbox } from "../../../receiver/inbox.ts";
import { type ItemColumn, type Result, tableOf } from "../../invocation.ts";

/** A delivery without its body, its headers, and the details of its attempts, which can be large. */
export interface ListedDelivery extends Omit<StoredDelivery, "body" | "headers"> {
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
export const deliveryColumns: Readonly<Record<string, ItemColumn<ListedDelivery>>> = {
  id: { title: "ID", cell: ({ id }) => id },
  endpoint: { title: "Endpoint", cell: ({ endpoint }) => endpoint },
  status: { title: "Status", color: statusColor, cell: ({ status }) => status },
  event: { title: "Event", cell: ({ event = "" }) => event },
  repo: { title: "Repository", cell: ({ repo = "" }) => repo },
  subject: { title: "Subject", cell: ({ subject = "" }) => subject },
  receivedAt: { title: "Received", cell: ({ receivedAt }) => receivedAt.toISOString() },
  duration: { title: "Duration", cell: durationOf },
  attempts: { title: "Attempts", cell: ({ attempts }) => String(attempts.length) },
  note: { title: "Last error, reason, or next attempt", cell: noteFor },
};

/** Creates the result for a list of deliveries. */
export function deliveriesResult(deliveries: readonly ListedDelivery[]): Result {
  return { json: deliveries, quiet: deliveries.map(({ id }) => id), ...tableOf(deliveryColumns, deliveries) };
}

/** Replaces the body of a delivery with its event, repository, and subject, and removes other data that can be large. */
export function toListedDelivery({ body, headers: _headers, ...delivery }: StoredDelivery): ListedDelivery {
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
): Promise<{ deliveries: ListedDelivery[]; next?: string }> {
  const deliveries: ListedDelivery[] = [];
  let next = options.cursor;
  do {
    const page = await inbox.list({
      ...options,
      limit: Math.min(pageSize, limit - deliveries.length),
      ...(next !== undefined && { cursor: next }),
    });
    for (const delivery of page.deliveries) deliveries.push(toListedDelivery(delivery));
    next = page.next;
  } while (next !== undefined && deliveries.length < limit);
  return { deliveries, ...(next !== undefined && { next }) };
}

/** Returns the message for an empty list. Lists the known endpoints if the endpoint is unknown, because its name may be misspelled. */
export async function describeEmptyList(inbox: ServerInbox, { endpoint }: { endpoint?: string | undefined }) {
  const known = Object.keys(await inbox.counts()).sort();
  if (known.length === 0) return "The inbox contains no deliveries yet.";
  if (endpoint === undefined || known.includes(endpoint)) return "The inbox contains no matching deliveries.";
  return `The inbox contains no deliveries for endpoint "${endpoint}". Endpoints with deliveries: ${known.join(", ")}.`;
}

function durationOf({ attempts }: ListedDelivery): string {
  const durationMs = attempts.at(-1)?.durationMs;
  return durationMs === undefined ? "" : formatDuration(durationMs);
}

function noteFor({ status, dueAt, attempts }: ListedDelivery): string {
  const last = attempts.at(-1);
  const message = last?.error?.message ?? last?.reason;
  const due = status === "queued" && dueAt ? `due ${dueAt.toISOString()}` : undefined;
  return [due, message].filter((part) => part !== undefined).join(": ");
}

/** Reads a delivery. @throws `DELIVERY_UNKNOWN`. The exit code is 1. */
export async function findDelivery(
  inbox: ServerInbox,
  { id, endpoint }: { id: string; endpoint: string | undefined },
): Promise<StoredDelivery> {
  const found = await inbox.get(id, { ...(endpoint !== undefined && { endpoint }) });
  if (found) return found;
  const owner = endpoint === undefined ? "" : ` of endpoint "${endpoint}"`;
  throw new WebhookError(
    `The inbox contains no delivery "${id}"${owner}. To list deliveries, run: npx hub-webhooks deliveries list`,
    { code: "DELIVERY_UNKNOWN" },
  );
}
