import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { expect, onTestFinished } from "vitest";
import type { TunnelClock } from "../../src/tunnel/provider.ts";
import { createReachabilityCheck, type ReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { openTunnel, type Tunnel } from "../../src/tunnel/tunnel.ts";
import { listenOnPort } from "../support/free-port.ts";
import { type LocaltunnelServerOptions, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { isRunning } from "../support/program.ts";

/** An HTTP server on 127.0.0.1. It closes at the end of its scope. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

/** Options of {@link startLocalServer}. */
export interface LocalServerOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  onConnection?: (socket: Socket) => void;
}

/**
 * Starts the local server of a tunnel.
 *
 * @example
 * ```ts
 * await using local = await startLocalServer((_request, response) => response.end("pong"));
 * ```
 */
export async function startLocalServer(
  handler: RequestListener,
  { host = "127.0.0.1", port = 0, onConnection }: LocalServerOptions = {},
): Promise<LocalServer> {
  const server = createServer(handler);
  if (onConnection) server.on("connection", onConnection);
  const boundPort = await listenOnPort(server, { host, port });
  return {
    port: boundPort,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server that answers the reachability checks of a tunnel. */
export interface CheckedServer extends LocalServer {
  readonly reachabilityCheck: ReachabilityCheck;
  /** The headers of all reachability checks. */
  readonly asked: readonly NodeJS.Dict<string | string[]>[];
  /** Sets the response to reachability checks; `undefined` restores the correct one. */
  answer(listener: RequestListener | undefined): void;
}

/** Starts a server that answers reachability checks correctly and all other requests with "pong". */
export async function startCheckedServer(
  options: { port?: number; reachabilityCheck?: ReachabilityCheck } = {},
): Promise<CheckedServer> {
  const reachabilityCheck = options.reachabilityCheck ?? createReachabilityCheck();
  const asked: NodeJS.Dict<string | string[]>[] = [];
  let other: RequestListener | undefined;
  const server = await startLocalServer((request, response) => {
    if (request.url !== reachabilityCheck.path) return void response.end("pong");
    asked.push(request.headers);
    if (other) other(request, response);
    else response.setHeader("content-type", "text/plain").end(reachabilityCheck.answer);
  }, options);
  return {
    reachabilityCheck,
    asked,
    port: server.port,
    answer(listener) {
      other = listener;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A clock that a test advances. */
export interface ManualClock extends TunnelClock {
  /** The lengths of all pauses so far, in milliseconds. */
  readonly pauses: readonly number[];
  /** The lengths of all deadlines so far, in milliseconds. */
  readonly deadlines: readonly number[];
  /** Waits for a pause of this length and ends it. */
  pass(milliseconds: number): Promise<void>;
  /** Waits until `count` deadlines of this length exist and aborts the last one. */
  expire(milliseconds: number, count?: number): Promise<void>;
}

/** Creates a clock that moves only when the test advances it. */
export function createManualClock(): ManualClock {
  const pauses: number[] = [];
  const pending: { milliseconds: number; end: () => void }[] = [];
  const deadlines: { milliseconds: number; controller: AbortController }[] = [];
  return {
    pauses,
    get deadlines() {
      return deadlines.map(({ milliseconds }) => milliseconds);
    },
    pause(milliseconds, signal) {
      pauses.push(milliseconds);
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const entry = { milliseconds, end: resolve };
        pending.push(entry);
        signal.addEventListener("abort", () => {
          if (pending.includes(entry)) pending.splice(pending.indexOf(entry), 1);
          resolve();
        });
      });
    },
    deadline(milliseconds) {
      const controller = new AbortController();
      deadlines.push({ milliseconds, controller });
      return controller.signal;
    },
    async pass(milliseconds) {
      await expect.poll(() => pending.map((entry) => entry.milliseconds)).toContain(milliseconds);
      const index = pending.findIndex((entry) => entry.milliseconds === milliseconds);
      pending.splice(index, 1)[0]?.end();
    },
    async expire(milliseconds, count = 1) {
      const matching = () => deadlines.filter((entry) => entry.milliseconds === milliseconds);
      await expect.poll(() => matching().length).toBeGreaterThanOrEqual(count);
      matching().at(-1)?.controller.abort(new DOMException("Too late.", "TimeoutError"));
    },
  };
}

/** Records all events of a tunnel: errors with code and message, others with their values. */
export function recordEvents(tunnel: Tunnel): string[] {
  const heard: string[] = [];
  tunnel.on("error", ({ code, message }) => heard.push(`error ${code}: ${message}`));
  tunnel.on("down", ({ code }) => heard.push(`down ${code}`));
  tunnel.on("urlChanged", (url) => heard.push(`urlChanged ${url}`));
  tunnel.on("up", () => heard.push("up"));
  return heard;
}

/** Opens a tunnel of a localtunnel server, and closes both after the test. */
export async function openHosted(server: LocaltunnelServerOptions = {}) {
  const host = await startLocaltunnelServer(server);
  const tunnel = await openTunnel({ port: 1, host: host.url });
  onTestFinished(async () => {
    await tunnel.close();
    await host.close();
  });
  return { host, tunnel, heard: recordEvents(tunnel) };
}

const started: ChildProcess[] = [];

subscribe("child_process", (message) => {
  if (typeof message !== "object" || message === null || !("process" in message)) return;
  if (message.process instanceof ChildProcess) started.push(message.process);
});

/** Returns all processes that `openTunnel` has started in this test file, newest last. */
export function tunnelProcesses(): ChildProcess[] {
  return started.filter((child) => child.spawnargs?.some((argument) => /(localtunnel|program)-process/.test(argument)));
}

/** Returns the newest process that `openTunnel` has started. */
export function newestProcess(): ChildProcess {
  const child = tunnelProcesses().at(-1);
  if (child === undefined) throw new Error("No process was forked.");
  return child;
}

/** Returns the IDs of the running processes. */
export function runningProcesses(): (number | undefined)[] {
  return tunnelProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => pid !== undefined && isRunning(pid));
}
