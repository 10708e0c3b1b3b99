import { describeError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  Inbox,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  QueueOptions,
  StoredDelivery,
} from "../inbox.ts";
import { pageSize } from "../inbox.ts";
import { deliveryUnknown, inboxUnavailable } from "../inbox-errors.ts";
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import { defaultRetention, retentionOf } from "../retention.ts";
import { isComplete, isKept, merge, readCursor, writeCursor } from "./delivery-pages.ts";
import { EndpointQueue, listNames } from "./endpoint-queue.ts";
import { type BullmqErrors, EndpointWorker } from "./endpoint-worker.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { ClockSkew, StallDetector } from "./problems.ts";
import { openQueue, type QueueServer, withDeadline } from "./queue-server.ts";
import { RunGate } from "./run-gate.ts";
import { StoredEndpoints } from "./stored-endpoints.ts";

/** The options of a {@link BullmqInbox}. */
export interface BullmqInboxOptions {
  server: QueueServer;
  /** Of the server. */
  url: string;
  bullmqErrors: BullmqErrors;
  onError: (error: Error) => void;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The maximum number of queued deliveries per endpoint. Default 100,000. */
  maxQueued?: number;
  /** How long a delivery that nobody renews belongs to whoever took it, in milliseconds. */
  leaseMs?: number;
  /** How long an arrival may take to be kept, in milliseconds; the whole of an answer has to come within five seconds. */
  deadlineMs?: number;
  /** How long reading may take, in milliseconds. */
  readMs?: number;
  /** An event loop that is blocked for longer counts as hung, and its leases end, in milliseconds. */
  maxBlockedMs?: number;
  /** An endpoint that leaves deliveries waiting for so long without taking one is reported, in milliseconds. */
  stalledMs?: number;
}

const hourMs = 3_600_000;
const skewCheckMs = 5 * 60_000;
/** How long the server has to show that it could take a delivery, in milliseconds. */
const probeMs = 2_500;

/** Stores deliveries in Redis or PostgreSQL with BullMQ. Any number of receivers can share it. */
export class BullmqInbox implements Inbox {
  readonly #options: Required<BullmqInboxOptions>;
  readonly #endpoints: StoredEndpoints;
  readonly #skew: ClockSkew;
  readonly #gate = new RunGate();
  readonly #watch: StallDetector;
  #leases: LeaseRenewer | undefined;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #workers = new Map<string, EndpointWorker>();
  readonly #accepting = new Set<Promise<unknown>>();
  readonly #timers: readonly NodeJS.Timeout[];
  #closed: Promise<void> | undefined;

