import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { withDeadline } from "../../core/time.ts";
import { deliveryUnknown, inboxUnavailable } from "../errors.ts";
import { type DeliveryFilter, readFilter } from "../filter.ts";
import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  EndpointQueue,
  Inbox,
  InboxDescription,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  OwnActions,
  StoredDelivery,
} from "../inbox.ts";
import { pageSize } from "../inbox.ts";
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import { defaultRetention, retentionOf } from "../retry.ts";
import { findMatching, isComplete, isKept, merge, type Part, readCursor, writeCursor } from "./delivery-pages.ts";
import { RunGate } from "./handler-runs.ts";
import { ClockSkew, DataLoss, StallDetector } from "./health.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { openQueue, type QueueServer } from "./queue-server.ts";
import { type BullmqErrors, QueueWorker } from "./queue-worker.ts";
import { StoredEndpoints } from "./stored-endpoints.ts";
import { listNames, StoredQueue } from "./stored-queue.ts";

export interface BullmqInboxOptions {
  server: QueueServer;
  /** The URL of Redis or PostgreSQL. */
  url: string;
  bullmqErrors: BullmqErrors;
  /** Called with connection errors and with errors in background tasks. */
  onError: (error: Error) => void;
  log: Logger;
  now: () => number;
  /** The maximum number of queued deliveries per endpoint. Default `100_000`. */
  maxQueued?: number;
  /** The duration of a lease that is not renewed. Default `30_000`. */
  leaseMs?: number;
  /** The timeout for storing a delivery. Well below the Hub's timeout, so that the Hub gets a 503. Default `3_000`. */
  deadlineMs?: number;
  /** The timeout for reading deliveries. Default `10_000`. */
  readMs?: number;
  /**
   * How long the event loop can be blocked before it counts as hung, in milliseconds. Leases of a hung process are not
   * renewed. Default `600_000`.
   */
  maxBlockedMs?: number;
  /**
   * How long a worker with capacity can leave deliveries waiting before the inbox reports a problem, in milliseconds.
   * Default `30_000`.
   */
  stalledMs?: number;
}

const hourMs = 3_600_000;
const checkMs = 15_000;
/** The maximum number of reads per page. Each read examines as many deliveries as are missing on the page. */
const maxPageReads = 20;
/** The timeout of the storage check. */
const storageCheckMs = 2_500;

