import { connect } from "node:net";
import { inspect } from "node:util";
import { WebhookError } from "../core/errors.ts";
import { exponentialBackoff } from "../core/time.ts";
import type { ProviderTunnel, TunnelClock } from "./provider.ts";
import { checkPublicUrl, type ReachabilityCheck } from "./reachability-check.ts";

/** The interval between reachability checks while the tunnel opens. */
const probeIntervalMs = 500;
/** The delays before the attempts to reopen a lost tunnel. */
const reconnectBackoff = { firstMs: 1_000, maxMs: 30_000 };

/**
 * The timeout of a connection to the local port, in milliseconds. A port that neither accepts nor refuses the
 * connection counts as busy.
 */
const localConnectTimeoutMs = 1_000;

/**
 * The number of failed heartbeats after which a tunnel counts as lost. A single failure can be a short network problem.
 */
const maxFailedHeartbeats = 2;

/** The validated options of a tunnel. */
export interface TunnelConfig {
  port: number;
  subdomain: string | undefined;
  reachabilityCheck: ReachabilityCheck | undefined;
  timeoutMs: number;
  heartbeatMs: number;
  /** Opens the tunnel, and requests a name if `subdomain` is set. */
  open(request: { subdomain: string | undefined; signal: AbortSignal }): Promise<ProviderTunnel>;
  /** Creates an error with the remedy for this kind of tunnel. */
  failure(reason: string): WebhookError;
}

/**
 * A tunnel that is reopened after a loss, with the same name if the provider supports names. A loss is reported by the
 * provider or detected by polling the public URL.
 */
export class ReconnectingTunnel {
  readonly #config: TunnelConfig;
  readonly #clock: TunnelClock;
  readonly #listeners = new TunnelListeners();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connection: ProviderTunnel;
  #status: "up" | "down" | "closed" = "up";
  #closed: Promise<void> | undefined;

