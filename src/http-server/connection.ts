import { once } from "node:events";
import { IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.ts";

/** Limits on connections, and on responses that clients do not read. */
export interface ConnectionLimits {
  /**
   * The maximum number of open connections. At the limit, a new connection closes the oldest one without a request in progress.
   * `Infinity` disables the limit.
   */
  maxConnections: number;
  /** The maximum number of requests on one connection, which is closed after the last one. `Infinity` disables the limit. */
  maxRequestsPerSocket: number;
  /** The maximum time that a response waits for the client to read it. */
  writeTimeoutMs: number;
}

/** The default limits. Options of `launch()` override them. */
export const defaultLimits: ConnectionLimits = {
  maxConnections: 2_000,
  maxRequestsPerSocket: 1_000,
  writeTimeoutMs: 30_000,
};

/**
 * The maximum number of unanswered requests on one connection. Clients that use pipelining send only a few requests at
 * a time.
 */
const maxUnanswered = 16;
/** The minimum time between two warnings about connections above the limit. */
const warningIntervalMs = 60_000;
/** The interval between probes to a client that has half-closed its connection. */
const defaultProbeMs = 1_000;
/** How long to wait for a reset after a probe. On the same machine, a reset arrives immediately. */
const resetMs = 25;

/** Logs a warning with its fields. */
export type Warn = (fields: object, message: string) => void;

/** The open connections of a server. */
export type Connections = Map<Duplex, Connection>;

/** An open connection. */
export class Connection {
  /** The last exchange on this connection, or `undefined` before the first exchange. */
  exchange: Exchange | undefined;
  /** Responses that were incomplete when the next request arrived, oldest first. */
  #pipelined: ServerResponse[] = [];
  readonly #maxRequests: number;
  #requests = 0;

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests;
  }

  /** Adds the next exchange. The response to the last allowed request closes the connection. */
  add(exchange: Exchange): void {
    this.#requests += 1;
    // By default, Node only sends `Connection: close` and waits until the client closes the connection.
    if (this.#requests >= this.#maxRequests) exchange.outgoing.shouldKeepAlive = false;
    const previous = this.exchange?.outgoing;
    this.exchange = exchange;
    if (previous && !previous.writableFinished) this.#pipelined.push(previous);
  }

  /** Whether the maximum number of requests is waiting for responses. */
  get isFull(): boolean {
    if (this.#pipelined.length < maxUnanswered) return false;
    this.#pipelined = this.#pipelined.filter(({ writableFinished }) => !writableFinished);
    return this.#pipelined.length >= maxUnanswered;
  }

  /** Whether a request is in progress: from its complete head to the end of its response. */
  get hasRequest(): boolean {
    return this.exchange !== undefined && !this.isIdle;
  }

  /** Whether every request on this connection is answered. `false` before the first request. */
  get isIdle(): boolean {
    return this.exchange?.outgoing.writableFinished ?? false;
  }
}

/** Applies the limits to a server, and tracks its open connections in `connections`. */
export function limitConnections(
  server: Server,
  { connections, limits, warn }: { connections: Connections; limits: ConnectionLimits; warn: Warn },
): void {
  const { maxConnections } = limits;
  const warnAtMostOnceAMinute = (message: string) => {
    let warnedAt = Number.NEGATIVE_INFINITY;
    return () => {
      if (performance.now() - warnedAt < warningIntervalMs) return;
      warnedAt = performance.now();
      warn({ maxConnections }, message);
    };
  };
  const warnClosed = warnAtMostOnceAMinute(
    "Connections without a whole request closed: the limit maxConnections is reached.",
  );
  const warnRefused = warnAtMostOnceAMinute("Connections refused: the limit maxConnections is reached.");
  server.on("connection", (socket) => {
    if (connections.size >= maxConnections) {
      const closed = findReplaceable(connections);
      if (!closed) {
        warnRefused();
        socket.destroy();
        return;
      }
      warnClosed();
      closed.destroy();
      connections.delete(closed);
    }
    connections.set(socket, new Connection(limits.maxRequestsPerSocket));
    socket.once("close", () => connections.delete(socket));
  });

  // For Node, 0 means no limit.
  server.maxRequestsPerSocket = Number.isFinite(limits.maxRequestsPerSocket) ? limits.maxRequestsPerSocket : 0;

  server.timeout = limits.writeTimeoutMs;
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) {
      warn({ timeoutMs: limits.writeTimeoutMs }, "connection closed: the client does not read the response");
      socket.destroy();
    } else if (socket.writableEnded || (server.keepAliveTimeout > 0 && connections.get(socket)?.isIdle)) {
      // A route can end the connection before its response, which then never finishes.
      socket.destroy();
    }
    // Otherwise, a handler is running or the request is incomplete. Both cases have their own timeouts.
  });
}

