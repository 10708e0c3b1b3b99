import * as z from "zod";
import type { StoredDelivery } from "../inbox.ts";
import { cursorInvalid } from "../inbox-errors.ts";

/** A range of one BullMQ list, newest deliveries first. Several parts are merged into a page. */
export interface Part {
  /** Identifies the list by its endpoint and name. */
  key: string;
  /** The position in the list of the first delivery in `found`. */
  from: number;
  /** The number of deliveries from `found` that are on this page or were skipped. */
  taken: number;
  found: readonly StoredDelivery[];
}

/** Returns up to `limit` of the newest deliveries of all parts, and updates `taken`. Skips deliveries whose body was removed. */
export function merge(parts: readonly Part[], limit: number): StoredDelivery[] {
  const deliveries: StoredDelivery[] = [];
  while (deliveries.length < limit) {
    let newest: Part | undefined;
    for (const part of parts) if (receivedAtOf(part) > receivedAtOf(newest)) newest = part;
    const delivery = newest?.found[newest.taken];
    if (!newest || !delivery) break;
    newest.taken += 1;
    if (isKept(delivery)) deliveries.push(delivery);
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
