import { summarizeEvent } from "../../../console/event-summary.ts";
import { formatDuration } from "../../../core/duration.ts";
import type { ListOptions } from "../../../inbox/inbox.ts";
import type { StoredDelivery } from "../../../inbox/stored-delivery.ts";
import type { ServerInbox } from "../../../receiver/server-inbox.ts";
import type { Column, Result } from "../../output.ts";

/** A delivery as a list shows it: its body may be large. */
export interface DeliverySummary extends Omit<StoredDelivery, "body"> {
  /** What has happened, such as `repo.content update`; absent where the body does not say, or is not kept any more. */
  event?: string;
  /** Where it has happened, such as `dataset:me/data`. */
  repo?: string;
}

/** How many are read at once, each with a body of up to 10 MB. */
const pageSize = 20;

const statusColors: Readonly<Record<string, "green" | "yellow" | "red">> = {
  succeeded: "green",
  running: "yellow",
  dead: "red",
};

/** The colour of a status. */
export function statusColor(status: string): "green" | "yellow" | "red" | undefined {
  return statusColors[status];
}

/** The columns of a list. */
export const deliveryColumns: readonly Column[] = [
  { key: "id", title: "Id" },
  { key: "endpoint", title: "Endpoint" },
  { key: "status", title: "Status", color: statusColor },
  { key: "event", title: "Event" },
  { key: "repo", title: "Repository" },
  { key: "receivedAt", title: "Received" },
  { key: "duration", title: "Duration" },
  { key: "attempts", title: "Attempts" },
  { key: "note", title: "Last error or next attempt" },
];

/** A delivery as a row of {@link deliveryColumns}. */
export function deliveryRow(delivery: DeliverySummary): readonly string[] {
  const { id, endpoint, status, event = "", repo = "", receivedAt, attempts } = delivery;
  const durationMs = attempts.at(-1)?.durationMs;
  const duration = durationMs === undefined ? "" : formatDuration(durationMs);
  return [
    ...[id, endpoint, status, event, repo, receivedAt.toISOString()],
    ...[duration, String(attempts.length), noteOn(delivery)],
  ];
}

/** The result that shows a list of deliveries. */
export function deliveriesResult(deliveries: readonly DeliverySummary[]): Result {
  return {
    json: deliveries,
    quiet: deliveries.map(({ id }) => id),
    columns: deliveryColumns,
    rows: deliveries.map(deliveryRow),
  };
}

/** Leaves the body out, but for what it is about. */
export function summarize({ body, ...delivery }: StoredDelivery): DeliverySummary {
  const { scope, action, repoType, repoName } = summarizeEvent(body)?.parts ?? {};
  const event = [scope, action].filter((text) => text !== undefined).join(" ");
  const repo = [repoType, repoName].filter((text) => text !== undefined).join(":");
  return { ...delivery, ...(event !== "" && { event }), ...(repo !== "" && { repo }) };
}

/**
 * Lists deliveries without their bodies, a few at a time, so that not all bodies are in memory together.
 *
 * @param options `limit` may be `Infinity`.
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

/** What to say where there is nothing to show: an endpoint that nobody knows may be mistyped. */
export async function describeNothing(inbox: ServerInbox, { endpoint }: { endpoint: string | undefined }) {
  const known = Object.keys(await inbox.counts()).sort();
  if (known.length === 0) return "There are no deliveries in the inbox yet.";
  if (endpoint === undefined || known.includes(endpoint)) return "There are no such deliveries in the inbox.";
  return `There are no deliveries of "${endpoint}" in the inbox. It has those of: ${known.join(", ")}.`;
}

function noteOn({ status, dueAt, attempts }: DeliverySummary): string {
  const message = attempts.at(-1)?.error?.message;
  const due = status === "queued" && dueAt ? `due ${dueAt.toISOString()}` : undefined;
  return [due, message].filter((part) => part !== undefined).join(": ");
}
