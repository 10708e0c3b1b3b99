import { areFound, matchesRepository, searchWords } from "../../../inbox/filter.ts";
import type { DeliveryFilter, DeliveryKey, DeliverySummary } from "../../protocol/deliveries.ts";
import { formatMoment } from "../format.ts";
import { formatQuery, formatRoute, parseQuery, type Route } from "../state.ts";
import { isStatus, statusLooks } from "./status.tsx";

/** The filters of the list as they are in the URL. `last` is a window that moves with the time, such as `1h`. */
export interface ListFilter extends Omit<DeliveryFilter, "from" | "until"> {
  last?: string;
  from?: number;
  until?: number;
}

export const timeWindows: Readonly<Record<string, { label: string; ms: number }>> = {
  "15m": { label: "Last 15 minutes", ms: 900_000 },
  "1h": { label: "Last hour", ms: 3_600_000 },
  "24h": { label: "Last 24 hours", ms: 86_400_000 },
  "7d": { label: "Last 7 days", ms: 604_800_000 },
};

const textNames = ["endpoint", "scope", "action", "repository", "search"] as const;

/** Reads the filters from the query of a route. Unknown values are left out. */
export function readFilter(query: Readonly<Record<string, string>>): ListFilter {
  const filter: ListFilter = {};
  for (const name of textNames) {
    if (query[name]) filter[name] = query[name];
  }
  const statuses = readStatuses(query.status);
  if (statuses.length > 0) filter.status = statuses.join();
  if (query.last && Object.hasOwn(timeWindows, query.last)) filter.last = query.last;
  for (const name of ["from", "until"] as const) {
    const at = Number(query[name] ?? Number.NaN);
    // The maximum of a `Date`, beyond which the page could not show the time.
    if (Math.abs(at) <= 8.64e15) filter[name] = at;
  }
  return filter;
}

/** The statuses of a filter, which separates them by commas. */
export function readStatuses(text: string | undefined) {
  return (text ?? "").split(",").filter(isStatus);
}

/** Returns the filter of the API. A moving window becomes a moment. */
export function toApiFilter({ last, ...filter }: ListFilter, now: number): DeliveryFilter {
  const window = last === undefined ? undefined : timeWindows[last];
  return window ? { ...filter, from: now - window.ms } : filter;
}

/** Returns a function that decides whether a delivery of the stream belongs to the list. */
export function toPredicate(filter: ListFilter, now: number): (delivery: DeliverySummary) => boolean {
  const { endpoint, scope, action, repository, from, until } = toApiFilter(filter, now);
  const hasStatus = toStatusPredicate(filter);
  const searched = searchWords(filter.search ?? "");
  return (delivery) =>
    hasStatus(delivery) &&
    (endpoint === undefined || delivery.endpoint === endpoint) &&
    (scope === undefined || delivery.event?.scope === scope) &&
    (action === undefined || delivery.event?.action === action) &&
    (repository === undefined ||
      (delivery.repository !== undefined && matchesRepository(repository, delivery.repository))) &&
    (from === undefined || delivery.receivedAt >= from) &&
    (until === undefined || delivery.receivedAt < until) &&
    (searched.length === 0 || areFound(searched, searchedTexts(delivery)));
}

/**
 * Returns a function that decides whether a delivery of the list stays in it after a change. Only the status can change, and what the
 * server's search examines besides the row.
 */
export function toStatusPredicate(filter: ListFilter): (delivery: Pick<DeliverySummary, "status">) => boolean {
  const statuses = readStatuses(filter.status);
  // The filter "queued" contains the deliveries that wait for a retry, as the total of queued deliveries does.
  return ({ status }) =>
    statuses.length === 0 || statuses.includes(status) || (status === "retrying" && statuses.includes("queued"));
}

/** Returns the texts of a row that the inbox searches too. The inbox also searches the body, earlier errors, and log lines. */
function searchedTexts({ id, repository, event, error }: DeliverySummary): (string | undefined)[] {
  const name = repository && `${repository.type}:${repository.name}`;
  return [id, name, event?.scope, event?.action, error?.code, error?.message];
}

/** A filter that is set, as a chip. */
interface FilterChip {
  /** The filters that the chip removes. */
  names: readonly (keyof ListFilter)[];
  text: string;
}

export function listChips(filter: ListFilter, now: Date): FilterChip[] {
  const chips: FilterChip[] = [];
  const statuses = readStatuses(filter.status).map((status) => statusLooks[status].label);
  if (statuses.length > 0) chips.push({ names: ["status"], text: `Status: ${statuses.join(", ")}` });
  for (const name of textNames) {
    const value = filter[name];
    if (value) chips.push({ names: [name], text: `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${value}` });
  }
  const time = describeTime(filter, now);
  if (time !== undefined) chips.push({ names: ["last", "from", "until"], text: time });
  return chips;
}

export function describeTime({ last, from, until }: ListFilter, now: Date): string | undefined {
  const [start, end] = [from, until].map((at) => (at === undefined ? undefined : formatMoment(new Date(at), now)));
  const window = last === undefined ? undefined : timeWindows[last]?.label;
  if (window !== undefined) return end === undefined ? window : `${window}, before ${end}`;
  if (start !== undefined && end !== undefined) return `${start} – ${end}`;
  if (start !== undefined) return `Since ${start}`;
  return end === undefined ? undefined : `Before ${end}`;
}

/**
 * Reads the route of the list. If a delivery is open, the filters are in `list`, because both have an `endpoint`:
 * `#/deliveries/one?endpoint=retrain&id=7&list=status%3Ddead`.
 */
export function readListRoute({ path, query }: Route) {
  if (path !== "deliveries/one") return { filter: readFilter(query), open: undefined };
  const { endpoint, id, list } = query;
  const open = endpoint !== undefined && id !== undefined ? { endpoint, id } : undefined;
  return { filter: readFilter(parseQuery(list ?? "")), open };
}

export function listHash(filter: ListFilter): string {
  return formatRoute("deliveries", { ...filter });
}

/** Returns the hash of a delivery. Closing it returns to the list with `filter`. */
export function deliveryHash({ endpoint, id }: DeliveryKey, filter: ListFilter = {}): string {
  return formatRoute("deliveries/one", { endpoint, id, list: formatQuery({ ...filter }) });
}

/** One text per delivery, for keys. */
export function keyText({ endpoint, id }: DeliveryKey): string {
  return JSON.stringify([endpoint, id]);
}
