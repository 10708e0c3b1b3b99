import * as z from "zod";
import { type DeliveryFilter, matchesFilter } from "../delivery-filter.ts";
import { readEventFields } from "../event-fields.ts";
import { type DeliveryPage, type ListOptions, pageSize, type StoredDelivery } from "../inbox.ts";
import { cursorInvalid } from "../inbox-errors.ts";

/** The number of newest deliveries that are compared with the filters. */
export const searchedNewest = 1_000;
/** The number of deliveries per read. It is small, because a body can have up to 10 MiB by default. */
const readSize = 100;

/**
 * Lists the deliveries that match all filters, newest first. Only compares the newest deliveries, because BullMQ has no search index.
 *
 * @param readPage reads a page that is only filtered by endpoint and status.
 * @throws `OPTION_INVALID` if the limit or the cursor is invalid.
 */
export async function listMatching(
  filter: DeliveryFilter,
  options: ListOptions,
  readPage: (options: ListOptions) => Promise<DeliveryPage>,
): Promise<DeliveryPage> {
  const { endpoint, status, cursor } = options;
  const limit = pageSize(options);
  const last = cursor === undefined ? undefined : parseCursor(cursor);
  const matching: StoredDelivery[] = [];
  let next: string | undefined;
  for (let examined = 0; examined < searchedNewest; ) {
    const page: DeliveryPage = await readPage({
      ...(endpoint !== undefined && { endpoint }),
      ...(status !== undefined && { status }),
      ...(next !== undefined && { cursor: next }),
      limit: readSize,
    });
    examined += page.deliveries.length;
    matching.push(...page.deliveries.filter((delivery) => matches(filter, delivery)));
    next = page.next;
    if (next === undefined) break;
  }
  const remaining = matching.sort(compare).filter((delivery) => !last || compare(delivery, last) > 0);
  const deliveries = remaining.slice(0, limit);
  const end = deliveries.at(-1);
  return {
    deliveries,
    ...(remaining.length > limit && end && { next: formatCursor(end) }),
    searchedNewest,
  };
}

function matches(filter: DeliveryFilter, { id, receivedAt, body, attempts }: StoredDelivery): boolean {
  return matchesFilter(filter, {
    id,
    receivedAt: receivedAt.getTime(),
    event: readEventFields(body),
    errors: () => attempts.flatMap(({ error }) => error ?? []).reverse(),
  });
}

type Position = Pick<StoredDelivery, "id" | "endpoint" | "receivedAt">;

/** Compares deliveries by time, newest first. The order of deliveries with the same time is fixed, for the cursor. */
function compare(one: Position, other: Position): number {
  const [first, second] = [one, other].map(({ endpoint, id }) => `${endpoint} ${id}`);
  return (
    other.receivedAt.getTime() - one.receivedAt.getTime() ||
    ((first ?? "") < (second ?? "") ? 1 : first === second ? 0 : -1)
  );
}

/** The last delivery of the previous page. */
const cursorSchema = z.object({ id: z.string(), endpoint: z.string(), receivedAt: z.coerce.date() });

function parseCursor(cursor: string): Position {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw cursorInvalid();
  }
}

function formatCursor({ id, endpoint, receivedAt }: Position): string {
  return Buffer.from(JSON.stringify({ id, endpoint, receivedAt })).toString("base64url");
}