/** Stores deliveries in Redis or PostgreSQL with BullMQ. Several machines can share the inbox. */
export class BullmqInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) =>
      withDeadline(
        this.#options.server.ownActions.add(keys, this.#options.now()),
        this.#options.deadlineMs,
        notResponding,
      ),
    find: (keys) => this.#reading(this.#options.server.ownActions.find(keys)),
  };
  readonly #options: Required<BullmqInboxOptions>;
  readonly #endpoints: StoredEndpoints;
  readonly #clockSkew: ClockSkew;
  readonly #dataLoss: DataLoss;
  readonly #gate = new RunGate();
  readonly #stalls: StallDetector;
  #leases: LeaseRenewer | undefined;
  readonly #queues = new Map<string, StoredQueue>();
  readonly #workers = new Map<string, QueueWorker>();
  readonly #accepting = new Set<Promise<unknown>>();
  readonly #timers: readonly NodeJS.Timeout[];
  /** Whether a clock was set back, and the times in the inbox are not corrected yet. */
  #needsCorrection = false;
  #checking: Promise<void> | undefined;
  #closed: Promise<{ interrupted: number }> | undefined;

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
    this.#clockSkew = new ClockSkew(options);
    this.#dataLoss = new DataLoss(log);
    this.#stalls = new StallDetector(this.#options.stalledMs);
    for (const warning of server.warnings) log.warn(warning);
    const check = () => void this.#checkStorage().catch(onError);
    check();
    this.#timers = [
      setInterval(() => void this.prune().catch(onError), hourMs).unref(),
      setInterval(check, checkMs).unref(),
    ];
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { deadlineMs, maxQueued } = this.#options;
    const adding = this.#endpoints
      .add(delivery.endpoint)
      .then(() => this.#queue(delivery.endpoint).add(delivery, { maxQueued }));
    const added = withDeadline(adding, deadlineMs, notResponding);
    this.#accepting.add(added);
    try {
      return { duplicate: await added };
    } catch (error) {
      throw WebhookError.isInstance(error) ? error : inboxUnavailable(error);
    } finally {
      this.#accepting.delete(added);
    }
  }

  startWorker(queue: EndpointQueue): void {
    const { endpoint } = queue;
    if (this.#workers.has(endpoint)) return;
    const { server, bullmqErrors, onError, log, now, url, leaseMs, maxBlockedMs } = this.#options;
    this.#endpoints.setRetention(endpoint, retentionOf(queue)).catch(onError);
    this.#leases ??= new LeaseRenewer({ url, leaseMs, maxBlockedMs, onError });
    const [gate, leases] = [this.#gate, this.#leases];
    const options = { queue, server, bullmqErrors, gate, leases, leaseMs, now, log, onError };
    const worker = new QueueWorker(options);
    this.#workers.set(endpoint, worker);
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const filter = readFilter(options);
    return this.#reading(filter ? this.#search(filter, options) : this.#readPage(options));
  }

  /** Reads until the page is full, because a page of succeeded deliveries is read from a list that also contains ignored ones. */
  async #readPage(options: ListOptions): Promise<DeliveryPage> {
    const deliveries: StoredDelivery[] = [];
    let next = options.cursor;
    for (let reads = 0; reads < maxPageReads; reads += 1) {
      const page = await this.#list({
        ...options,
        limit: pageSize(options) - deliveries.length,
        ...(next && { cursor: next }),
      });
      deliveries.push(...page.deliveries);
      next = page.next;
      if (next === undefined || deliveries.length === pageSize(options)) break;
    }
    return { deliveries, ...(next !== undefined && { next }) };
  }

  async #list(options: ListOptions): Promise<DeliveryPage> {
    const limit = pageSize(options);
    const { parts, hasMore } = await this.#readParts(options, { cursor: options.cursor, limit });
    const deliveries = merge(parts, limit);
    return { deliveries, ...(hasMore() && { next: writeCursor(parts) }) };
  }

  #search(filter: DeliveryFilter, options: ListOptions): Promise<DeliveryPage> {
    const withDetails = filter.words.length > 0;
    return findMatching(filter, { limit: pageSize(options), cursor: options.cursor }, (cursor, limit) =>
      this.#readParts(options, { cursor, limit, withDetails }),
    );
  }

  /** Reads the next deliveries of each list. `hasMore`: whether deliveries are left when the parts are taken up to their position. */
  async #readParts(
    { endpoint, status }: ListOptions,
    { cursor, limit, withDetails = false }: { cursor: string | undefined; limit: number; withDetails?: boolean },
  ): Promise<{ parts: readonly Part[]; hasMore: () => boolean }> {
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
        const found = await queue.read(list, { from, limit, withDetails });
        return { key, from, taken: 0, found, ...(status && { status }) };
      }),
    );
    const hasMore = () =>
      parts.some(({ taken, found }) => (isComplete(found, limit) ? found.slice(taken).some(isKept) : true));
    return { parts, hasMore };
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

  async discard(key: DeliveryKey): Promise<void> {
    const queue = await this.#find(key.endpoint);
    if (!queue) throw deliveryUnknown(key, "discarded");
    await queue.discard(key.id, this.#options.now());
  }

  async pause(endpoint: string): Promise<void> {
    await this.#endpoints.add(endpoint);
    await this.#queue(endpoint).pause();
  }

  async resume(endpoint: string): Promise<void> {
    await (await this.#find(endpoint))?.resume();
  }

  pausedEndpoints(): Promise<readonly string[]> {
    return this.#reading(this.#findPaused());
  }

  async #findPaused(): Promise<readonly string[]> {
    const endpoints = [...(await this.#endpoints.read()).keys()];
    const arePaused = await Promise.all(endpoints.map((name) => this.#queue(name).isPaused()));
    return endpoints.filter((_, index) => arePaused[index]);
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
    try {
      const stall = await withDeadline(this.#findStall(), storageCheckMs, notResponding);
      return [stall, this.#dataLoss.problem, this.#clockSkew.problem].filter((problem) => problem !== undefined);
    } catch (error) {
      const message = `The inbox server cannot store deliveries (${describeError(error).message}). Check that the inbox server is running, accepts writes, and is reachable from this machine.`;
      return [{ code: "INBOX_UNAVAILABLE", severity: "unavailable", message }];
    }
  }

  /** @throws if the inbox server cannot store deliveries. */
  async #findStall(): Promise<InboxProblem | undefined> {
    await this.#checkStorage();
    return this.#stalls.findProblem(this.#workers, (endpoint) => this.#queue(endpoint).hasWaiting());
  }

  async describe(): Promise<InboxDescription> {
    return { warnings: this.#options.server.warnings };
  }

  async prune(): Promise<number> {
    // The retentions are not stored yet if the inbox server was unavailable when this process started.
    await this.#storeEndpoints();
    const now = this.#options.now();
    let count = 0;
    for (const [endpoint, stored] of await this.#endpoints.read()) {
      const { bodiesMs, idsMs } = { ...defaultRetention, ...stored };
      const limits = { bodiesBefore: now - bodiesMs, idsBefore: now - idsMs };
      count += await this.#queue(endpoint).prune(limits);
    }
    return count;
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    const { deadlineMs, server, log } = this.#options;
    for (const timer of this.#timers) clearInterval(timer);
    // BullMQ waits for an unavailable server without a timeout.
    const isInTime = await endsWithin(graceMs + deadlineMs, this.#finish(graceMs));
    if (!isInTime) {
      log.error(
        "The inbox server did not respond during the shutdown. Unfinished deliveries will run again after their leases have expired.",
      );
    }
    await Promise.all([endsWithin(deadlineMs, server.close()), this.#leases?.close()]);
    return { interrupted: [...this.#workers.values()].reduce((sum, { interrupted }) => sum + interrupted, 0) };
  }

  async #finish(graceMs: number): Promise<void> {
    await Promise.allSettled(this.#accepting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await Promise.all([this.#endpoints, ...this.#queues.values()].map((queue) => queue.close()));
  }

  #queue(endpoint: string): StoredQueue {
    let queue = this.#queues.get(endpoint);
    if (!queue) {
      const { server } = this.#options;
      queue = new StoredQueue({
        endpoint,
        server,
        queue: openQueue(server, endpoint, () => this.#queues.delete(endpoint)),
      });
      this.#queues.set(endpoint, queue);
    }
    return queue;
  }

  /**
   * Returns the queue of an endpoint, or `undefined` if the endpoint is not stored. Opening the queue of an unknown
   * endpoint would create a queue.
   */
  async #find(endpoint: string): Promise<StoredQueue | undefined> {
    const isKnown = this.#queues.has(endpoint) || (await this.#endpoints.has(endpoint));
    return isKnown ? this.#queue(endpoint) : undefined;
  }

  /** Adds a timeout to a read. Without a timeout, the read would wait forever if the server did not respond. */
  #reading<T>(promise: Promise<T>): Promise<T> {
    return withDeadline(promise, this.#options.readMs, () => inboxUnavailable(notResponding()));
  }

  /** Stores the endpoints of this process and their retentions, unless they are stored. */
  async #storeEndpoints(): Promise<void> {
    await this.#endpoints.read();
    for (const [endpoint, worker] of this.#workers) await this.#endpoints.setRetention(endpoint, worker.retention);
  }

  /** Compares the clocks, and checks that the server can store deliveries. @throws if the server cannot store deliveries. */
  #checkStorage(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    const { server, onError } = this.#options;
    const wasSetBack = await this.#clockSkew.measure(async () => {
      const { time, history } = await server.checkStorage();
      if (history && this.#dataLoss.observe(history)) this.#storeEndpoints().catch(onError);
      return time;
    });
    if (wasSetBack) this.#needsCorrection = true;
    // Commands that only read the inbox have no workers, and need no correct times.
    if (!this.#needsCorrection || this.#workers.size === 0 || this.#closed) return;
    this.#needsCorrection = false;
    this.#correctTimes().catch((error) => {
      this.#needsCorrection = true;
      onError(error);
    });
  }

  async #correctTimes(): Promise<void> {
    const { now, leaseMs } = this.#options;
    const endpoints = [...(await this.#endpoints.read()).keys()];
    for (const name of endpoints) await this.#queue(name).correctTimes({ now: now(), leaseMs });
  }
}

function notResponding(): Error {
  return new Error("the inbox server did not respond in time");
}

/** Returns whether a promise resolves within a time. Rejects if the promise rejects within this time. */
async function endsWithin(milliseconds: number, ending: Promise<void>): Promise<boolean> {
  const late = notResponding();
  try {
    await withDeadline(ending, milliseconds, () => late);
    return true;
  } catch (error) {
    if (error === late) return false;
    throw error;
  }
}
