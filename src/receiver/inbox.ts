import { WebhookError } from "../core/errors.ts";
import { withDeadline } from "../core/time.ts";
import type { DeliveryCounts, DeliveryKey, DeliveryPage, Inbox, ListOptions, StoredDelivery } from "../inbox/inbox.ts";

/** Options of methods that look up a delivery by its ID. */
export interface DeliveryLookup {
  /** The name of the endpoint. Only required if two endpoints have a delivery with the same ID. */
  endpoint?: string;
}

/**
 * The deliveries of a server's background endpoints, as `server.inbox`. If the inbox is not open yet, each method opens it,
 * and the server then also starts to run queued deliveries.
 *
 * @example
 * ```ts
 * const { deliveries } = await server.inbox.list({ status: "dead" });
 * for (const { id, attempts } of deliveries) console.log(id, attempts.at(-1)?.error?.message);
 * await server.inbox.replayDead("retrain");
 * ```
 */
export class ServerInbox {
  readonly #open: () => Promise<Inbox>;

  /** @internal `open` returns the open inbox, or opens the inbox and starts to run its deliveries. */
  constructor(open: () => Promise<Inbox>) {
    this.#open = open;
  }

  /** Lists deliveries, newest first. @throws `OPTION_INVALID` when an option is invalid. */
  async list(options?: ListOptions): Promise<DeliveryPage> {
    return (await this.#open()).list(options);
  }

  /** Returns one delivery with its attempts, or `undefined` if the inbox does not contain the delivery. */
  async get(id: string, { endpoint }: DeliveryLookup = {}): Promise<StoredDelivery | undefined> {
    const inbox = await this.#open();
    if (endpoint !== undefined) return inbox.get({ id, endpoint });
    for (const name of Object.keys(await inbox.counts())) {
      const found = await inbox.get({ id, endpoint: name });
      if (found) return found;
    }
    return undefined;
  }

  /** Runs a delivery again, regardless of its status. @throws `DELIVERY_UNKNOWN` when the inbox does not contain it. */
  async replay(id: string, lookup: DeliveryLookup = {}): Promise<void> {
    await (await this.#open()).replay(await this.#find(id, lookup));
  }

  /** Runs every dead delivery of an endpoint again. Returns the number of these deliveries. */
  async replayDead(endpoint: string): Promise<number> {
    return (await this.#open()).replayDead(endpoint);
  }

  /**
   * Discards a queued or dead delivery. It does not run, but can be replayed. Has no effect if the delivery has succeeded or was
   * discarded.
   *
   * @throws `DELIVERY_UNKNOWN` when the inbox does not contain the delivery, `DELIVERY_RUNNING` while the delivery is running.
   */
  async discard(id: string, lookup: DeliveryLookup = {}): Promise<void> {
    await (await this.#open()).discard(await this.#find(id, lookup));
  }

  /**
   * Pauses an endpoint in all processes of the inbox, also after restarts. The server still accepts and stores the endpoint's
   * deliveries, but does not run them. Running deliveries finish.
   */
  async pause(endpoint: string): Promise<void> {
    await (await this.#open()).pause(endpoint);
  }

  /** Resumes an endpoint, whose deliveries run again within a second. */
  async resume(endpoint: string): Promise<void> {
    await (await this.#open()).resume(endpoint);
  }

  /** Returns the names of the paused endpoints, sorted. */
  async pausedEndpoints(): Promise<readonly string[]> {
    return (await this.#open()).pausedEndpoints();
  }

  /** Returns the number of deliveries by endpoint and status. */
  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return (await this.#open()).counts();
  }

  /**
   * Deletes deliveries whose retention period has ended, which also happens every hour. Returns the number of deleted
   * deliveries.
   */
  async prune(): Promise<number> {
    return (await this.#open()).prune();
  }

  async #find(id: string, lookup: DeliveryLookup): Promise<DeliveryKey> {
    const found = await this.get(id, lookup);
    if (found) return { id, endpoint: found.endpoint };
    throw new WebhookError(`Unknown delivery "${id}". List the deliveries in the inbox with list().`, {
      code: "DELIVERY_UNKNOWN",
      status: 404,
    });
  }
}

/** The inbox that is open or opening, of `BackgroundWork`. */
interface OpenedInbox {
  readonly opened: Promise<Inbox> | undefined;
}

interface InboxReaderOptions<Value> {
  now: () => number;
  timeoutMs: number;
  fallback: Value;
  read: (opened: Promise<Inbox>) => Promise<Value>;
}

const freshMs = 1_000;

/**
 * Reads a value that is expensive to read and that unauthenticated clients can request. The value is read at most once a second, and
 * only one read is in progress at a time. A read never opens the inbox.
 */
export class InboxReader<Value> {
  readonly #background: OpenedInbox;
  readonly #options: InboxReaderOptions<Value>;
  /** The latest read. `at`: when it started. */
  #last: { opened: Promise<Inbox>; at: number; isPending: boolean; value: Promise<Value> } | undefined;

  constructor(background: OpenedInbox, options: InboxReaderOptions<Value>) {
    this.#background = background;
    this.#options = options;
  }

  /** Returns the value, or `undefined` while no inbox is open. Never rejects. */
  async read(): Promise<Value | undefined> {
    const { opened } = this.#background;
    if (!opened) return undefined;
    const { timeoutMs, fallback } = this.#options;
    const late = () => new Error("The inbox did not respond in time.");
    return withDeadline(this.#shared(opened), timeoutMs, late).catch(() => fallback);
  }

  #shared(opened: Promise<Inbox>): Promise<Value> {
    const { now, read } = this.#options;
    const last = this.#last;
    const age = now() - (last?.at ?? 0);
    // The age is negative if the clock was set back.
    if (last?.opened === opened && (last.isPending || (age >= 0 && age < freshMs))) return last.value;
    const value = read(opened).finally(() => {
      latest.isPending = false;
    });
    const latest = { opened, at: now(), isPending: true, value };
    this.#last = latest;
    return value;
  }
}

/** The number of deliveries by endpoint and status, or `unknown` if the inbox failed or did not respond in time. */
export type InboxCounts = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** Creates a reader of the number of deliveries in the inbox, for metrics and pages. */
export function createCountsReader(
  background: OpenedInbox,
  { now, timeoutMs = 1_000 }: { now: () => number; timeoutMs?: number },
): InboxReader<InboxCounts> {
  const read = async (opened: Promise<Inbox>) => (await opened).counts();
  return new InboxReader<InboxCounts>(background, { now, timeoutMs, fallback: "unknown", read });
}
