import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Arrival, Inbox, Task } from "../inbox/inbox.ts";
import type { Outcome } from "../payload/delivery.ts";
import type { Endpoint } from "./endpoint.ts";
import { canOpenInbox } from "./inbox-support.ts";

/** What {@link BackgroundWork} is made from. */
export interface BackgroundWorkOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  /** Where deliveries are kept: a URL, or an inbox that is open; left out: `INBOX_URL`. */
  inbox: string | Inbox | undefined;
  /** Runs the handler of an endpoint. Never rejects. */
  run: (endpoint: Endpoint, task: Task, signal: AbortSignal) => Promise<Outcome>;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The inbox of a server, opened when it is first needed, and the work on it. */
export class BackgroundWork {
  readonly #options: BackgroundWorkOptions;
  #opened: Promise<Inbox> | undefined;
  /** Those endpoints are worked on, and each that is added. */
  #working: Inbox | undefined;
  #maxRetryWaitMs = Number.POSITIVE_INFINITY;
  /** Takes precedence over the URL of the options. */
  #inboxUrl: string | undefined;

  constructor(options: BackgroundWorkOptions) {
    this.#options = options;
  }

  /** The inbox, once somebody has opened it. */
  get opened(): Promise<Inbox> | undefined {
    return this.#opened;
  }

  /** Names of the endpoints that answer first and work later. */
  get endpointNames(): readonly string[] {
    return this.#endpoints().map(({ name }) => name);
  }

  /**
   * Opens the inbox and begins to work. Calls at the same time share one inbox; one that could not be opened may be
   * tried again.
   *
   * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
   */
  open(): Promise<Inbox> {
    this.#opened ??= this.#start().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Opens the inbox if there is an endpoint that needs it. @throws `OPTION_INVALID`, `INBOX_UNUSABLE`. */
  async openIfNeeded(): Promise<void> {
    if (this.#endpoints().length === 0) return;
    await this.#tellForgotten(await this.open());
  }

  /** Keeps a delivery. @throws `INBOX_FULL`, `INBOX_UNAVAILABLE`. */
  async accept(arrival: Arrival): Promise<{ duplicate: boolean }> {
    const inbox = await this.open().catch((cause: unknown) => {
      throw notKept(cause);
    });
    return inbox.accept(arrival);
  }

  /**
   * Receives each endpoint when it is registered, and works on one that comes while the server runs.
   *
   * @throws `INBOX_UNUSABLE` for a background endpoint where the runtime has no inbox: each delivery would fail.
   */
  add(endpoint: Endpoint): void {
    if (endpoint.background && typeof this.#options.inbox !== "object" && !canOpenInbox) throw unsupported(endpoint);
    if (this.#working) this.#work(this.#working, endpoint);
  }

  /** Lets no retry wait for longer than this from now on, unless its handler asks to. */
  limitRetryWaits(maxMs: number): void {
    this.#maxRetryWaitMs = maxMs;
  }

  /** Keeps deliveries in this inbox from the next time that it is opened, unless the options hold an open one. */
  useInbox(url: string): void {
    this.#inboxUrl = url;
  }

  /** Gives handlers `graceMs` to end, and hands back what they did not finish. */
  async close(graceMs: number): Promise<void> {
    const opened = this.#opened;
    const inbox = await opened?.catch(() => undefined);
    this.#working = undefined;
    await inbox?.close(graceMs);
    if (this.#opened === opened) this.#opened = undefined;
  }

  /** What waits for an endpoint that was renamed or taken out waits for ever, unless another server has it. */
  async #tellForgotten(inbox: Inbox): Promise<void> {
    const { endpoints, log } = this.#options;
    const counts = await inbox.counts().catch(() => ({}));
    for (const [endpoint, { queued, running }] of Object.entries(counts)) {
      const waiting = queued + running;
      if (waiting === 0 || endpoints.get(endpoint)?.background) continue;
      log().warn(
        { endpoint, waiting },
        "Deliveries wait in the inbox for an endpoint that this server does not have in the background: register it again, unless another server that shares the inbox works on it.",
      );
    }
  }

  #endpoints(): readonly Endpoint[] {
    return [...this.#options.endpoints.values()].filter(({ background }) => background !== undefined);
  }

  async #start(): Promise<Inbox> {
    const inbox = await this.#openGiven();
    this.#working = inbox;
    for (const endpoint of this.#endpoints()) this.#work(inbox, endpoint);
    return inbox;
  }

  async #openGiven(): Promise<Inbox> {
    const { inbox, log, now } = this.#options;
    if (typeof inbox === "object") return inbox;
    const { openServerInbox } = await import("./node/background.ts");
    const found = await openServerInbox({ url: this.#inboxUrl ?? inbox, log, now });
    if (found.maxRetryWaitMs !== undefined) this.limitRetryWaits(found.maxRetryWaitMs);
    return found.inbox;
  }

  #work(inbox: Inbox, endpoint: Endpoint): void {
    if (!endpoint.background) return;
    const { policy } = endpoint.background;
    const waitAfter = (attempt: number) => Math.min(policy.waitAfter(attempt), this.#maxRetryWaitMs);
    const run = (task: Task, signal: AbortSignal) => this.#options.run(endpoint, task, signal);
    inbox.work({ endpoint: endpoint.name, ...endpoint.background, policy: { ...policy, waitAfter }, run });
  }
}

function unsupported({ name }: Endpoint): WebhookError {
  return new WebhookError(
    `Endpoint "${name}" has background: true, but this runtime has no inbox to keep its deliveries in. Leave out background: true, pass an inbox of your own as in new WebhooksServer({ inbox }), or run the server on Node, Bun or Deno.`,
    { code: "INBOX_UNUSABLE" },
  );
}

function notKept(cause: unknown): WebhookError {
  return new WebhookError("The receiver has no inbox to keep the delivery in; its log says why.", {
    code: "INBOX_UNAVAILABLE",
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
    cause,
  });
}
