import type { AttemptInfo, ConsoleStatus, DeliveryList, DeliverySummary } from "../../console/protocol/deliveries.ts";
import type { DeliveryQuery } from "../../console/server/api.ts";
import { decodeQueryPart } from "../../core/urls.ts";
import { isWholeRepository, matchesFilter, matchesRepository, readFilter } from "../../inbox/filter.ts";
import {
  type DeliveryAttempt,
  type DeliveryStatus,
  deliveryStatuses,
  type Inbox,
  type ListOptions,
  type StoredDelivery,
} from "../../inbox/inbox.ts";
import { summarizeEvent } from "../../payload/names.ts";
import { originOf } from "../../payload/parse.ts";
import type { RecentAttempt, RecentDeliveries, RecentDelivery } from "../history.ts";

/** Reads the event, the repository, and the subject of a delivery for the list. The body can be anything, JSON or not. */
function readEvent(body: string | undefined): Pick<DeliverySummary, "event" | "repository" | "subject"> {
  const { scope, action = "", repoType = "", repoName, repoUrl, subject } = summarizeEvent(body);
  return {
    ...(subject !== undefined && { subject }),
    ...(scope !== undefined && { event: { scope, action } }),
    ...(repoName !== undefined && {
      repository: { type: repoType, name: repoName, url: isWebUrl(repoUrl) ? repoUrl : undefined },
    }),
  };
}

/** Whether a link to this URL is safe: a `javascript:` URL would run in the console. */
function isWebUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

export function summarize(delivery: StoredDelivery | RecentDelivery): DeliverySummary {
  const { id, endpoint, status, receivedAt, dueAt, startedAt, finishedAt, body, attempts, replayOf } = delivery;
  const last = attempts.at(-1);
  const isRunning = status === "running";
  // The handler does not run for an ignored delivery.
  const runs = attempts.filter(({ outcome }) => outcome !== "ignored");
  return {
    ...{ id, endpoint, storage: "storage" in delivery ? delivery.storage : "inbox", ...readEvent(body) },
    status: status === "queued" && attempts.length > 0 ? "retrying" : status,
    receivedAt: receivedAt.getTime(),
    attempts: runs.length + (isRunning ? 1 : 0),
    durationMs: last?.durationMs,
    nextAttemptAt: dueAt?.getTime(),
    startedAt: isRunning ? startedAt?.getTime() : undefined,
    finishedAt: finishedAt?.getTime(),
    error: status === "succeeded" ? undefined : last?.error,
    ignoredReason: status === "ignored" ? last?.reason : undefined,
    replayOf,
    origin: originOf(id) === "catch-up" ? "catch-up" : undefined,
  };
}

export function timelineOf({ status, startedAt, attempts }: StoredDelivery | RecentDelivery): AttemptInfo[] {
  const timeline = attempts.map(describeAttempt);
  if (status !== "running") return timeline;
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  return [...timeline, { number, outcome: "running", startedAt: startedAt?.getTime() }];
}

function describeAttempt(attempt: DeliveryAttempt | RecentAttempt): AttemptInfo {
  const { number, startedAt, durationMs, outcome, error, details = {} } = attempt;
  const { result, stack, logs, isTruncated } = details;
  return {
    ...{ number, outcome, startedAt: startedAt?.getTime(), durationMs, error },
    responseStatus: "responseStatus" in attempt ? attempt.responseStatus : undefined,
    ...{ result, stack, logs, isTruncated },
  };
}

/** The maximum number of pages of the inbox for one page of the console, when most deliveries do not match. */
const maxInboxPages = 5;

type Place = Pick<DeliverySummary, "receivedAt" | "id" | "endpoint">;

/**
 * Lists the deliveries of the inbox and of the memory as one list, newest first. A page contains about `limit` deliveries of the
 * inbox, and the deliveries in memory of the same span of time.
 */
export async function listDeliveries(
  query: DeliveryQuery,
  { limit, cursor }: { limit: number; cursor: string | undefined },
  /** `inbox` is missing if no endpoint runs in the background. */
  { recent, inbox }: { recent: RecentDeliveries; inbox: Inbox | undefined },
): Promise<Omit<DeliveryList, "totals">> {
  const position = readPosition(cursor);
  const inMemory = listRecent(query, recent)
    .filter((row) => !position.after || compare(row, position.after) > 0)
    .sort(compare);
  const statuses = inboxStatusesOf(query.statuses);
  const isMemoryDone = cursor !== undefined && position.inboxCursor === undefined;
  if (!inbox || statuses?.length === 0 || isMemoryDone) return pageOfMemory(inMemory, limit);
  const page = await listInbox(inbox, query, {
    ...toListOptions(query, statuses),
    limit,
    cursor: position.inboxCursor,
  });
  const last = page.rows.at(-1);
  const isLastPage = page.next === undefined;
  // A page without a row can still have a next page, because the inbox examines a limited number of deliveries at a time.
  const rows = isLastPage ? inMemory : last ? inMemory.filter((row) => compare(row, last) <= 0) : [];
  return {
    deliveries: [...page.rows, ...rows].sort(compare),
    ...(page.next !== undefined && { next: formatPosition(page.next, later(last, position.after)) }),
    searchedUntil: page.searchedUntil,
  };
}

