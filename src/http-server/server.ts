import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import {
  answerHalfClosed,
  boundedMessages,
  type ConnectionLimits,
  type Connections,
  limitConnections,
  type Warn,
} from "./connection.ts";
import { Exchange, headProblem } from "./exchange.ts";

interface HttpServerOptions {
  /** Timeouts and other options of Node's HTTP server. */
  server: ServerOptions;
  limits: ConnectionLimits;
  /** The interval between probes to half-closed clients, in milliseconds. Default `1000`. */
  probeMs: number | undefined;
  onRequest: (exchange: Exchange) => void;
  /** Called with the reason when the server answers 400 to an ambiguous request. */
  onMalformed: (reason: string) => void;
  warn: Warn;
}

/**
 * Creates an HTTP server that limits the resources of each client and refuses ambiguous requests. Supports half-closed
 * clients and `Expect: 100-continue`.
 */
export function createHttpServer({
  server: options,
  limits,
  probeMs,
  onRequest,
  onMalformed,
  warn,
}: HttpServerOptions): {
  server: Server;
  connections: Connections;
} {
  const connections: Connections = new Map();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean) => {
    const exchange = new Exchange(incoming, outgoing, expectsContinue);
    connections.get(incoming.socket)?.add(exchange);
    const problem = headProblem(incoming);
    if (problem === undefined) return onRequest(exchange);
    exchange.lingerAfterAnswer();
    onMalformed(problem);
    outgoing.writeHead(400, { connection: "close", "content-length": 0 }).end();
  };
  const server = createServer({ ...options, IncomingMessage: boundedMessages(connections) }, (incoming, outgoing) =>
    handle(incoming, outgoing, false),
  );
  server.on("checkContinue", (incoming, outgoing) => handle(incoming, outgoing, true));
  limitConnections(server, { connections, limits, warn });
  answerHalfClosed(server, connections, probeMs);
  return { server, connections };
}

/** The address to listen on. */
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
    } else if (exchange.outgoing.headersSent) {
      socket.destroy();
    } else if (exchange.hasBodyReader) {
      socket.end(emptyResponse(status), () => {
        // The body's reader logs this error.
        exchange.incoming.destroy(bodyBroken(error, status));
        // A request whose body stream was cancelled does not destroy its connection.
        socket.destroy();
      });
    } else {
      refuse(socket, status, { code: error.code });
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
