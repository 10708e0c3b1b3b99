import { connect } from "node:net";
import { exponentialBackoff } from "../core/backoff.ts";
import { WebhookError } from "../core/errors.ts";
import type { TunnelClock } from "./clock.ts";
import { checkPublicUrl } from "./probe.ts";
import type { ProviderTunnel } from "./provider.ts";
import { type TunnelEvents, type TunnelListener, TunnelListeners } from "./tunnel-events.ts";
import type { TunnelPlan } from "./tunnel-options.ts";

/** Milliseconds between two probes while opening. */
const probeInterval = 500;
/** Between two attempts to open a lost tunnel again. */
const backoff = { firstMs: 1_000, maxMs: 30_000 };

/** After how many milliseconds a local port that neither takes nor refuses a connection counts as busy. */
const longestLocalConnect = 1_000;

/** A tunnel takes one heartbeat that fails for an accident, and the second for a loss. */
const heartbeatsToLose = 2;

/** What {@link TunnelKeeper.open} needs besides the plan. */
export interface KeeperOptions {
  clock: TunnelClock;
  /** Gives up the first opening. */
  signal: AbortSignal | undefined;
}

/**
 * Keeps a tunnel: notices that it is lost, by its provider's word or by asking the public URL, and opens it again, with
 * the same name where the provider has names.
 */
export class TunnelKeeper {
  readonly #plan: TunnelPlan;
  readonly #clock: TunnelClock;
  readonly #listeners = new TunnelListeners();
  readonly #closing = new AbortController();
  readonly #keeping: Promise<void>;
  #connection: ProviderTunnel;
  #status: "up" | "down" | "closed" = "up";
  #closed: Promise<void> | undefined;