/** Lists the matching deliveries in memory. The filters that need no body come first, because parsing many bodies takes long. */
function listRecent(query: DeliveryQuery, recent: RecentDeliveries): DeliverySummary[] {
  const filter = readFilter(toListOptions(query, undefined));
  return recent
    .values()
    .filter(({ status }) => hasStatus(status, query))
    .filter(({ endpoint }) => query.endpoint === undefined || endpoint === query.endpoint)
    .filter(({ id, receivedAt, body, attempts }) => {
      return !filter || matchesFilter(filter, { id, receivedAt: receivedAt.getTime(), body, attempts: () => attempts });
    })
    .map(summarize)
    .filter((row) => hasRepository(row, query));
}

function pageOfMemory(rows: readonly DeliverySummary[], limit: number): Omit<DeliveryList, "totals"> {
  const deliveries = rows.slice(0, limit);
  const last = deliveries.at(-1);
  return { deliveries, ...(rows.length > limit && last && { next: formatPosition("", last) }) };
}

async function listInbox(inbox: Inbox, query: DeliveryQuery, options: ListOptions & { limit: number }) {
  const rows: DeliverySummary[] = [];
  let next = options.cursor;
  for (let pages = 1; ; pages += 1) {
    const page = await inbox.list({ ...options, cursor: next });
    const summaries = page.deliveries.map(summarize);
    rows.push(...summaries.filter((row) => hasStatus(row.status, query) && hasRepository(row, query)));
    next = page.next;
    if (next === undefined || rows.length >= options.limit || pages >= maxInboxPages) {
      return { rows, next, searchedUntil: page.searchedUntil?.getTime() };
    }
  }
}

function toListOptions(query: DeliveryQuery, statuses: readonly DeliveryStatus[] | undefined): ListOptions {
  const { endpoint, repository, scope, action, search, from, until } = query;
  const [status] = statuses?.length === 1 ? statuses : [];
  const isWhole = repository !== undefined && isWholeRepository(repository);
  // The inbox filters by whole names. Its search finds a part of a name, also elsewhere in a body, which `hasRepository` excludes.
  const words = [isWhole ? "" : (repository ?? ""), search ?? ""].join(" ").trim();
  return {
    ...{ endpoint, status, scope, action },
    ...(isWhole && { repository }),
    ...(words !== "" && { search: words }),
    ...(from !== undefined && { receivedFrom: new Date(from) }),
    ...(until !== undefined && { receivedUntil: new Date(until) }),
  };
}

function inboxStatusesOf(statuses: readonly ConsoleStatus[] | undefined): readonly DeliveryStatus[] | undefined {
  if (!statuses) return undefined;
  const wanted = statuses.map((status) => (status === "retrying" ? "queued" : status));
  return deliveryStatuses.filter((status) => wanted.includes(status));
}

/** The filter "queued" contains the deliveries that wait for a retry, as the total of queued deliveries does. */
function hasStatus(status: ConsoleStatus, { statuses }: DeliveryQuery): boolean {
  return !statuses || statuses.includes(status) || (status === "retrying" && statuses.includes("queued"));
}

/** Whether a part of a name matches. The inbox filters by whole names, which a row can contain cut. */
function hasRepository({ repository }: DeliverySummary, { repository: filter }: DeliveryQuery): boolean {
  if (filter === undefined || isWholeRepository(filter)) return true;
  return repository !== undefined && matchesRepository(filter, repository);
}

/** Orders the newest first. At the same time, the order is arbitrary, but the same on each page. */
function compare(one: Place, other: Place): number {
  return (
    other.receivedAt - one.receivedAt || compareText(one.id, other.id) || compareText(one.endpoint, other.endpoint)
  );
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Returns the place that comes later in the list. After the clock was set back, that is not always the newer page's. */
function later(one: Place | undefined, other: Place | undefined): Place | undefined {
  return one && other ? (compare(one, other) > 0 ? one : other) : (one ?? other);
}

/** A cursor is opaque to the page: `<cursor of the inbox>~<time>~<endpoint>~<id>`. */
function formatPosition(inboxCursor: string, after: Place | undefined): string {
  const place = after ? [after.receivedAt, encodeURIComponent(after.endpoint), after.id] : [];
  return [inboxCursor, ...place].join("~");
}

/** Reads the end of a page: the cursor of the inbox, and the place up to which pages contain the deliveries in memory. */
function readPosition(cursor: string | undefined) {
  const [inboxCursor = "", time = "", endpoint = "", ...id] = cursor?.split("~") ?? [];
  const receivedAt = time === "" ? Number.NaN : Number(time);
  return {
    inboxCursor: inboxCursor === "" ? undefined : inboxCursor,
    after: Number.isFinite(receivedAt)
      ? { receivedAt, endpoint: decodeQueryPart(endpoint), id: id.join("~") }
      : undefined,
  };
}
