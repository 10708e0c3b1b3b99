import * as z from "zod";
import { cursorInvalid } from "../errors.ts";
import { type DeliveryFilter, matchesFilter, maxSearchMs } from "../filter.ts";
import type { DeliveryPage, DeliveryStatus, StoredDelivery } from "../inbox.ts";

/** A range of one BullMQ list, newest deliveries first. Several parts are merged into a page. */
export interface Part {
  /** Identifies the list by its endpoint and name. */
  key: string;
  /** The position in the list of the first delivery in `found`. */
  from: number;
  /** The number of deliveries from `found` that are on this page or were skipped. */
  taken: number;
  found: readonly StoredDelivery[];
  /** The only status of deliveries on the page. The list of succeeded deliveries also contains ignored ones. */
  status?: DeliveryStatus;
}

/**
 * Returns up to `limit` of the newest deliveries of all parts, and updates `taken`. Skips deliveries whose body was removed, and
 * deliveries with another status.
 */
export function merge(parts: readonly Part[], limit: number): StoredDelivery[] {
  const deliveries: StoredDelivery[] = [];
  while (deliveries.length < limit) {
    let newest: Part | undefined;
    for (const part of parts) if (receivedAtOf(part) > receivedAtOf(newest)) newest = part;
    const delivery = newest?.found[newest.taken];
    if (!newest || !delivery) break;
    newest.taken += 1;
    if (isKept(delivery) && (newest.status ?? delivery.status) === delivery.status) deliveries.push(delivery);
  }
  return deliveries;
}

/** Whether a list contains no more deliveries with a body after `found`. Deliveries without a body are last. */
export function isComplete(found: readonly StoredDelivery[], limit: number): boolean {
  const last = found.at(-1);
  return found.length < limit || last === undefined || !isKept(last);
}

export function isKept({ body }: StoredDelivery): boolean {
  return body !== undefined;
}

function receivedAtOf(part: Part | undefined): number {
  return part?.found[part.taken]?.receivedAt.getTime() ?? Number.NEGATIVE_INFINITY;
}

/**
 * A cursor contains the next position in each list. A delivery that moves to another list between two requests can
 * appear on both pages or on neither.
 */
const cursorSchema = z.record(z.string(), z.number().int().nonnegative());

export function readCursor(cursor: string | undefined): z.infer<typeof cursorSchema> {
  if (cursor === undefined) return {};
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw cursorInvalid();
  }
}

export function writeCursor(parts: readonly Part[]): string {
  const offsets = parts.map(({ key, from, taken }) => [key, from + taken] as const).filter(([, offset]) => offset > 0);
  return Buffer.from(JSON.stringify(Object.fromEntries(offsets))).toString("base64url");
}

/** The number of deliveries per read. It is small, because a body can have up to 10 MiB by default. */
const readSize = 100;

/**
 * Finds deliveries that match filters. Examines the deliveries one by one, newest first, until the page is full or the time is over.
 *
 * @param readParts reads the next deliveries with their details, which are only filtered by endpoint and status.
 */
export async function findMatching(
  filter: DeliveryFilter,
  { limit, cursor }: { limit: number; cursor: string | undefined },
  readParts: (cursor: string | undefined, limit: number) => Promise<{ parts: readonly Part[]; hasMore: () => boolean }>,
): Promise<DeliveryPage> {
  const stopAt = performance.now() + maxSearchMs;
  const deliveries: StoredDelivery[] = [];
  for (let from = cursor; ; ) {
    const { parts, hasMore } = await readParts(from, readSize);
    let last: StoredDelivery | undefined;
    for (let examined = 0; examined < readSize && deliveries.length < limit; examined += 1) {
      const [delivery] = merge(parts, 1);
      if (!delivery) break;
      last = delivery;
      if (matches(filter, delivery)) deliveries.push(withoutDetails(delivery));
    }
    if (!hasMore()) return { deliveries };
    from = writeCursor(parts);
    if (deliveries.length === limit || performance.now() >= stopAt) {
      return { deliveries, next: from, ...(last && { searchedUntil: last.receivedAt }) };
    }
  }
}

function matches(filter: DeliveryFilter, { id, receivedAt, body, attempts }: StoredDelivery): boolean {
  return matchesFilter(filter, { id, receivedAt: receivedAt.getTime(), body, attempts: () => attempts });
}

/** A list contains no details. */
function withoutDetails({ headers: _, attempts, ...delivery }: StoredDelivery): StoredDelivery {
  return { ...delivery, attempts: attempts.map(({ details: _details, ...attempt }) => attempt) };
}
