import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { type DirectOptions, type OpenDirect, readDirectly } from "./direct.ts";
import {
  Connection,
  type Connections,
  createExchangeHandler,
  createRequestClass,
  type Exchange,
  type ExchangeOptions,
} from "./exchange.ts";

interface HttpServerOptions extends ExchangeOptions {
  /** Timeouts and other options of Node's HTTP server. */
  server: ServerOptions;
  limits: ConnectionLimits;
  /** Answers requests that are read directly from their socket. Default: Node's server reads all requests. */
  direct?: DirectOptions | undefined;
  /** The interval between probes to half-closed clients. Default `1000`. */
  probeMs: number | undefined;
  warn: Warn;
}

/**
 * Creates an HTTP server that limits the resources of each client and refuses ambiguous requests. Supports half-closed
 * clients and `Expect: 100-continue`.
 */
export function createHttpServer({ server: options, limits, direct, probeMs, warn, ...callbacks }: HttpServerOptions) {
  const connections: Connections = new Map();
  const handle = createExchangeHandler(connections, callbacks);
  const server = createServer({ ...options, IncomingMessage: createRequestClass(connections) }, handle);
  server.on("checkContinue", (incoming, outgoing) => handle(incoming, outgoing, true));
  const { maxRequestsPerSocket: maxRequests } = limits;
  const openDirect =
    direct &&
    readDirectly(server, connections, { ...direct, maxRequests, checkMs: options.connectionsCheckingInterval });
  limitConnections(server, { connections, limits, warn, openDirect });
  answerHalfClosed(server, connections, probeMs);
  return { server, connections };
}

interface SocketOptions {
  host: string;
  /** The port, or 0 for any free port. */
  port: number;
  /** The options that set the address, for error messages, such as `launch({ host, port })`. */
  optionNames?: string | undefined;
}

/**
 * Makes a server listen, and returns its port.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export function openSocket(server: Server, options: SocketOptions): Promise<number> {
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenFailed(error, options));
    server.once("error", fail);
    server.listen({ host, port }, () => {
      server.off("error", fail);
      resolve(portOf(server));
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function listenFailed(cause: NodeJS.ErrnoException, { host, port, optionNames }: SocketOptions): WebhookError {
  if (cause.code === "EADDRINUSE") {
    const withOptions = optionNames === undefined ? "" : ` with ${optionNames}`;
    return new WebhookError(
      `Port ${port} on ${host} is in use. Stop the program that uses the port, or choose another port${withOptions}.`,
      { code: "PORT_IN_USE", cause },
    );
  }
  const remedy = optionNames === undefined ? "Choose another port." : `Check ${optionNames}.`;
  return new WebhookError(`Cannot listen on ${host}:${port} (${cause.code}). ${remedy}`, {
    code: "LISTEN_FAILED",
    cause,
  });
}

/** The log message for requests that are not valid HTTP or that Node cannot parse. */
export const malformedRefused = "malformed HTTP request refused";

/**
 * Responds to invalid or incomplete requests, for example after a TLS handshake on a plain HTTP port, a truncated body,
 * or a timeout. Logs one line for each of these requests.
 */