  /** Opens a tunnel for the first time. @throws `TUNNEL_FAILED`, or the reason of `signal`. */
  static async open(plan: TunnelPlan, { clock, signal }: KeeperOptions): Promise<TunnelKeeper> {
    signal?.throwIfAborted();
    const deadline = clock.deadline(plan.timeoutMs);
    const ending = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      const connection = await plan.open({ subdomain: plan.subdomain, signal: ending });
      if (plan.probe) await untilAnswered(connection, { plan, clock, signal: ending });
      return new TunnelKeeper(plan, { clock, connection });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  private constructor(plan: TunnelPlan, { clock, connection }: { clock: TunnelClock; connection: ProviderTunnel }) {
    this.#plan = plan;
    this.#clock = clock;
    this.#connection = connection;
    // Whoever waits for the opening begins to listen only after it.
    setImmediate(() => this.#tellOtherName());
    this.#keeping = this.#keep();
  }

  get url(): string {
    return this.#connection.url;
  }

  get status(): "up" | "down" | "closed" {
    return this.#status;
  }

  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelListener<Name>): () => void {
    return this.#listeners.add(event, listener);
  }

  close(): Promise<void> {
    this.#status = "closed";
    this.#closing.abort();
    this.#closed ??= Promise.all([this.#connection.close(), this.#keeping]).then(() => {});
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #keep(): Promise<void> {
    while (!this.#isClosed) {
      const reason = await this.#untilLost();
      if (reason === undefined) return;
      this.#status = "down";
      this.#tell("error", reason);
      this.#tell("down", reason);
      await this.#openAgain();
    }
  }

  /** Resolves with why the tunnel is lost, or with `undefined` when it was closed. */
  async #untilLost(): Promise<WebhookError | undefined> {
    const connection = this.#connection;
    const ending = AbortSignal.any([this.#closing.signal, connection.lost]);
    let missed = 0;
    let fault: WebhookError | undefined;
    while (missed < heartbeatsToLose && !ending.aborted) {
      await this.#clock.pause(this.#plan.heartbeatMs, ending);
      if (!ending.aborted) fault = await this.#check();
      missed = fault === undefined ? 0 : missed + 1;
    }
    if (this.#isClosed) return undefined;
    return connection.lost.aborted ? lossOf(connection, this.#plan) : fault;
  }

  /** Tries until the tunnel is up or closed. */
  async #openAgain(): Promise<void> {
    let stands = !this.#connection.lost.aborted;
    let insists = true;
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      await this.#clock.pause(exponentialBackoff(attempt, backoff), this.#closing.signal);
      if (this.#isClosed) return;
      // It may have come back by itself, and opening another one could change the URL.
      if (stands && (await this.#check()) === undefined) return this.#resume(this.#connection);
      try {
        if (!(await isListening(this.#plan.port))) throw nothingListens(this.#plan.port);
        stands = false;
        await this.#connection.close();
        const wish = this.#plan.subdomain ?? this.#connection.name;
        const next = await this.#openWith(wish);
        if (wish === undefined || next.name === wish || !insists) return await this.#resume(next);
        // Once: a server needs a moment to notice that the lost connections have left the name free.
        insists = false;
        await next.close();
        throw nameHeld(wish, next.url);
      } catch (error) {
        if (this.#isClosed) return;
        this.#tell("error", WebhookError.isInstance(error) ? error : this.#plan.failure("The tunnel does not open."));
      }
    }
  }

  async #openWith(subdomain: string | undefined): Promise<ProviderTunnel> {
    const { timeoutMs, open } = this.#plan;
    const signal = AbortSignal.any([this.#closing.signal, this.#clock.deadline(timeoutMs)]);
    const connection = await open({ subdomain, signal });
    await untilAnswered(connection, { plan: this.#plan, clock: this.#clock, signal });
    return connection;
  }

  async #resume(connection: ProviderTunnel): Promise<void> {
    if (this.#isClosed) return connection.close();
    const urlBefore = this.url;
    this.#connection = connection;
    this.#status = "up";
    if (this.url !== urlBefore) {
      this.#tell("urlChanged", this.url);
      this.#tellOtherName();
    }
    this.#tell("up");
  }

  /** Says it when the name that was wished for belongs to somebody else. */
  #tellOtherName(): void {
    const { subdomain } = this.#plan;
    if (subdomain === undefined || this.#connection.name === subdomain) return;
    this.#tell("error", nameTaken(subdomain, this.url));
  }

  /** A listener may close the tunnel: the ones after it hear no more of it. */
  #tell<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    if (!this.#isClosed) this.#listeners.tell(event, ...values);
  }

  async #check(): Promise<WebhookError | undefined> {
    const { url, lost } = this.#connection;
    const signal = AbortSignal.any([this.#closing.signal, lost]);
    const fault = await checkPublicUrl(url, { probe: this.#plan.probe, signal, clock: this.#clock });
    return fault === undefined ? undefined : blame(fault, this.#plan);
  }
}

/** Resolves once the public URL leads to the server. Otherwise it closes the tunnel and rejects with the reason. */
async function untilAnswered(
  connection: ProviderTunnel,
  { plan, clock, signal }: { plan: TunnelPlan; clock: TunnelClock; signal: AbortSignal },
): Promise<void> {
  const ending = AbortSignal.any([signal, connection.lost]);
  let reason: string | undefined;
  for (;;) {
    const fault = await checkPublicUrl(connection.url, { probe: plan.probe, signal: ending, clock });
    if (fault === undefined) return;
    // What the end has cut short says less than the attempt before it.
    if (reason === undefined || !ending.aborted) reason = fault;
    if (!ending.aborted) await clock.pause(probeInterval, ending);
    if (!ending.aborted) continue;
    await connection.close();
    throw connection.lost.aborted ? lossOf(connection, plan) : await blame(reason, plan);
  }
}

function lossOf({ lost }: ProviderTunnel, plan: TunnelPlan): WebhookError {
  const reason: unknown = lost.reason;
  return WebhookError.isInstance(reason) ? reason : plan.failure("The tunnel is lost.");
}

/** A server that does not run is no fault of the tunnel, and opening another one would not help. */
async function blame(fault: string, plan: TunnelPlan): Promise<WebhookError> {
  return (await isListening(plan.port)) ? plan.failure(fault) : nothingListens(plan.port);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const tell = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once("connect", () => tell(true));
    socket.once("error", () => tell(false));
    // Whoever does not even refuse is there, only busy.
    socket.setTimeout(longestLocalConnect, () => tell(true));
  });
}

function nothingListens(port: number): WebhookError {
  return new WebhookError(
    `Nothing listens on port ${port} of this machine (127.0.0.1), where the tunnel leads: start the server there.`,
    { code: "TUNNEL_FAILED", retryable: true },
  );
}

function nameHeld(wished: string, url: string): WebhookError {
  return new WebhookError(
    `The tunnel's server gives ${url} instead of the name ${wished}, which it may still hold for the lost connections: it is asked once more, and then any name will do.`,
    { code: "TUNNEL_FAILED", retryable: true },
  );
}

function nameTaken(wished: string, url: string): WebhookError {
  return new WebhookError(
    `The name ${wished} was wished for, but the tunnel's server gave ${url}: somebody else has the name. Use that URL, or close the tunnel and wish for another name (option "subdomain").`,
    { code: "TUNNEL_NAME_TAKEN", retryable: true },
  );
}
