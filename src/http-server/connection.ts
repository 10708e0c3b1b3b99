import { once } from "node:events";
import { IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.ts";

/** Limits on the connections that clients open and the responses that they do not read. */
export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. `Infinity` for no limit. */
  maxConnections: number;
  /** Requests on one connection, which is closed after the last one. `Infinity` for no limit. */
  maxRequestsPerSocket: number;
  /** How long a response may wait for the client to read. */
  writeTimeoutMs: number;
}

/** The default limits, which the options of `launch()` override. */
export const defaultLimits: ConnectionLimits = {
  maxConnections: 2_000,
  maxRequestsPerSocket: 1_000,
  writeTimeoutMs: 30_000,
};

/** Requests on one connection that may wait for their responses. Clients that pipeline send a handful. */
const maxUnanswered = 16;
/** Time between two warnings about refused connections. */
const warningIntervalMs = 60_000;
/** The interval of probes to a half-closed client, from the moment it half-closes. */
const defaultProbeMs = 1_000;
/** How long a reset may take to arrive. On the same machine it arrives at once. */
const resetMs = 25;

/** Logs a warning for the owner of the server. */
export type Warn = (fields: object, message: string) => void;

/** The open connections of a server. */
export type Connections = Map<Duplex, Connection>;

/** An open connection. */
export class Connection {
  /** The last exchange on it; `undefined` before the first. */
  exchange: Exchange | undefined;
  /** Responses that were not sent when the next request arrived, oldest first. */
  #pipelined: ServerResponse[] = [];
  readonly #maxRequests: number;
  #requests = 0;

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests;
  }

  /** Adds the next exchange. The response to the last allowed one closes the connection. */
  add(exchange: Exchange): void {
    this.#requests += 1;
    // Node itself only announces the close, and waits for the client to close.
    if (this.#requests >= this.#maxRequests) exchange.outgoing.shouldKeepAlive = false;
    const previous = this.exchange?.outgoing;
    this.exchange = exchange;
    if (previous && !previous.writableFinished) this.#pipelined.push(previous);
  }

  /** Whether the maximum number of requests wait for their responses. */
  get isFull(): boolean {
    if (this.#pipelined.length < maxUnanswered) return false;
    this.#pipelined = this.#pipelined.filter(({ writableFinished }) => !writableFinished);
    return this.#pipelined.length >= maxUnanswered;
  }

  /** Whether every request on it is answered; `false` before the first. */
  get isIdle(): boolean {
    return this.exchange?.outgoing.writableFinished ?? false;
  }
}

/** Applies the limits to a server, and tracks its open connections in `connections`. */
export function limitConnections(
  server: Server,
  { connections, limits, warn }: { connections: Connections; limits: ConnectionLimits; warn: Warn },
): void {
  server.on("connection", (socket) => {
    connections.set(socket, new Connection(limits.maxRequestsPerSocket));
    socket.once("close", () => connections.delete(socket));
  });

  server.maxConnections = limits.maxConnections;
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - warnedAt < warningIntervalMs) return;
    warnedAt = performance.now();
    const { maxConnections } = limits;
    warn({ maxConnections }, "connections refused: maxConnections are open");
  });

  // 0 means no limit.
  server.maxRequestsPerSocket = Number.isFinite(limits.maxRequestsPerSocket) ? limits.maxRequestsPerSocket : 0;

  server.timeout = limits.writeTimeoutMs;
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) {
      warn({ timeoutMs: limits.writeTimeoutMs }, "connection closed: the client does not read the response");
      socket.destroy();
    } else if (server.keepAliveTimeout > 0 && connections.get(socket)?.isIdle) {
      socket.destroy();
    }
    // Otherwise a handler is running, or the request is incomplete. Both have their own timeouts.
  });
}

/**
 * Returns the request class of a server that stops reading a connection on which too many requests wait. Node's parser
 * creates a request for each one in a packet of 64 KiB, even after the connection is closed: 2,000 requests of 32 bytes.
 * Only CONNECT stops it, so the first request beyond the limit looks like one, and reaches the `connect` listener.
 */
export function boundedMessages(connections: Connections): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Bun passes more arguments.
    constructor(...given: [socket: Socket]) {
      super(...given);
      if (!connections.get(this.socket)?.isFull) return;
      // The parser sets both, and then reads them.
      Object.defineProperty(this, "method", { get: () => "CONNECT", set() {} });
      Object.defineProperty(this, "upgrade", { get: () => true, set() {} });
    }
  };
}

/**
 * Answers half-closed clients, which end their side of the connection after the request, as `shutdown(SHUT_WR)` does. They
 * look like disconnected clients until something is sent to them. While the response takes long, they are sent
 * `100 Continue`, which HTTP/1.1 clients skip. If the client has disconnected, that resets the connection, which aborts
 * the request.
 */
export function answerHalfClosed(server: Server, connections: Connections, probeMs = defaultProbeMs): void {
  // A property of Node's server that its types lack.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    socket.once("end", () => {
      const probe = () => sendProbe(connections.get(socket)?.exchange?.outgoing);
      const probing = setInterval(probe, probeMs).unref();
      socket.once("close", () => clearInterval(probing));
    });
  });
}

/** Whether the client of a request has disconnected, as far as two probes show. Sends nothing unless it is half-closed. */
export async function hasDisconnected({
  incoming,
  outgoing,
}: Pick<Exchange, "incoming" | "outgoing">): Promise<boolean> {
  if (!incoming.socket.readableEnded) return outgoing.destroyed;
  // The first probe causes the reset, the second one fails because of it: Node stops reading after the end.
  for (let probes = 0; probes < 2 && !outgoing.destroyed; probes += 1) {
    sendProbe(outgoing);
    await once(outgoing, "close", { signal: AbortSignal.timeout(resetMs) }).catch(() => {});
  }
  return outgoing.destroyed;
}

function sendProbe(outgoing: ServerResponse | undefined): void {
  // A response behind another one has no socket yet, and HTTP/1.0 has no interim responses.
  if (!outgoing?.socket?.writable || outgoing.headersSent || outgoing.req.httpVersionMinor === 0) return;
  outgoing.writeContinue();
}
