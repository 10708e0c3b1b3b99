import { z } from "zod";
import { WebhookError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type {
  Arrival,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  Inbox,
  InboxProblem,
  ListOptions,
  QueueOptions,
} from "../inbox.ts";
import { deliveryUnknown, inboxUnavailable } from "../inbox-errors.ts";
import { idsKnownMs } from "../known-ids.ts";
import { listInvalid, pageSize } from "../list-options.ts";
import type { StoredDelivery } from "../stored-delivery.ts";
import { EndpointQueue, listNames } from "./endpoint-queue.ts";
import { EndpointWorker, type QueueWords } from "./endpoint-worker.ts";
import { type DeliveryQueue, type QueueServer, registryName } from "./queue-server.ts";
import { jobIdOf } from "./stored-job.ts";

/** What a {@link BullmqInbox} is made from. */
export interface BullmqInboxOptions {
  server: QueueServer;
  words: QueueWords;
  onError: (error: Error) => void;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Deliveries of an endpoint that may wait; more are refused. */
  mostQueued?: number;
  /** How long a delivery that nobody renews belongs to whoever took it, in milliseconds. */
  leaseMs?: number;
  /** How long an arrival may take to be kept, in milliseconds; the whole of an answer has to come within five seconds. */
  deadlineMs?: number;
}

const hourMs = 3_600_000;

/** Keeps deliveries in Redis or PostgreSQL, by BullMQ, for as many receivers as there are. */
export class BullmqInbox implements Inbox {
  readonly #options: Required<BullmqInboxOptions>;
  #registryQueue: DeliveryQueue | undefined;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #workers = new Map<string, EndpointWorker>();
  readonly #registered = new Map<string, Promise<unknown>>();
  readonly #accepting = new Set<Promise<unknown>>();
  readonly #pruning: NodeJS.Timeout;
  #closed: Promise<void> | undefined;

  constructor(options: BullmqInboxOptions) {
    this.#options = { mostQueued: 100_000, leaseMs: 30_000, deadlineMs: 3_000, ...options };
    // At the start, and not on the way of the first delivery.
    this.#registry();
    for (const warning of options.server.warnings) options.log().warn(warning);
    this.#pruning = setInterval(() => this.prune().catch(options.onError), hourMs);
    this.#pruning.unref();
  }

  async accept(arrival: Arrival): Promise<{ duplicate: boolean }> {
    const { deadlineMs, mostQueued } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(inboxUnavailable(new Error("The server does not answer."))), deadlineMs);
    const adding = this.#register(arrival.endpoint).then(() =>
      this.#queue(arrival.endpoint).add(arrival, { mostQueued }),
    );
    const added = Promise.race([adding, late.promise]);
    this.#accepting.add(added);
    try {
      return { duplicate: await added };
    } catch (error) {
      throw WebhookError.isInstance(error) ? error : inboxUnavailable(error);
    } finally {
      clearTimeout(timer);
      this.#accepting.delete(added);
    }
  }

  work(queue: QueueOptions): void {
    if (this.#workers.has(queue.endpoint)) return;
    const { server, words, leaseMs, now, log, onError } = this.#options;
    this.#register(queue.endpoint).catch(onError);
    this.#workers.set(queue.endpoint, new EndpointWorker({ queue, server, words, leaseMs, now, log, onError }));
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const most = pageSize(options);
    const { endpoint, status, cursor } = options;
    const offsets = readCursor(cursor);
    const named = endpoint === undefined ? undefined : await this.#find(endpoint);
    const queues =
      endpoint === undefined ? (await this.#endpoints()).map((name) => this.#queue(name)) : named ? [named] : [];
    const lists = queues.flatMap((queue) =>
      listNames(status).map((list) => ({ queue, list, key: `${queue.endpoint} ${list}` })),
    );
    const parts = await Promise.all(
      lists.map(async ({ queue, list, key }) => {
        const from = offsets[key] ?? 0;
        return { key, from, taken: 0, found: await queue.read(list, { from, most }) };
      }),
    );
    const deliveries = merge(parts, most);
    const hasMore = parts.some(({ taken, found }) => (isLast(found, most) ? found.slice(taken).some(isKept) : true));
    return { deliveries, ...(hasMore && { next: writeCursor(parts) }) };
  }

  async get({ endpoint, id }: DeliveryKey): Promise<StoredDelivery | undefined> {
    return (await this.#find(endpoint))?.get(id);
  }

  async replay(key: DeliveryKey): Promise<void> {
    const queue = await this.#find(key.endpoint);
    if (!queue) throw deliveryUnknown(key);
    await queue.replay(key.id);
  }

  async replayDead(endpoint: string): Promise<number> {
    return (await this.#find(endpoint))?.replayDead() ?? 0;
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    const endpoints = await this.#endpoints();
    return Object.fromEntries(
      await Promise.all(endpoints.map(async (name) => [name, await this.#queue(name).counts()] as const)),
    );
  }

  async problems(): Promise<readonly InboxProblem[]> {
    return [];
  }

  async prune(): Promise<number> {
    const now = this.#options.now();
    let count = 0;
    for (const [endpoint, { retentionMs }] of this.#workers) {
      const limits = { bodiesBefore: now - retentionMs, idsBefore: now - idsKnownMs, now };
      count += await this.#queue(endpoint).prune(limits);
    }
    return count;
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    const { deadlineMs, server, log } = this.#options;
    clearInterval(this.#pruning);
    // BullMQ itself waits for a server that is gone until it is back.
    const isInTime = await endsWithin(graceMs + deadlineMs, this.#finish(graceMs));
    if (!isInTime) {
      log().error("The server of the inbox does not answer: what was running is run again when its lease has ended.");
    }
    await endsWithin(deadlineMs, server.close());
  }

  async #finish(graceMs: number): Promise<void> {
    await Promise.allSettled(this.#accepting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await Promise.all([this.#registryQueue, ...this.#queues.values()].map((queue) => queue?.close()));
  }

  #queue(endpoint: string): EndpointQueue {
    let queue = this.#queues.get(endpoint);
    if (!queue) {
      queue = new EndpointQueue({ endpoint, queue: this.#open(endpoint, () => this.#queues.delete(endpoint)) });
      this.#queues.set(endpoint, queue);
    }
    return queue;
  }

  #registry(): DeliveryQueue {
    this.#registryQueue ??= this.#open(registryName, () => {
      this.#registryQueue = undefined;
    });
    return this.#registryQueue;
  }

  /** A queue whose first look at the server has failed fails for ever: it is let go, and the next who asks gets another. */
  #open(name: string, letGo: () => void): DeliveryQueue {
    const queue = this.#options.server.openQueue(name);
    queue.waitUntilReady().catch(() => {
      letGo();
      queue.close().catch(() => {});
    });
    return queue;
  }

  /** The queue of an endpoint that was heard of: one of any other name would be made by being opened. */
  async #find(endpoint: string): Promise<EndpointQueue | undefined> {
    const isKnown = this.#queues.has(endpoint) || (await this.#registry().getJobState(jobIdOf(endpoint))) !== "unknown";
    return isKnown ? this.#queue(endpoint) : undefined;
  }

  /** So that whoever looks into the inbox finds the endpoint. */
  #register(endpoint: string): Promise<unknown> {
    let registered = this.#registered.get(endpoint);
    if (!registered) {
      const data = { id: endpoint, body: "" };
      registered = this.#registry().add("endpoint", data, { jobId: jobIdOf(endpoint) });
      registered.catch(() => this.#registered.delete(endpoint));
      this.#registered.set(endpoint, registered);
    }
    return registered;
  }

  async #endpoints(): Promise<string[]> {
    const jobs = await this.#registry().getJobs(["wait"]);
    const names = new Set(jobs.map(({ data }) => data.id));
    // Whoever emptied the server has emptied this list as well.
    const forgotten = [...this.#registered.keys()].filter((name) => !names.has(name));
    for (const name of forgotten) {
      this.#registered.delete(name);
      await this.#register(name);
    }
    return [...names, ...forgotten].sort();
  }
}

/** Returns whether it has ended in time. What it throws after that concerns nobody any more. */
async function endsWithin(milliseconds: number, ending: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  try {
    return await Promise.race([ending.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Part {
  key: string;
  from: number;
  taken: number;
  found: readonly StoredDelivery[];
}

/** Takes the newest of all parts again and again. A delivery whose body is forgotten is passed over. */
function merge(parts: readonly Part[], most: number): StoredDelivery[] {
  const deliveries: StoredDelivery[] = [];
  while (deliveries.length < most) {
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
function isLast(found: readonly StoredDelivery[], most: number): boolean {
  const last = found.at(-1);
  return found.length < most || last === undefined || !isKept(last);
}

function isKept({ body }: StoredDelivery): boolean {
  return body !== undefined;
}

function arrivedAt(part: Part | undefined): number {
  return part?.found[part.taken]?.receivedAt.getTime() ?? Number.NEGATIVE_INFINITY;
}

/** How far each list was read. What moves to another list meanwhile may be shown twice, or not. */
const cursorSchema = z.record(z.string(), z.number().int().nonnegative());

function readCursor(cursor: string | undefined): z.infer<typeof cursorSchema> {
  if (cursor === undefined) return {};
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw listInvalid();
  }
}

function writeCursor(parts: readonly Part[]): string {
  const offsets = parts.map(({ key, from, taken }) => [key, from + taken] as const).filter(([, offset]) => offset > 0);
  return Buffer.from(JSON.stringify(Object.fromEntries(offsets))).toString("base64url");
}
