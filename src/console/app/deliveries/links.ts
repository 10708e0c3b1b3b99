import type { DeliveryKey } from "../../protocol/deliveries.ts";
import { formatQuery, formatRoute, parseQuery, type Route } from "../state/route.ts";
import { type ListFilter, readFilter } from "./filter.ts";

/** The route of the list: its filters, and the delivery that is open. */
export interface ListRoute {
  filter: ListFilter;
  open: DeliveryKey | undefined;
}

/**
 * Reads the route of the list. If a delivery is open, the filters are in `list`, because both have an `endpoint`:
 * `#/deliveries/one?endpoint=retrain&id=7&list=status%3Ddead`.
 */
export function readListRoute({ path, query }: Route): ListRoute {
  if (path !== "deliveries/one") return { filter: readFilter(query), open: undefined };
  const { endpoint, id, list } = query;
  const open = endpoint !== undefined && id !== undefined ? { endpoint, id } : undefined;
  return { filter: readFilter(parseQuery(list ?? "")), open };
}

/** Returns the hash of the list with filters. */
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
