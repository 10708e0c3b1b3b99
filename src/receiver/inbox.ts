import { WebhookError } from "../core/errors.ts";
import { withDeadline } from "../core/time.ts";
import type {
  ClaimedDelivery,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  FinishedRun,
  Inbox,
  IncomingDelivery,
  ListOptions,
  StoredDelivery,
} from "../inbox/inbox.ts";
import type { ServerContext } from "./context.ts";
import type { Endpoint } from "./endpoint.ts";

interface BackgroundWorkOptions {
  /** Loads the built-in inbox. `undefined` if this runtime does not support it. */
  loadInbox: (() => Promise<typeof import("../inbox/open-inbox.ts")>) | undefined;
  /** Runs an endpoint's handler on a claimed delivery. Never rejects. */
  run: (endpoint: Endpoint, claimed: ClaimedDelivery, signal: AbortSignal) => Promise<FinishedRun>;
  /** Called if an inbox that was being opened in the background cannot be opened without a restart. */
  onFailure: (error: unknown) => void;
}

/** Opens the server's inbox when the inbox is first needed, and runs its deliveries for background endpoints. */
export class BackgroundWork {
  readonly #context: ServerContext;
  readonly #options: BackgroundWorkOptions;
  #opening: Promise<Inbox> | undefined;
  /** The open inbox, which runs the deliveries of all background endpoints. */
  #inbox: Inbox | undefined;
  #stopOpening = new AbortController();
  #maxRetryWaitMs = Number.POSITIVE_INFINITY;
  /** The URL that overrides the `inbox` option. */
  #inboxUrl: string | undefined;

