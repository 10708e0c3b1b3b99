import type { DeliverySummary } from "../../protocol/deliveries.ts";
import { keyText } from "./links.ts";

/** More rows than this would slow the page down. Older deliveries are on a page of their own. */
export const maxRows = 500;

/** The rows of the list, and the new ones that wait until they can be inserted without moving what the user points at. */
export interface ListRows {
  /** Newest first. */
  rows: readonly DeliverySummary[];
  /** Newest first. */
  waiting: readonly DeliverySummary[];
  /** Whether rows were dropped, at the end or while they waited. */
  isTrimmed: boolean;
}

/**
 * Adds what the stream reported. Known deliveries change in place, even if they do not match the filter any longer:
 * a row that disappears while the user reads it is worse than one that stays until the list is loaded again.
 */
export function mergeDeliveries(
  current: ListRows,
  incoming: readonly DeliverySummary[],
  {
    accepts,
    isHeld,
    isComplete,
    max = maxRows,
  }: {
    accepts: (delivery: DeliverySummary) => boolean;
    /** Whether new rows wait. */
    isHeld: boolean;
    /** Whether all older deliveries are in the list. Otherwise one that is older than the last row belongs to a later page. */
    isComplete: boolean;
    /** The maximum number of rows, and of rows that wait. */
    max?: number;
  },
): ListRows {
  const rows = [...current.rows];
  const waiting = [...current.waiting];
  const rowIndex = new Map(rows.map((row, index) => [keyText(row), index]));
  const waitingIndex = new Map(waiting.map((row, index) => [keyText(row), index]));
  const oldest = isComplete && !current.isTrimmed ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.receivedAt ?? 0);
  for (const delivery of incoming) {
    const key = keyText(delivery);
    const [row, held] = [rowIndex.get(key), waitingIndex.get(key)];
    if (row !== undefined) rows[row] = delivery;
    else if (held !== undefined) waiting[held] = delivery;
    else if (accepts(delivery) && delivery.receivedAt >= oldest) {
      waitingIndex.set(key, waiting.length);
      waiting.push(delivery);
    }
  }
  const isTrimmed = current.isTrimmed || waiting.length > max;
  const merged = { rows, waiting: newestFirst(waiting).slice(0, max), isTrimmed };
  return isHeld ? merged : insertWaiting(merged, max);
}

/** Inserts the rows that wait. */
export function insertWaiting({ rows, waiting, isTrimmed }: ListRows, max: number = maxRows): ListRows {
  if (waiting.length === 0) return { rows, waiting, isTrimmed };
  const all = newestFirst([...waiting, ...rows]);
  return { rows: all.slice(0, max), waiting: [], isTrimmed: isTrimmed || all.length > max };
}

/** Adds a page of deliveries, without those that are in the list already. The stream can have reported older ones before. */
export function appendPage(current: ListRows, page: readonly DeliverySummary[], max: number = maxRows): ListRows {
  const known = new Set([...current.rows, ...current.waiting].map(keyText));
  const rows = newestFirst([...current.rows, ...page.filter((delivery) => !known.has(keyText(delivery)))]);
  return { ...current, rows: rows.slice(0, max), isTrimmed: current.isTrimmed || rows.length > max };
}

function newestFirst(deliveries: readonly DeliverySummary[]): DeliverySummary[] {
  return deliveries.toSorted((a, b) => b.receivedAt - a.receivedAt);
}