/**
 * Returns the connection to close for a new one, so that a client that holds connections cannot keep deliveries out: the oldest one
 * without a request in progress, or, if more clients are sending requests, the oldest one of those. Otherwise, such clients would
 * let new connections close each other before their first request. Returns `undefined` if all clients wait for responses.
 */
function findReplaceable(connections: Connections): Duplex | undefined {
  let idle: Duplex | undefined;
  let sending: Duplex | undefined;
  let majority = 0;
  // A map is iterated in the order of insertion.
  for (const [socket, { exchange, hasRequest }] of connections) {
    if (!hasRequest) {
      idle ??= socket;
      majority += 1;
    } else if (!exchange?.incoming.complete) {
      sending ??= socket;
      majority -= 1;
    }
  }
  return majority < 0 ? sending : idle;
}

/**
 * Returns a request class that stops the parser of a connection with too many unanswered requests. Node's parser
 * creates every request in a packet of 64 KiB, such as 2,000 requests of 32 bytes, even after the connection is closed.
 * Only the method CONNECT stops the parser, so the first request above the limit is presented as CONNECT, for which the
 * server emits a `connect` event.
 */
export function boundedMessages(connections: Connections): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Bun passes additional arguments.
    constructor(...given: [socket: Socket]) {
      super(...given);
      if (!connections.get(this.socket)?.isFull) return;
      // The parser sets both properties and then reads them, so accessors must override the values.
      Object.defineProperty(this, "method", { get: () => "CONNECT", set() {} });
      Object.defineProperty(this, "upgrade", { get: () => true, set() {} });
    }
  };
}

/**
 * Supports half-closed clients, which end their side of the connection after the request, for example with
 * `shutdown(SHUT_WR)`. Until the server sends data, such a client cannot be distinguished from a disconnected client. While
 * the response is pending, the server therefore sends `100 Continue` as a probe, which HTTP/1.1 clients ignore. If the
 * client has disconnected, the probe resets the connection, which aborts the request.
 */
export function answerHalfClosed(server: Server, connections: Connections, probeMs = defaultProbeMs): void {
  // The types of Node do not include this property of its server.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    socket.once("end", () => {
      const probe = () => sendProbe(connections.get(socket)?.exchange?.outgoing);
      const probing = setInterval(probe, probeMs).unref();
      socket.once("close", () => clearInterval(probing));
    });
  });
}

/** Whether the client of a request has disconnected. Sends two probes if the client has half-closed the connection. */
export async function hasDisconnected({ outgoing, socket }: Pick<Exchange, "outgoing" | "socket">): Promise<boolean> {
  if (!socket.readableEnded) return outgoing.destroyed;
  // The first probe causes a reset. Node no longer reads the connection, so only the second probe detects the reset.
  for (let probes = 0; probes < 2 && !outgoing.destroyed; probes += 1) {
    sendProbe(outgoing);
    await once(outgoing, "close", { signal: AbortSignal.timeout(resetMs) }).catch(() => {});
  }
  return outgoing.destroyed;
}

function sendProbe(outgoing: ServerResponse | undefined): void {
  // A pipelined response has no socket until the previous response is sent. HTTP/1.0 does not support interim responses.
  if (!outgoing?.socket?.writable || outgoing.headersSent || outgoing.req.httpVersionMinor === 0) return;
  outgoing.writeContinue();
}