  constructor(context: ServerContext, options: BackgroundWorkOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** See `Inbox.bucket`. */
  get bucket(): string | undefined {
    return this.#inbox?.bucket;
  }

  /** The URL of the inbox, or an `Inbox` object. `undefined`: `INBOX_URL` or the default. */
  get inbox(): string | Inbox | undefined {
    const { inbox } = this.#context.options;
    return typeof inbox === "object" ? inbox : (this.#inboxUrl ?? inbox);
  }

  /** The inbox that is open or opening, or `undefined` before the inbox is first opened. */
  get opened(): Promise<Inbox> | undefined {
    return this.#opening;
  }

  /** Opens the inbox and runs its deliveries. After a failed call, the next one tries again. @throws `OPTION_INVALID`, `INBOX_UNUSABLE`. */
  open(): Promise<Inbox> {
    this.#opening ??= this.#start().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Opens the inbox if there is a background endpoint. @throws `OPTION_INVALID`, `INBOX_UNUSABLE`. */
  async openIfNeeded(): Promise<void> {
    if (this.#context.endpoints.backgroundEndpoints.length === 0) return;
    await this.#warnOrphaned(await this.open());
  }

  async store(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const inbox = await this.open().catch((cause: unknown) => {
      throw new WebhookError("The server cannot open its inbox. See the server's log.", {
        code: "INBOX_UNAVAILABLE",
        status: 503,
        retryable: true,
        retryAfterSeconds: 60,
        cause,
      });
    });
    return inbox.accept(delivery);
  }

  /** Runs the endpoint's deliveries if the inbox is open. @throws `INBOX_UNUSABLE` in a runtime without an inbox, where each would fail. */
  add(endpoint: Endpoint): void {
    const canOpenInbox = typeof this.#context.options.inbox === "object" || this.#options.loadInbox !== undefined;
    if (endpoint.queue && !canOpenInbox) {
      throw new WebhookError(
        `Endpoint "${endpoint.name}" has background: true, but this runtime does not support the built-in inbox. Remove background: true, pass an inbox with new WebhooksServer({ inbox }), or run on Node, Bun, or Deno.`,
        { code: "INBOX_UNUSABLE" },
      );
    }
    if (this.#inbox) this.#work(this.#inbox, endpoint);
  }

  /** Limits the wait before each later retry, unless the handler requests a longer wait. */
  limitRetryWaits(maxMs: number): void {
    this.#maxRetryWaitMs = maxMs;
  }

  /** Sets the URL for the next time that the inbox is opened. An `Inbox` object in the options takes precedence. */
  useInbox(url: string): void {
    this.#inboxUrl = url;
  }

  /** Stops the retries of an inbox that is being opened. The call that opens the inbox then rejects. */
  stopOpening(): void {
    this.#stopOpening.abort();
    this.#stopOpening = new AbortController();
  }

  /** Aborts running handlers, and waits for them up to `graceMs`. Deliveries that fail or do not finish in this time are queued again. */
  async close(graceMs: number): Promise<void> {
    const opened = this.#opening;
    this.stopOpening();
    const inbox = await opened?.catch(() => undefined);
    const isFirstCall = this.#inbox !== undefined;
    this.#inbox = undefined;
    let interrupted: number | undefined;
    try {
      interrupted = (await inbox?.close(graceMs))?.interrupted;
    } finally {
      if (this.#opening === opened) this.#opening = undefined;
    }
    if (!interrupted || !isFirstCall) return;
    this.#context.log.warn(
      { interrupted },
      `Background deliveries interrupted by the shutdown: ${interrupted}. Interrupted deliveries will run again, and the interrupted attempts do not count.`,
    );
  }

  /** Warns about unfinished deliveries of endpoints that this server does not run, such as renamed ones. They stay in the inbox. */
  async #warnOrphaned(inbox: Inbox): Promise<void> {
    const { endpoints, log } = this.#context;
    const counts = await inbox.counts().catch(() => ({}));
    for (const [endpoint, { queued, running }] of Object.entries(counts)) {
      const waiting = queued + running;
      if (waiting === 0 || endpoints.byName.get(endpoint)?.queue) continue;
      log.warn(
        { endpoint, waiting },
        "The inbox contains unfinished deliveries of an endpoint that this server does not run in the background. Register it with background: true, unless another server of this inbox runs it.",
      );
    }
  }

  async #start(): Promise<Inbox> {
    const inbox = await this.#openInbox();
    this.#inbox = inbox;
    for (const endpoint of this.#context.endpoints.backgroundEndpoints) this.#work(inbox, endpoint);
    return inbox;
  }

  async #openInbox(): Promise<Inbox> {
    const { log, now } = this.#context;
    const { inbox } = this;
    if (typeof inbox === "object" && this.#inboxUrl === undefined) return inbox;
    // Before the import, during which the server may be closed.
    const { signal } = this.#stopOpening;
    const { loadInbox, onFailure } = this.#options;
    if (!loadInbox) {
      throw new WebhookError(
        "This runtime does not support the built-in inbox. Pass an inbox with new WebhooksServer({ inbox }).",
        { code: "INBOX_UNUSABLE", status: 503 },
      );
    }
    const { openConfiguredInbox } = await loadInbox();
    const opened = await openConfiguredInbox({ inbox, log, now, signal, onFailure });
    if (opened.maxRetryWaitMs !== undefined) this.limitRetryWaits(opened.maxRetryWaitMs);
    return opened.inbox;
  }

  #work(inbox: Inbox, endpoint: Endpoint): void {
    const { name, queue } = endpoint;
    if (!queue) return;
    const waitAfter = (attempt: number) => Math.min(queue.policy.waitAfter(attempt), this.#maxRetryWaitMs);
    inbox.startWorker({
      ...{ endpoint: name, ...queue, policy: { ...queue.policy, waitAfter } },
      run: (claimed, signal) => this.#options.run(endpoint, claimed, signal),
      onAttemptStored: (key) => this.#context.history.changed(key),
    });
  }
}

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

interface InboxReaderOptions<Value> {
  now: () => number;
  timeoutMs: number;
  fallback: Value;
  read: (opened: Promise<Inbox>) => Promise<Value>;
}

const freshMs = 1_000;

export type InboxReader<Value> = ReturnType<typeof createInboxReader<Value>>;

/**
 * Reads a value that is expensive to read and that unauthenticated clients can request. The value is read at most once a second, and
 * only one read is in progress at a time. A read never opens the inbox.
 */
export function createInboxReader<Value>(
  background: Pick<BackgroundWork, "opened">,
  { now, timeoutMs, fallback, read }: InboxReaderOptions<Value>,
) {
  /** `at`: when the read started. */
  let last: { opened: Promise<Inbox>; at: number; isPending: boolean; value: Promise<Value> } | undefined;
  const readShared = (opened: Promise<Inbox>): Promise<Value> => {
    const age = now() - (last?.at ?? 0);
    // The age is negative if the clock was set back.
    if (last?.opened === opened && (last.isPending || (age >= 0 && age < freshMs))) return last.value;
    const value = read(opened).finally(() => {
      latest.isPending = false;
    });
    const latest = { opened, at: now(), isPending: true, value };
    last = latest;
    return value;
  };
  return {
    /** Returns the value, or `undefined` while no inbox is open. Never rejects. */
    async read(): Promise<Value | undefined> {
      const { opened } = background;
      if (!opened) return undefined;
      const late = () => new Error("The inbox did not respond in time.");
      return withDeadline(readShared(opened), timeoutMs, late).catch(() => fallback);
    },
  };
}

/** The number of deliveries by endpoint and status, or `unknown` if the inbox failed or did not respond in time. */
export type InboxCounts = Awaited<ReturnType<Inbox["counts"]>> | "unknown";

/** Creates a reader of the number of deliveries in the inbox, for metrics and pages. */
export function createCountsReader(background: Pick<BackgroundWork, "opened">, { now }: { now: () => number }) {
  return createInboxReader<InboxCounts>(background, {
    ...{ now, timeoutMs: 1_000, fallback: "unknown" },
    read: async (opened) => (await opened).counts(),
  });
}

/** After this time, an inbox counts as down, so that a page shows an error instead of loading forever. */
const answerTimeoutMs = 5_000;

/**
 * Waits for an answer of the inbox.
 *
 * @throws `INBOX_UNAVAILABLE` (503) after the timeout.
 */
export function withInboxDeadline<Result>(
  pending: Promise<Result>,
  timeoutMs: number = answerTimeoutMs,
): Promise<Result> {
  const late = () =>
    new WebhookError(`The inbox did not answer within ${timeoutMs / 1000} s. Check whether its server is up.`, {
      code: "INBOX_UNAVAILABLE",
      status: 503,
    });
  return withDeadline(pending, timeoutMs, late);
}
