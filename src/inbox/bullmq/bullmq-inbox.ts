import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { optionError } from "../../core/options.ts";
import { resolvesWithin, shareRun, untilAborted, withDeadline } from "../../core/time.ts";
import { deliveryUnknown, inboxClosing, inboxUnavailable, RepeatedErrors, unavailable } from "../errors.ts";
import type {
  Cursors,
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
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import { retentionOf } from "../retry.ts";
import { listDeliveries } from "./delivery-pages.ts";
import { RunGate } from "./handler-runs.ts";
import { ClockSkew, DataLoss, StallDetector } from "./health.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { connectPostgres } from "./postgres.ts";
import { openQueue, type QueueServer, StoredEndpoints, serverSlow } from "./queue-server.ts";
import { QueueWorker } from "./queue-worker.ts";
import { connectRedis } from "./redis.ts";
import { StoredQueue } from "./stored-queue.ts";

export interface BullmqInboxOptions extends Partial<typeof defaults> {
  /** A `redis:`, `rediss:`, `postgres:`, or `postgresql:` URL. */
  url: string;
  log: Logger;
  now: () => number;
}

const defaults = {
  /** Whether to fail if the inbox does not exist, instead of creating it. */
  mustExist: false,
  /** The timeout for connecting to the server and preparing it. */
  startMs: 8_000,
  /** The maximum number of queued deliveries per endpoint. */
  maxQueued: 100_000,
  /** The duration of a lease that is not renewed. */
  leaseMs: 30_000,
  /** The timeout for storing a delivery. Well below the Hub's timeout, so that the Hub gets a 503. */
  deadlineMs: 3_000,
  /** The timeout for reading deliveries. */
  readMs: 10_000,
  /** How long the event loop can be blocked before it counts as hung. Leases of a hung process are not renewed. */
  maxBlockedMs: defaultMaxBlockedMs,
  /** How long a worker with capacity can leave deliveries waiting before the inbox reports a problem. */
  stalledMs: 30_000,
};

/** Opens an inbox in Redis or PostgreSQL. @throws `OPTION_INVALID` if the URL is invalid, `INBOX_UNUSABLE`. */
export async function openBullmqInbox(options: BullmqInboxOptions): Promise<BullmqInbox> {
  const { url, mustExist = defaults.mustExist, startMs = defaults.startMs, now, log } = options;
  if (!URL.canParse(url)) {
    // The message quotes neither the URL nor the parser error, because both can contain a password.
    throw optionError(
      "INBOX_URL is not a valid URL. Percent-encode special characters in the username and the password, as in redis://user:p%40ss@host:6379/0.",
    );
  }
  // Connections are retried every few seconds.
  const errors = new RepeatedErrors(() => performance.now());
  const onError = (error: Error) => {
    if (!errors.shouldLog(error)) return;
    log.error(
      { err: error },
      "The inbox reported an error. Failed operations are retried. If the error persists, check the inbox server.",
    );
  };
  const connect = /^rediss?:/.test(url) ? connectRedis : connectPostgres;
  return new BullmqInbox(await connect({ url, mustExist, startMs, now, onError }), onError, options);
}

const hourMs = 3_600_000;
const checkMs = 15_000;
const storageCheckMs = 2_500;

/** Stores deliveries in Redis or PostgreSQL with BullMQ. Several machines can share the inbox. */
export class BullmqInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) => this.#storing(this.#server.ownActions.add(keys)),
    find: (keys) => this.#reading(() => this.#server.ownActions.find(keys)),
  };
  readonly cursors: Cursors = {
    get: (endpoint, key) => this.#reading(() => this.#server.cursors.get(endpoint, key)),
    list: (endpoint) => this.#reading(() => this.#server.cursors.list(endpoint)),
    set: (endpoint, texts) => this.#storing(this.#server.cursors.set(endpoint, texts)),
    claim: (claim) => this.#storing(this.#server.cursors.claim(claim)),
  };
  readonly #server: QueueServer;
  readonly #onError: (error: Error) => void;
  readonly #options: BullmqInboxOptions & typeof defaults;
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
  /** Compares the clocks, and checks that the server can store deliveries. @throws if the server cannot store deliveries. */
  readonly #checkStorage = shareRun(() => this.#checkOnce());
  #closed: Promise<{ interrupted: number }> | undefined;
  /** Aborted when the queues are closed. */
  readonly #stopped = new AbortController();

  constructor(server: QueueServer, onError: (error: Error) => void, options: BullmqInboxOptions) {
    this.#server = server;
    this.#onError = onError;
    this.#options = { ...defaults, ...options };
    const { log } = options;
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
    const adding = this.#endpoints
      .add(delivery.endpoint)
      .then(() => this.#queue(delivery.endpoint).add(delivery, this.#options.maxQueued));
    const added = this.#storing(adding);
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
    const { log, now, url, leaseMs, maxBlockedMs } = this.#options;
    const [server, gate, onError] = [this.#server, this.#gate, this.#onError];
    this.#endpoints.setRetention(endpoint, retentionOf(queue)).catch(onError);
    this.#leases ??= new LeaseRenewer({ url, leaseMs, maxBlockedMs, onError });
    const leases = this.#leases;
    this.#workers.set(endpoint, new QueueWorker({ queue, server, gate, leases, leaseMs, now, log, onError }));
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const { endpoint } = options;
    const readQueues = async () => {
      if (endpoint === undefined) return this.#readQueues();
      const queue = await this.#find(endpoint);
      return queue ? [queue] : [];
    };
    return this.#reading(() => listDeliveries(readQueues, options));
  }

  get({ endpoint, id }: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#reading(async () => (await this.#find(endpoint))?.get(id));
  }

  replay(key: DeliveryKey): Promise<void> {
    return this.#change(async () => {
      const queue = await this.#find(key.endpoint);
      if (!queue) throw deliveryUnknown(key);
      await queue.replay(key.id);
    });
  }

  replayDead(endpoint: string): Promise<number> {
    return this.#change(async () => (await this.#find(endpoint))?.replayDead() ?? 0);
  }

  discard(key: DeliveryKey): Promise<void> {
    return this.#change(async () => {
      const queue = await this.#find(key.endpoint);
      if (!queue) throw deliveryUnknown(key, "discarded");
      await queue.discard(key.id);
    });
  }

  pause(endpoint: string): Promise<void> {
    return this.#change(async () => {
      await this.#endpoints.add(endpoint);
      await this.#queue(endpoint).queue.pause();
    });
  }

  resume(endpoint: string): Promise<void> {
    return this.#change(async () => (await this.#find(endpoint))?.queue.resume());
  }

  pausedEndpoints(): Promise<readonly string[]> {
    return this.#reading(async () => {
      const queues = await this.#readQueues();
      const arePaused = await Promise.all(queues.map(({ queue }) => queue.isPaused()));
      return queues.filter((_, index) => arePaused[index]).map(({ endpoint }) => endpoint);
    });
  }

  counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#reading(async () => {
      const queues = await this.#readQueues();
      const counting = queues.map(async (queue) => [queue.endpoint, await queue.counts()] as const);
      return Object.fromEntries(await Promise.all(counting));
    });
  }

  async problems(): Promise<readonly InboxProblem[]> {
    const findStall = async () => {
      await this.#checkStorage();
      return this.#stalls.findProblem(this.#workers, (endpoint) => this.#queue(endpoint).hasWaiting());
    };
    try {
      const stall = await withDeadline(findStall(), storageCheckMs, serverSlow);
      return [stall, this.#dataLoss.problem, this.#clockSkew.problem].filter((problem) => problem !== undefined);
    } catch (error) {
      const message = `The inbox server cannot store deliveries (${describeError(error).message}). Check that the inbox server is running, accepts writes, and is reachable from this machine.`;
      return [unavailable(message)];
    }
  }

  async describe(): Promise<InboxDescription> {
    return { warnings: this.#server.warnings };
  }

  async prune(): Promise<number> {
    // The retentions are not stored yet if the inbox server was unavailable when this process started.
    await this.#storeEndpoints();
    const now = this.#options.now();
    let count = 0;
    for (const [endpoint, { bodiesMs, idsMs }] of await this.#endpoints.read()) {
      count += await this.#queue(endpoint).prune({ bodiesBefore: now - bodiesMs, idsBefore: now - idsMs });
    }
    return count;
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    const { deadlineMs, log } = this.#options;
    for (const timer of this.#timers) clearInterval(timer);
    // BullMQ waits for an unavailable server without a timeout.
    const isInTime = await resolvesWithin(this.#finish(graceMs), graceMs + deadlineMs);
    if (!isInTime) {
      log.error(
        "The inbox server did not respond during the shutdown. Unfinished deliveries will run again after their leases have expired.",
      );
    }
    this.#stopped.abort(inboxUnavailable(inboxClosing()));
    await Promise.all([resolvesWithin(this.#server.close(), deadlineMs), this.#leases?.close()]);
    return { interrupted: [...this.#workers.values()].reduce((sum, { interrupted }) => sum + interrupted, 0) };
  }

  async #finish(graceMs: number): Promise<void> {
    await Promise.allSettled(this.#accepting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await Promise.all([this.#endpoints.close(), ...[...this.#queues.values()].map(({ queue }) => queue.close())]);
  }

  #queue(endpoint: string): StoredQueue {
    let queue = this.#queues.get(endpoint);
    if (!queue) {
      const opened = openQueue(this.#server, endpoint, () => this.#queues.delete(endpoint));
      queue = new StoredQueue(endpoint, opened, this.#server);
      this.#queues.set(endpoint, queue);
    }
    return queue;
  }

  /** Returns the queue of an endpoint if the endpoint is stored. Opening the queue of an unknown endpoint would create a queue. */
  async #find(endpoint: string): Promise<StoredQueue | undefined> {
    const isKnown = this.#queues.has(endpoint) || (await this.#endpoints.has(endpoint));
    return isKnown ? this.#queue(endpoint) : undefined;
  }

  async #readQueues(): Promise<StoredQueue[]> {
    return [...(await this.#endpoints.read()).keys()].map((endpoint) => this.#queue(endpoint));
  }

  #storing<T>(stored: Promise<T>): Promise<T> {
    return withDeadline(stored, this.#options.deadlineMs, serverSlow);
  }

  /** Adds a timeout to a read. Without a timeout, the read would wait forever if the server did not respond. */
  #reading<T>(read: () => Promise<T>): Promise<T> {
    const reading = untilAborted(read(), this.#stopped.signal);
    return withDeadline(reading, this.#options.readMs, () => inboxUnavailable(serverSlow()));
  }

  /** Makes a change. BullMQ never ends an operation of a PostgreSQL queue that was closed in the meantime. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    return untilAborted(change(), this.#stopped.signal);
  }

  /** Stores the endpoints of this process and their retentions, unless they are stored. */
  async #storeEndpoints(): Promise<void> {
    await this.#endpoints.read();
    for (const [endpoint, { queue }] of this.#workers) await this.#endpoints.setRetention(endpoint, retentionOf(queue));
  }

  async #checkOnce(): Promise<void> {
    const onError = this.#onError;
    const wasSetBack = await this.#clockSkew.measure(async () => {
      const { time, history } = await this.#server.checkStorage();
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
    const { leaseMs } = this.#options;
    for (const { queue } of await this.#readQueues()) await this.#server.correctTimes(queue, leaseMs);
  }
}