export function handleClientErrors(
  server: Server,
  { connections, log }: { connections: Connections; log: Logger },
): void {
  /** Sockets whose first error was handled. Node can emit several errors for one socket. */
  const broken = new WeakSet<Duplex>();

  const refuse = (socket: Duplex, status: string, reason: object) => {
    if (!socket.writable) return void socket.destroy();
    log.warn({ ...reason, status: Number(status.slice(0, 3)) }, malformedRefused);
    socket.end(emptyResponse(status), () => socket.destroy());
  };

  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A client that has reset the connection cannot receive a response.
    if (error.code === "ECONNRESET") return void socket.destroy();
    if (broken.has(socket)) return;
    broken.add(socket);
    const connection = connections.get(socket);
    const exchange = connection?.exchange;
    const status = statusOf(error);
    if (!exchange || (connection?.isIdle && exchange.incoming.complete)) {
      refuse(socket, status, { code: error.code });
    } else if (exchange.incoming.complete) {
      // The response to the valid request before the malformed data must be sent first.
      exchange.outgoing.once("close", () => refuse(socket, status, { code: error.code }));
    } else {
      const refuseIncomplete = () => {
        if (exchange.outgoing.headersSent) socket.destroy();
        else if (!exchange.hasBodyReader) refuse(socket, status, { code: error.code });
        else {
          socket.end(emptyResponse(status), () => {
            // The body's reader logs this error.
            exchange.incoming.destroy(bodyBroken(error, status));
            // A request whose body stream was cancelled does not destroy its connection.
            socket.destroy();
          });
        }
      };
      // The client would take this response for the one to its earlier request.
      const earlier = connection?.earlierResponse;
      if (earlier) earlier.once("close", refuseIncomplete);
      else refuseIncomplete();
    }
  });

  server.on("connect", (_request, socket) => {
    // Node removes its own listeners from the socket, so without this listener a reset would crash the process.
    socket.on("error", () => socket.destroy());
    if (connections.get(socket)?.isFull) {
      log.warn({ reason: "Too many pipelined requests" }, "connection closed");
      socket.destroy();
      return;
    }
    refuse(socket, "405 Method Not Allowed\r\nAllow: POST", { method: "CONNECT" });
  });

  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    log.warn({ status: 417, reason: "Unknown Expect header" }, malformedRefused);
    response.writeHead(417, { connection: "close", "content-length": 0 }).end();
  });
}

function statusOf(error: NodeJS.ErrnoException): string {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  return error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
}

function emptyResponse(status: string): string {
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

function bodyBroken(cause: NodeJS.ErrnoException, status: string): WebhookError {
  const message =
    cause.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? "The body did not arrive in time. Send the request again."
      : `The body is truncated or malformed (${cause.code}). Send the request again.`;
  return new WebhookError(message, { code: "BODY_INCOMPLETE", status: Number(status.slice(0, 3)) });
}

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

/** The minimum time between two warnings about connections above the limit. */
const warningIntervalMs = 60_000;
/** The interval between probes to a client that has half-closed its connection. */
const defaultProbeMs = 1_000;
/** How long to wait for a reset after a probe. On the same machine, a reset arrives immediately. */
const resetMs = 25;

export type Warn = (fields: object, message: string) => void;

/** Applies the limits to a server, and tracks its open connections in `connections`. */
export function limitConnections(
  server: Server,
  {
    connections,
    limits,
    warn,
    openDirect,
  }: {
    connections: Connections;
    limits: ConnectionLimits;
    warn: Warn;
    openDirect?: OpenDirect | undefined;
  },
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
    connections.set(socket, new Connection(limits.maxRequestsPerSocket, openDirect?.(socket)));
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
  for (const [socket, { hasRequest, isReceiving }] of connections) {
    if (!hasRequest) {
      idle ??= socket;
      majority += 1;
    } else if (isReceiving) {
      sending ??= socket;
      majority -= 1;
    }
  }
  return majority < 0 ? sending : idle;
}

/**
 * Supports half-closed clients, which end their side of the connection after the request, for example with
 * `shutdown(SHUT_WR)`. Until the server sends data, such a client cannot be distinguished from a disconnected client. While
 * the response is pending, the server therefore sends `100 Continue` as a probe, which HTTP/1.1 clients ignore. If the
 * client has disconnected, the probe resets the connection, which aborts the request.
 */
function answerHalfClosed(server: Server, connections: Connections, probeMs = defaultProbeMs): void {
  // The types of Node do not include this property of its server.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    socket.once("end", () => {
      const probe = () => {
        const connection = connections.get(socket);
        if (connection?.direct) connection.direct.probe();
        else sendProbe(connection?.exchange?.outgoing);
      };
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
