import * as z from "zod";
import type { StoredDelivery } from "../inbox.ts";
import { cursorInvalid } from "../inbox-errors.ts";

/** A part of a list of deliveries, newest first, that a page is made from. */
export interface Part {
  key: string;
  from: number;
  taken: number;
  found: readonly StoredDelivery[];
}

/** Takes the newest of all parts again and again. A delivery whose body is forgotten is passed over. */
export function merge(parts: readonly Part[], limit: number): StoredDelivery[] {
  const deliveries: StoredDelivery[] = [];
  while (deliveries.length < limit) {
    let newest: Part | undefined;
    for (const part of parts) if (arrivedAt(part) > arrivedAt(newest)) newest = part;
    const delivery = newest?.found[newest.taken];
    if (!newest || !delivery) break;
    newest.taken += 1;
    if (isKept(delivery)) deliveries.push(delivery);
  }
  return deliveries;
}

/** Whether a list holds nothing more to be shown: what is forgotten of what is done stands at its end. */
export function isComplete(found: readonly StoredDelivery[], limit: number): boolean {
  const last = found.at(-1);
  return found.length < limit || last === undefined || !isKept(last);
}

export function isKept({ body }: StoredDelivery): boolean {
  return body !== undefined;
}

function arrivedAt(part: Part | undefined): number {
  return part?.found[part.taken]?.receivedAt.getTime() ?? Number.NEGATIVE_INFINITY;
}

/** How far each list was read. What moves to another list meanwhile may be shown twice, or not. */
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
