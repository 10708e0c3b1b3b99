import type { ConsoleStatus, DeliveryList, DeliverySummary, SearchLimits } from "../../console/protocol/deliveries.ts";
import type { DeliveryQuery } from "../../console/server/deliveries-api.ts";
import { matchesFilter, readFilter } from "../../inbox/delivery-filter.ts";
import type { DeliveryStatus, Inbox, ListOptions } from "../../inbox/inbox.ts";
import type { RecentDeliveries, RecentDelivery } from "../recent/recent-deliveries.ts";
import { inboxStatuses, inboxSummary } from "./inbox-rows.ts";
import { recentFiltered, recentStatus, recentSummary } from "./recent-rows.ts";

/** The maximum number of pages of the inbox for one page of the console, when most deliveries do not match. */
const maxInboxPages = 5;

/** The fields that decide the order of the list. */
type Place = Pick<DeliverySummary, "receivedAt" | "id" | "endpoint">;

/** The end of a page: the cursor of the inbox, and the place up to which pages contain the deliveries in memory. */
interface Position {
  inboxCursor: string | undefined;
  after: Place | undefined;
}

export interface ListSource {
  recent: RecentDeliveries;
  /** Missing if no endpoint runs in the background. */
  inbox: Inbox | undefined;
  redact: (text: string) => string;
}

/**
 * Lists the deliveries of the inbox and of the memory as one list, newest first. A page contains about `limit` deliveries of the
 * inbox, and the deliveries in memory of the same span of time.
 */
export async function listDeliveries(
  query: DeliveryQuery,
  { limit, cursor }: { limit: number; cursor: string | undefined },
  { recent, inbox, redact }: ListSource,
): Promise<Omit<DeliveryList, "totals">> {
  const position = readPosition(cursor);
  const inMemory = listRecent(query, { recent, redact })
    .filter((row) => !position.after || compare(row, position.after) > 0)
    .sort(compare);
  const statuses = inboxStatusesOf(query.statuses);
  const isMemoryDone = cursor !== undefined && position.inboxCursor === undefined;
  if (!inbox || statuses?.length === 0 || isMemoryDone) {
    return pageOfMemory(inMemory, limit);
  }
  const page = await listInbox(inbox, { query, statuses, limit, cursor: position.inboxCursor });
  const last = page.rows.at(-1);
  const isLastPage = page.next === undefined;
  // A page without a row can still have a next page, because the inbox examines a limited number of deliveries at a time.
  const rows = isLastPage ? inMemory : last ? inMemory.filter((row) => compare(row, last) <= 0) : [];
  return {
    deliveries: [...page.rows, ...rows].sort(compare),
    ...(page.next !== undefined && { next: formatPosition(page.next, later(last, position.after)) }),
    ...page.notes,
  };
}

/** Lists the matching deliveries in memory. The filters that need no body come first, because parsing many bodies takes long. */
function listRecent(query: DeliveryQuery, { recent, redact }: Omit<ListSource, "inbox">): DeliverySummary[] {
  const filter = readFilter(toListOptions(query, undefined));
  return [...recent.values()]
    .filter((delivery) => hasStatus(recentStatus(delivery), query) && isWithin(delivery, query))
    .filter((delivery) => !filter?.hasContent || matchesFilter(filter, recentFiltered(delivery, redact)))
    .map((delivery) => recentSummary(delivery, redact));
}

function pageOfMemory(rows: readonly DeliverySummary[], limit: number): Omit<DeliveryList, "totals"> {
  const deliveries = rows.slice(0, limit);
  const last = deliveries.at(-1);
  return { deliveries, ...(rows.length > limit && last && { next: formatPosition("", last) }) };
}

async function listInbox(
  inbox: Inbox,
  {
    query,
    statuses,
    limit,
    cursor,
  }: {
    query: DeliveryQuery;
    statuses: readonly DeliveryStatus[] | undefined;
    limit: number;
    cursor: string | undefined;
  },
): Promise<{
  rows: DeliverySummary[];
  next: string | undefined;
  notes: SearchLimits;
}> {
  const options = toListOptions(query, statuses);
  const rows: DeliverySummary[] = [];
  let next = cursor;
  for (let pages = 0; ; pages += 1) {
    const page = await inbox.list({ ...options, limit, ...(next && { cursor: next }) });
    rows.push(...page.deliveries.map(inboxSummary).filter(({ status }) => hasStatus(status, query)));
    next = page.next;
    const { searchedNewest, unindexed } = page;
    const notes = { ...(searchedNewest !== undefined && { searchedNewest }), ...(unindexed && { unindexed }) };
    if (next === undefined || rows.length >= limit || pages + 1 >= maxInboxPages) return { rows, next, notes };
  }
}

function toListOptions(query: DeliveryQuery, statuses: readonly DeliveryStatus[] | undefined): ListOptions {
  const { endpoint, repository, scope, action, search, from, until } = query;
  const [status] = statuses?.length === 1 ? statuses : [];
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(status && { status }),
    ...(repository !== undefined && { repository }),
    ...(scope !== undefined && { scope }),
    ...(action !== undefined && { action }),
    ...(search?.trim() && { search }),
    ...(from !== undefined && { receivedFrom: new Date(from) }),
    ...(until !== undefined && { receivedUntil: new Date(until) }),
  };
}

function inboxStatusesOf(statuses: readonly ConsoleStatus[] | undefined): readonly DeliveryStatus[] | undefined {
  if (!statuses) return undefined;
  return [...new Set(statuses.flatMap((status) => inboxStatuses[status] ?? []))];
}

/** The filters that need no body. */
function isWithin({ endpoint, receivedAt }: RecentDelivery, query: DeliveryQuery): boolean {
  const at = receivedAt.getTime();
  return (
    (query.endpoint === undefined || query.endpoint === endpoint) &&
    (query.from === undefined || at >= query.from) &&
    (query.until === undefined || at < query.until)
  );
}

/** The filter "queued" contains the deliveries that wait for a retry, as the total of queued deliveries does. */
function hasStatus(status: ConsoleStatus, { statuses }: DeliveryQuery): boolean {
  return !statuses || statuses.includes(status) || (status === "retrying" && statuses.includes("queued"));
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

function readPosition(cursor: string | undefined): Position {
  const [inboxCursor = "", time = "", endpoint = "", ...id] = cursor?.split("~") ?? [];
  const receivedAt = time === "" ? Number.NaN : Number(time);
  return {
    inboxCursor: inboxCursor === "" ? undefined : inboxCursor,
    after: Number.isFinite(receivedAt) ? { receivedAt, endpoint: decode(endpoint), id: id.join("~") } : undefined,
  };
}

/** A cursor can be damaged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
