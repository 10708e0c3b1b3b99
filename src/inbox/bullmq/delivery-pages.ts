import * as z from "zod/mini";
import { cursorInvalid } from "../errors.ts";
import { matchesFilter, maxSearchMs, readFilter } from "../filter.ts";
import { type DeliveryPage, type ListOptions, pageSize, type StoredDelivery } from "../inbox.ts";
import { listNames, type StoredQueue } from "./stored-queue.ts";

/** The number of deliveries per read of a search. It is small, because a body can have up to 10 MiB by default. */
const searchSize = 100;
/** The maximum number of reads per page. Each read examines as many deliveries as are missing on the page. */
const maxPageReads = 20;

/**
 * Lists the deliveries of several queues, newest first. Reads until the page is full: a search can skip most deliveries, and a page of
 * succeeded deliveries is read from a list that also contains ignored ones.
 *
 * @throws `OPTION_INVALID` if an option is invalid.
 */
export async function listDeliveries(
  readQueues: () => Promise<readonly StoredQueue[]>,
  options: ListOptions,
): Promise<DeliveryPage> {
  const filter = readFilter(options);
  const limit = pageSize(options);
  let offsets = readCursor(options.cursor);
  const stopAt = performance.now() + maxSearchMs;
  const queues = await readQueues();
  const withDetails = filter !== undefined && filter.words.length > 0;
  const deliveries: StoredDelivery[] = [];
  for (let reads = 1; ; reads += 1) {
    const size = filter ? searchSize : limit - deliveries.length;
    const parts = await readParts(queues, options, { offsets, limit: size, withDetails });
    let last: StoredDelivery | undefined;
    for (let examined = 0; examined < size && deliveries.length < limit; examined += 1) {
      const delivery = takeNewest(parts, options);
      if (!delivery) break;
      last = delivery;
      const { id, body, attempts } = delivery;
      const receivedAt = delivery.receivedAt.getTime();
      if (!filter || matchesFilter(filter, { id, receivedAt, body, attempts: () => attempts })) {
        deliveries.push(withoutDetails(delivery));
      }
    }
    if (!parts.some((part) => hasMore(part, size))) return { deliveries };
    offsets = Object.fromEntries(parts.map(({ key, from, taken }) => [key, from + taken]));
    const isOver = filter ? performance.now() >= stopAt : reads === maxPageReads;
    if (deliveries.length === limit || isOver) {
      return { deliveries, next: writeCursor(offsets), ...(filter && last && { searchedUntil: last.receivedAt }) };
    }
  }
}

/**
 * A range of one BullMQ list, newest deliveries first. `from`: the position in the list of the first delivery in `found`. `taken`: the
 * number of deliveries from `found` that are on this page or were skipped.
 */
type Part = Awaited<ReturnType<typeof readParts>>[number];

async function readParts(
  queues: readonly StoredQueue[],
  { status }: ListOptions,
  { offsets, ...range }: { offsets: Offsets; limit: number; withDetails: boolean },
) {
  const lists = queues.flatMap((queue) => listNames(status).map((list) => ({ queue, list })));
  return Promise.all(
    lists.map(async ({ queue, list }) => {
      const key = `${queue.endpoint} ${list}`;
      const from = offsets[key] ?? 0;
      return { key, from, taken: 0, found: await queue.read(list, { from, ...range }) };
    }),
  );
}

/** Takes the newest delivery of all parts. Skips deliveries whose body was removed, and deliveries with another status. */
function takeNewest(parts: readonly Part[], { status }: ListOptions): StoredDelivery | undefined {
  for (;;) {
    let newest: Part | undefined;
    for (const part of parts) if (receivedAtOf(part) > receivedAtOf(newest)) newest = part;
    const delivery = newest?.found[newest.taken];
    if (!newest || !delivery) return undefined;
    newest.taken += 1;
    // The list of succeeded deliveries also contains ignored ones.
    if (isKept(delivery) && (status ?? delivery.status) === delivery.status) return delivery;
  }
}

/** Whether the list contains further deliveries with a body. Deliveries without a body are last. */
function hasMore({ taken, found }: Part, limit: number): boolean {
  const last = found.at(-1);
  const isComplete = found.length < limit || last === undefined || !isKept(last);
  return isComplete ? found.slice(taken).some(isKept) : true;
}

function isKept({ body }: StoredDelivery): boolean {
  return body !== undefined;
}

function receivedAtOf(part: Part | undefined): number {
  return part?.found[part.taken]?.receivedAt.getTime() ?? Number.NEGATIVE_INFINITY;
}

function withoutDetails({ headers: _, attempts, ...delivery }: StoredDelivery): StoredDelivery {
  return { ...delivery, attempts: attempts.map(({ details: _details, ...attempt }) => attempt) };
}

const cursorSchema = z.record(z.string(), z.number().check(z.int(), z.nonnegative()));

type Offsets = Readonly<z.infer<typeof cursorSchema>>;

function readCursor(cursor: string | undefined): Offsets {
  if (cursor === undefined) return {};
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw cursorInvalid();
  }
}

function writeCursor(offsets: Offsets): string {
  const read = Object.entries(offsets).filter(([, offset]) => offset > 0);
  return Buffer.from(JSON.stringify(Object.fromEntries(read))).toString("base64url");
}
