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

/** The timeout of a connection to the local port. A port that neither accepts nor refuses it counts as busy. */
const localConnectTimeoutMs = 1_000;

/** A single failed heartbeat can be a short network problem. */
const maxFailedHeartbeats = 2;

/** The validated options of a tunnel. */
export interface TunnelConfig {
  port: number;
  subdomain: string | undefined;
  reachabilityCheck: ReachabilityCheck | undefined;
  clock: TunnelClock;
  timeoutMs: number;
  heartbeatMs: number;
  /** Opens the tunnel, and requests a name if `subdomain` is set. */
  open(request: { subdomain: string | undefined; signal: AbortSignal }): Promise<ProviderTunnel>;
  /** Creates an error with the remedy for this kind of tunnel. */
  failure(reason: string): WebhookError;
}

/**
 * Opens a tunnel that is reopened after a loss, with the same name if the provider supports names. A loss is reported by
 * the provider or detected by polling the public URL. `signal` has no effect on an open tunnel.
 *
 * @throws `TUNNEL_FAILED`, or the reason of `signal`.
 */
export async function openWithReconnects(config: TunnelConfig, signal?: AbortSignal) {
  signal?.throwIfAborted();
  const deadline = config.clock.deadline(config.timeoutMs);
  const cancelled = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const connection = await config.open({ subdomain: config.subdomain, signal: cancelled });
    if (config.reachabilityCheck) await waitUntilReachable(connection, config, cancelled);
    return keepOpen(connection, config);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

function keepOpen(opened: ProviderTunnel, config: TunnelConfig) {
  const { port, subdomain, clock } = config;
  const listeners = new TunnelListeners();
  const closing = new AbortController();
  const isClosed = () => closing.signal.aborted;
  let connection = opened;
  let status: "up" | "down" | "closed" = "up";
  // Wait, because the caller can add listeners only after the tunnel has opened.
  setImmediate(reportOtherName);
  const running = run();
  let closed: Promise<void> | undefined;

  function close(): Promise<void> {
    status = "closed";
    closing.abort();
    closed ??= Promise.all([connection.close(), running]).then(() => {});
    return closed;
  }

  async function run(): Promise<void> {
    while (!isClosed()) {
      const reason = await waitUntilLost();
      if (reason === undefined) return;
      status = "down";
      emit("error", reason);
      emit("down", reason);
      await reconnect();
    }
  }

  /** Returns the reason, or `undefined` if the tunnel was closed. */
  async function waitUntilLost(): Promise<WebhookError | undefined> {
    const ended = AbortSignal.any([closing.signal, connection.lost]);
    let failedHeartbeats = 0;
    let fault: WebhookError | undefined;
    while (failedHeartbeats < maxFailedHeartbeats && !ended.aborted) {
      await clock.pause(config.heartbeatMs, ended);
      if (!ended.aborted) fault = await check();
      failedHeartbeats = fault === undefined ? 0 : failedHeartbeats + 1;
    }
    if (isClosed()) return undefined;
    return connection.lost.aborted ? lossError(connection, config) : fault;
  }

  /** Resolves when the tunnel is up or closed. */
  async function reconnect(): Promise<void> {
    let mayRecover = !connection.lost.aborted;
    let requiresName = true;
    for (let attempt = 1; !isClosed(); attempt += 1) {
      await clock.pause(exponentialBackoff(attempt, reconnectBackoff), closing.signal);
      if (isClosed()) return;
      // Check whether the connection has recovered, because opening a new tunnel could change the URL.
      if (mayRecover && (await check()) === undefined) return resume(connection);
      try {
        if (!(await isListening(port))) throw portNotListening(port);
        mayRecover = false;
        await connection.close();
        if (isClosed()) return;
        const name = subdomain ?? connection.name;
        const signal = AbortSignal.any([closing.signal, clock.deadline(config.timeoutMs)]);
        const next = await config.open({ subdomain: name, signal });
        await waitUntilReachable(next, config, signal);
        if (name === undefined || next.name === name || !requiresName) return await resume(next);
        // Require the same name in one more attempt, because the tunnel server takes a moment to release the name of
        // the lost connections. Later attempts accept another name.
        requiresName = false;
        await next.close();
        throw nameStillHeld(name, next.url);
      } catch (error) {
        emit("error", WebhookError.isInstance(error) ? error : config.failure("The tunnel did not open."));
      }
    }
  }

  async function resume(next: ProviderTunnel): Promise<void> {
    if (isClosed()) return next.close();
    const previousUrl = connection.url;
    connection = next;
    status = "up";
    if (next.url !== previousUrl) {
      emit("urlChanged", next.url);
      reportOtherName();
    }
    emit("up");
  }

  /** Emits an error if the tunnel server assigned a name other than the requested one. */
  function reportOtherName(): void {
    if (subdomain === undefined || connection.name === subdomain) return;
    emit("error", nameTaken(subdomain, connection.url));
  }

  /** Emits an event. If a listener closes the tunnel, no more events are emitted. */
  function emit<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    if (!isClosed()) listeners.emit(event, ...values);
  }

  async function check(): Promise<WebhookError | undefined> {
    const signal = AbortSignal.any([closing.signal, connection.lost]);
    const fault = await checkPublicUrl(connection.url, { ...config, signal });
    return fault === undefined ? undefined : faultError(fault, config);
  }

  return {
    get url() {
      return connection.url;
    },
    get status() {
      return status;
    },
    on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void {
      return listeners.add(event, listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Closes the tunnel and rejects with the reason if the public URL does not point to the server in time. */
async function waitUntilReachable(
  connection: ProviderTunnel,
  config: TunnelConfig,
  signal: AbortSignal,
): Promise<void> {
  const ended = AbortSignal.any([signal, connection.lost]);
  let reason: string | undefined;
  for (;;) {
    const fault = await checkPublicUrl(connection.url, { ...config, signal: ended });
    if (fault === undefined) return;
    // Keep the fault of the previous check, because an interrupted check reports a less specific fault.
    if (reason === undefined || !ended.aborted) reason = fault;
    if (!ended.aborted) await config.clock.pause(probeIntervalMs, ended);
    if (!ended.aborted) continue;
    await connection.close();
    throw connection.lost.aborted ? lossError(connection, config) : await faultError(reason, config);
  }
}

function lossError({ lost }: ProviderTunnel, config: TunnelConfig): WebhookError {
  const reason: unknown = lost.reason;
  return WebhookError.isInstance(reason) ? reason : config.failure("The tunnel was lost.");
}

/** If the local server is not running, a new tunnel would not help. */
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
  const message = `No server is listening on 127.0.0.1:${port}, the local end of the tunnel. Start your server on this port.`;
  return new WebhookError(message, { code: "TUNNEL_FAILED", retryable: true });
}

function nameStillHeld(name: string, url: string): WebhookError {
  const message = `The tunnel server assigned "${url}", not the name "${name}". The server may still reserve the name for the lost connection. The tunnel requests the name again. If the name is still taken, the tunnel uses another name.`;
  return new WebhookError(message, { code: "TUNNEL_FAILED", retryable: true });
}

function nameTaken(name: string, url: string): WebhookError {
  const message = `The tunnel server assigned "${url}", because the name "${name}" is taken. Use that URL, or close the tunnel and request another name (option "subdomain").`;
  return new WebhookError(message, { code: "TUNNEL_NAME_TAKEN", retryable: true });
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

/** The listeners of a tunnel. `EventEmitter` would end the process if an "error" event has no listener. */
export class TunnelListeners {
  readonly #listeners: { [Name in keyof TunnelEvents]: Set<TunnelEventListener<Name>> } = {
    up: new Set(),
    down: new Set(),
    urlChanged: new Set(),
    error: new Set(),
  };

  /** Returns the function that removes the listener. */
  add<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void {
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Calls the listeners in the order of registration. The error of a listener is only a warning. */
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