  constructor(options: BullmqInboxOptions) {
    this.#options = {
      maxQueued: 100_000,
      leaseMs: 30_000,
      deadlineMs: 3_000,
      readMs: 10_000,
      maxBlockedMs: defaultMaxBlockedMs,
      stalledMs: 30_000,
      ...options,
    };
    const { server, log, onError } = options;
    this.#endpoints = new StoredEndpoints(server);
    this.#skew = new ClockSkew(options);
    this.#watch = new StallDetector(this.#options.stalledMs);
    for (const warning of server.warnings) log().warn(warning);
    const measureSkew = () => void this.#probe().catch(onError);
    measureSkew();
    this.#timers = [
      setInterval(() => void this.prune().catch(onError), hourMs).unref(),
      setInterval(measureSkew, skewCheckMs).unref(),
    ];
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { deadlineMs, maxQueued } = this.#options;
    const adding = this.#endpoints
      .add(delivery.endpoint)
      .then(() => this.#queue(delivery.endpoint).add(delivery, { maxQueued }));
    const added = withDeadline(adding, deadlineMs, notAnswering);
    this.#accepting.add(added);
    try {
      return { duplicate: await added };
    } catch (error) {
      throw WebhookError.isInstance(error) ? error : inboxUnavailable(error);
    } finally {
      this.#accepting.delete(added);
    }
  }

  work(queue: QueueOptions): void {
    const { endpoint } = queue;
    if (this.#workers.has(endpoint)) return;
    const { onError, url, leaseMs, maxBlockedMs } = this.#options;
    this.#endpoints.setRetention(endpoint, retentionOf(queue)).catch(onError);
    this.#leases ??= new LeaseRenewer({ url, leaseMs, maxBlockedMs, onError });
    const worker = new EndpointWorker({ ...this.#options, queue, gate: this.#gate, leases: this.#leases });
    this.#workers.set(endpoint, worker);
  }

  list(options: ListOptions = {}): Promise<DeliveryPage> {
    return this.#reading(this.#list(options));
  }

  async #list(options: ListOptions): Promise<DeliveryPage> {
    const limit = pageSize(options);
    const { endpoint, status, cursor } = options;
    const offsets = readCursor(cursor);
    const named = endpoint === undefined ? undefined : await this.#find(endpoint);
    const queues =
      endpoint === undefined
        ? [...(await this.#endpoints.read()).keys()].map((name) => this.#queue(name))
        : named
          ? [named]
          : [];
    const lists = queues.flatMap((queue) =>
      listNames(status).map((list) => ({ queue, list, key: `${queue.endpoint} ${list}` })),
    );
    const parts = await Promise.all(
      lists.map(async ({ queue, list, key }) => {
        const from = offsets[key] ?? 0;
        return { key, from, taken: 0, found: await queue.read(list, { from, limit }) };
      }),
    );
    const deliveries = merge(parts, limit);
    const hasMore = parts.some(({ taken, found }) =>
      isComplete(found, limit) ? found.slice(taken).some(isKept) : true,
    );
    return { deliveries, ...(hasMore && { next: writeCursor(parts) }) };
  }

  get({ endpoint, id }: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#reading(this.#find(endpoint).then((queue) => queue?.get(id)));
  }

  async replay(key: DeliveryKey): Promise<void> {
    const queue = await this.#find(key.endpoint);
    if (!queue) throw deliveryUnknown(key);
    await queue.replay(key.id);
  }

  async replayDead(endpoint: string): Promise<number> {
    return (await this.#find(endpoint))?.replayDead() ?? 0;
  }

  counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#reading(this.#counts());
  }

  async #counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    const endpoints = [...(await this.#endpoints.read()).keys()];
    return Object.fromEntries(
      await Promise.all(endpoints.map(async (name) => [name, await this.#queue(name).counts()] as const)),
    );
  }

  async problems(): Promise<readonly InboxProblem[]> {
    const looking = this.#probe().then(() =>
      this.#watch.stalled(this.#workers, (endpoint) => this.#queue(endpoint).hasWaiting()),
    );
    try {
      return [...(await withDeadline(looking, probeMs, notAnswering)), ...this.#skew.problems];
    } catch (error) {
      const message = `The inbox server accepts no deliveries (${describeError(error).message}). Check that it runs, accepts writes and is reachable from here.`;
      return [{ code: "INBOX_UNAVAILABLE", severity: "unavailable", message }];
    }
  }

  async prune(): Promise<number> {
    // A server that was away at the start has not heard of them.
    for (const [endpoint, worker] of this.#workers) await this.#endpoints.setRetention(endpoint, worker.retention);
    const now = this.#options.now();
    let count = 0;
    for (const [endpoint, stored] of await this.#endpoints.read()) {
      const { bodiesMs, idsMs } = { ...defaultRetention, ...stored };
      const limits = { bodiesBefore: now - bodiesMs, idsBefore: now - idsMs };
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
    for (const timer of this.#timers) clearInterval(timer);
    // BullMQ itself waits for a server that is gone until it is back.
    const isInTime = await endsWithin(graceMs + deadlineMs, this.#finish(graceMs));
    if (!isInTime) {
      log().error("The inbox server does not respond. Running deliveries run again when their leases expire.");
    }
    await Promise.all([endsWithin(deadlineMs, server.close()), this.#leases?.close()]);
  }

  async #finish(graceMs: number): Promise<void> {
    await Promise.allSettled(this.#accepting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await Promise.all([this.#endpoints, ...this.#queues.values()].map((queue) => queue.close()));
  }

  #queue(endpoint: string): EndpointQueue {
    let queue = this.#queues.get(endpoint);
    if (!queue) {
      const { server } = this.#options;
      queue = new EndpointQueue({
        endpoint,
        server,
        queue: openQueue(server, endpoint, () => this.#queues.delete(endpoint)),
      });
      this.#queues.set(endpoint, queue);
    }
    return queue;
  }

  /** The queue of an endpoint that was heard of: one of any other name would be made by being opened. */
  async #find(endpoint: string): Promise<EndpointQueue | undefined> {
    const isKnown = this.#queues.has(endpoint) || (await this.#endpoints.has(endpoint));
    return isKnown ? this.#queue(endpoint) : undefined;
  }

  /** A server that stopped answering must not keep a caller waiting forever. */
  #reading<T>(promise: Promise<T>): Promise<T> {
    return withDeadline(promise, this.#options.readMs, () => inboxUnavailable(notAnswering()));
  }

  /** @throws when the server could not take a delivery now. */
  #probe(): Promise<void> {
    return this.#skew.measure(() => this.#options.server.probe());
  }
}

function notAnswering(): Error {
  return new Error("The server does not answer.");
}

/** Returns whether it has ended in time. */
async function endsWithin(milliseconds: number, ending: Promise<void>): Promise<boolean> {
  const late = notAnswering();
  try {
    await withDeadline(ending, milliseconds, () => late);
    return true;
  } catch (error) {
    if (error === late) return false;
    throw error;
  }
}