  /**
   * Opens the tunnel for the first time. `signal` has no effect on an open tunnel.
   *
   * @throws `TUNNEL_FAILED`, or the reason of `signal`.
   */
  static async open(
    config: TunnelConfig,
    { clock, signal }: { clock: TunnelClock; signal: AbortSignal | undefined },
  ): Promise<ReconnectingTunnel> {
    signal?.throwIfAborted();
    const deadline = clock.deadline(config.timeoutMs);
    const cancelled = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      const connection = await config.open({ subdomain: config.subdomain, signal: cancelled });
      if (config.reachabilityCheck) await waitUntilReachable(connection, { config, clock, signal: cancelled });
      return new ReconnectingTunnel(config, { clock, connection });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  private constructor(config: TunnelConfig, { clock, connection }: { clock: TunnelClock; connection: ProviderTunnel }) {
    this.#config = config;
    this.#clock = clock;
    this.#connection = connection;
    // Wait, because the caller can add listeners only after open() has resolved.
    setImmediate(() => this.#reportOtherName());
    this.#running = this.#run();
  }

  get url(): string {
    return this.#connection.url;
  }

  get status(): "up" | "down" | "closed" {
    return this.#status;
  }

  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void {
    return this.#listeners.add(event, listener);
  }

  close(): Promise<void> {
    this.#status = "closed";
    this.#closing.abort();
    this.#closed ??= Promise.all([this.#connection.close(), this.#running]).then(() => {});
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const reason = await this.#waitUntilLost();
      if (reason === undefined) return;
      this.#status = "down";
      this.#emit("error", reason);
      this.#emit("down", reason);
      await this.#reconnect();
    }
  }

  /** Resolves with the reason why the tunnel was lost, or with `undefined` if the tunnel was closed. */
  async #waitUntilLost(): Promise<WebhookError | undefined> {
    const connection = this.#connection;
    const ended = AbortSignal.any([this.#closing.signal, connection.lost]);
    let failedHeartbeats = 0;
    let fault: WebhookError | undefined;
    while (failedHeartbeats < maxFailedHeartbeats && !ended.aborted) {
      await this.#clock.pause(this.#config.heartbeatMs, ended);
      if (!ended.aborted) fault = await this.#check();
      failedHeartbeats = fault === undefined ? 0 : failedHeartbeats + 1;
    }
    if (this.#isClosed) return undefined;
    return connection.lost.aborted ? lossError(connection, this.#config) : fault;
  }

  /** Resolves when the tunnel is up or closed. */
  async #reconnect(): Promise<void> {
    let mayRecover = !this.#connection.lost.aborted;
    let requiresName = true;
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      await this.#clock.pause(exponentialBackoff(attempt, reconnectBackoff), this.#closing.signal);
      if (this.#isClosed) return;
      // Check whether the connection has recovered, because opening a new tunnel could change the URL.
      if (mayRecover && (await this.#check()) === undefined) return this.#resume(this.#connection);
      try {
        if (!(await isListening(this.#config.port))) throw portNotListening(this.#config.port);
        mayRecover = false;
        await this.#connection.close();
        if (this.#isClosed) return;
        const name = this.#config.subdomain ?? this.#connection.name;
        const next = await this.#openWith(name);
        if (name === undefined || next.name === name || !requiresName) return await this.#resume(next);
        // Require the same name in one more attempt, because the tunnel server takes a moment to release the name of
        // the lost connections. Later attempts accept another name.
        requiresName = false;
        await next.close();
        throw nameStillHeld(name, next.url);
      } catch (error) {
        this.#emit("error", WebhookError.isInstance(error) ? error : this.#config.failure("The tunnel did not open."));
      }
    }
  }

  async #openWith(subdomain: string | undefined): Promise<ProviderTunnel> {
    const { timeoutMs, open } = this.#config;
    const signal = AbortSignal.any([this.#closing.signal, this.#clock.deadline(timeoutMs)]);
    const connection = await open({ subdomain, signal });
    await waitUntilReachable(connection, { config: this.#config, clock: this.#clock, signal });
    return connection;
  }

  async #resume(connection: ProviderTunnel): Promise<void> {
    if (this.#isClosed) return connection.close();
    const previousUrl = this.url;
    this.#connection = connection;
    this.#status = "up";
    if (this.url !== previousUrl) {
      this.#emit("urlChanged", this.url);
      this.#reportOtherName();
    }
    this.#emit("up");
  }

  /** Emits an error if the tunnel server assigned a name other than the requested one. */
  #reportOtherName(): void {
    const { subdomain } = this.#config;
    if (subdomain === undefined || this.#connection.name === subdomain) return;
    this.#emit("error", nameTaken(subdomain, this.url));
  }

  /** Emits an event. If a listener closes the tunnel, no more events are emitted. */
  #emit<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    if (!this.#isClosed) this.#listeners.emit(event, ...values);
  }

  async #check(): Promise<WebhookError | undefined> {
    const { url, lost } = this.#connection;
    const signal = AbortSignal.any([this.#closing.signal, lost]);
    const fault = await checkPublicUrl(url, {
      reachabilityCheck: this.#config.reachabilityCheck,
      signal,
      clock: this.#clock,
    });
    return fault === undefined ? undefined : faultError(fault, this.#config);
  }
}

/** Resolves when the public URL points to the server. Otherwise, closes the tunnel and rejects with the reason. */
async function waitUntilReachable(
  connection: ProviderTunnel,
  { config, clock, signal }: { config: TunnelConfig; clock: TunnelClock; signal: AbortSignal },
): Promise<void> {
  const ended = AbortSignal.any([signal, connection.lost]);
  let reason: string | undefined;
  for (;;) {
    const fault = await checkPublicUrl(connection.url, {
      reachabilityCheck: config.reachabilityCheck,
      signal: ended,
      clock,
    });
    if (fault === undefined) return;
    // Keep the fault of the previous check, because an interrupted check reports a less specific fault.
    if (reason === undefined || !ended.aborted) reason = fault;
    if (!ended.aborted) await clock.pause(probeIntervalMs, ended);
    if (!ended.aborted) continue;
    await connection.close();
    throw connection.lost.aborted ? lossError(connection, config) : await faultError(reason, config);
  }
}

function lossError({ lost }: ProviderTunnel, config: TunnelConfig): WebhookError {
  const reason: unknown = lost.reason;
  return WebhookError.isInstance(reason) ? reason : config.failure("The tunnel was lost.");
}

/**
 * Creates the error for a failed check. If the local server is not running, the error names the server, because a new
 * tunnel would not help.
 */
async function faultError(fault: string, config: TunnelConfig): Promise<WebhookError> {
  return (await isListening(config.port)) ? config.failure(fault) : portNotListening(config.port);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (isListening: boolean) => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    // A busy server neither accepts nor refuses the connection.
    socket.setTimeout(localConnectTimeoutMs, () => settle(true));
  });
}

function portNotListening(port: number): WebhookError {
  return new WebhookError(
    `No server is listening on 127.0.0.1:${port}, the local end of the tunnel. Start your server on this port.`,
    { code: "TUNNEL_FAILED", retryable: true },
  );
}

function nameStillHeld(name: string, url: string): WebhookError {
  return new WebhookError(
    `The tunnel server assigned "${url}", not the name "${name}". The server may still reserve the name for the lost connection. The tunnel requests the name again. If the name is still taken, the tunnel uses another name.`,
    { code: "TUNNEL_FAILED", retryable: true },
  );
}

function nameTaken(name: string, url: string): WebhookError {
  return new WebhookError(
    `The tunnel server assigned "${url}", because the name "${name}" is taken. Use that URL, or close the tunnel and request another name (option "subdomain").`,
    { code: "TUNNEL_NAME_TAKEN", retryable: true },
  );
}

/** The events of an open tunnel, and the values that its listeners receive. */
export interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries no longer arrive. The error contains the reason. The tunnel tries to reconnect until it is closed. */
  down: [error: WebhookError];
  /** The public URL has changed. Emitted before `up`. Update webhooks that point to the old URL. */
  urlChanged: [url: string];
  /**
   * The tunnel was lost or could not be reopened (`TUNNEL_FAILED`), or the server assigned a name other than the
   * requested one (`TUNNEL_NAME_TAKEN`). Without a listener, the error is ignored and does not end the process.
   */
  error: [error: WebhookError];
}

/** A listener for one of {@link TunnelEvents}. */
export type TunnelEventListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;

/**
 * The listeners of a tunnel. Does not use `EventEmitter`, which throws if an "error" event has no listener and would
 * end the process.
 *
 * @example
 * ```ts
 * const listeners = new TunnelListeners();
 * const stopListening = listeners.add("up", () => console.log("up again"));
 * listeners.emit("up");
 * ```
 */
export class TunnelListeners {
  readonly #listeners: { [Name in keyof TunnelEvents]: Set<TunnelEventListener<Name>> } = {
    up: new Set(),
    down: new Set(),
    urlChanged: new Set(),
    error: new Set(),
  };

  /** Adds a listener and returns the function that removes it. */
  add<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void {
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /**
   * Calls every listener of an event in the order of registration. If a listener throws or rejects, the error is
   * reported with `process.emitWarning`, and the other listeners are still called.
   */
  emit<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    const warn = (reason: unknown) => {
      process.emitWarning(`A listener of the tunnel event "${event}" failed: ${inspect(reason)}`);
    };
    for (const listener of [...this.#listeners[event]]) {
      // A listener can be async, and an unhandled rejection would end the process.
      (async () => listener(...values))().catch(warn);
    }
  }
}
