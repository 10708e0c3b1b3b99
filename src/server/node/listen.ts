import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { WebhookError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { type Answer, answerError, headersOf, isResponse, type JsonAnswer } from "../answer.ts";
import type { DeliveryRequest } from "../delivery-request.ts";
import { DirectRequest, type Exchange } from "./direct-request.ts";

/** How long a client may take, in milliseconds. The defaults of Node differ from version to version. */
export interface ListenTimeouts {
  /** For the headers of a request, from the opening of the connection. */
  headersMs: number;
  /** For a whole request. */
  requestMs: number;
  /** Between two requests on one connection. */
  keepAliveMs: number;
}

/** What {@link listen} needs. */
export interface ListenOptions {
  fetch: (request: Request, bindings: unknown) => Response | Promise<Response>;
  /** Answers a delivery without `fetch`; `undefined` leaves it to that. Never rejects. */
  deliver?: (request: DeliveryRequest) => Promise<Answer> | undefined;
  host: string;
  /** 0 takes any free one. */
  port: number;
  timeouts: ListenTimeouts;
  log: () => Logger;
}

/** An open socket that serves requests. */
export interface Listener {
  port: number;
  /** Stops accepting and waits for the requests in work, at most `graceMs`. Returns whether all of them ended. */
  close(graceMs: number): Promise<boolean>;
}

/** Every open connection with the last request on it; `undefined` before the first. */
type Connections = Map<Duplex, Exchange | undefined>;

/** How often connections are looked through: for time-outs, and for idle ones while closing. */
const longestCheckInterval = 1_000;
const closingCheckInterval = 20;

/** What a client that was answered before it had sent its body may still send, so that it gets to read the answer. */
const lingerMs = 500;
const lingerBytes = 256 * 1024;

/**
 * Serves `fetch` on a socket of Node.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export async function listen({ fetch, deliver, host, port, timeouts, log }: ListenOptions): Promise<Listener> {
  let closing = false;
  const connections: Connections = new Map();
  // Its own clean-up would read on for 64 MB after a body was refused.
  const adapting = { autoCleanupIncoming: false, errorHandler: (error: unknown) => answerMalformed(error, log()) };
  const answer = getRequestListener((request, bindings) => {
    // Node takes "HTTP/2.0" in the syntax of HTTP/1 for a version, and 0.9 too.
    if (bindings.incoming.httpVersionMajor !== 1) throw new RequestError("Unsupported HTTP version");
    // Kept-alive connections go on sending after the socket is closed: they are turned away, to come back later.
    return closing ? closingAnswer() : fetch(request, bindings);
  }, adapting);
  // A `Response` of a handler's own goes out the way that Hono's do.
  const send = ({ incoming, outgoing }: Exchange, given: Answer) =>
    isResponse(given) ? getRequestListener(() => given, adapting)(incoming, outgoing) : sendJson(outgoing, given);
  const server = createServer(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(longestCheckInterval, timeouts.headersMs / 2, timeouts.requestMs / 2),
      // Node would answer without a word in the log; the adapter refuses it too.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      const exchange = { incoming, outgoing };
      connections.set(incoming.socket, exchange);
      outgoing.once("finish", () => {
        // A refusal is out before the body is looked at that came in one packet with the headers.
        if (!incoming.complete) setImmediate(linger, exchange);
      });
      const request = closing ? undefined : DirectRequest.from(exchange);
      const answering = request && deliver?.(request);
      if (answering) void answering.then((given) => send(exchange, given));
      else void answer(incoming, outgoing);
    },
  );
  server.on("connection", (socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  refuseBroken(server, { connections, log });
  await opened(server, { host, port });
  return {
    port: boundPort(server),
    async close(graceMs) {
      closing = true;
      return closed(server, connections, graceMs);
    },
  };
}

function sendJson(outgoing: ServerResponse, answer: JsonAnswer): void {
  const { status, content } = answer;
  if (content === null) outgoing.writeHead(status, { "content-length": 0 }).end();
  else outgoing.writeHead(status, { ...headersOf(answer), "content-length": Buffer.byteLength(content) }).end(content);
}

function closingAnswer(): Response {
  const answer = answerError(
    new WebhookError("The server is shutting down.", { code: "CLOSING", status: 503, retryAfterSeconds: 5 }),
  );
  answer.headers.set("connection", "close");
  return answer;
}

/** Answers what is HTTP, but cannot become a request: a host or a path that is none. */
function answerMalformed(error: unknown, log: Logger): Response {
  const headers = { connection: "close" };
  if (error instanceof RequestError) {
    log.warn({ status: 400, reason: error.message }, brokenRefused);
    return new Response(null, { status: 400, headers });
  }
  log.error({ err: error, status: 500 }, "A request failed before it reached the receiver.");
  return new Response(null, { status: 500, headers });
}

const brokenRefused = "broken HTTP request refused";

/** Takes a little more of a body that was not asked for: to hang up at once could cost the client the answer. */
function linger({ incoming }: Exchange): void {
  if (incoming.complete) return;
  const { socket } = incoming;
  let bytes = 0;
  const onData = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= lingerBytes) return;
    // No more is read. To hang up now would reset the connection, and with it the answer where it was not read yet.
    socket.pause();
    socket.end();
  };
  const giveUp = setTimeout(() => socket.destroy(), lingerMs);
  socket.on("data", onData);
  incoming.once("close", () => {
    clearTimeout(giveUp);
    socket.off("data", onData);
  });
}

/** What never becomes a whole request (garbage, TLS, a body cut short, silence) is answered here, with one log line. */
function refuseBroken(server: Server, { connections, log }: { connections: Connections; log: () => Logger }): void {
  const broken = new WeakSet<Duplex>();

  const refuse = (socket: Duplex, status: string, why: object) => {
    if (!socket.writable) return void socket.destroy();
    log().warn({ ...why, status: Number(status.slice(0, 3)) }, brokenRefused);
    socket.end(statusAnswer(status), () => socket.destroy());
  };

  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A reset has nobody left to answer to.
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    if (broken.has(socket)) return;
    broken.add(socket);
    const exchange = connections.get(socket);
    const status = statusOf(error);
    if (!exchange || (exchange.outgoing.writableFinished && exchange.incoming.complete)) {
      refuse(socket, status, { code: error.code });
    } else if (exchange.incoming.complete) {
      // The request before the garbage is in work, and the next answer on this connection has to be its own.
      exchange.outgoing.once("close", () => refuse(socket, status, { code: error.code }));
    } else if (exchange.outgoing.headersSent) {
      socket.destroy();
    } else if (exchange.incoming.listenerCount("error") > 0) {
      // Whoever reads the body is told why there is no more of it, and tells the log.
      socket.end(statusAnswer(status), () => exchange.incoming.destroy(bodyBroken(error, status)));
    } else {
      refuse(socket, status, { code: error.code });
    }
  });

  server.on("connect", (_request, socket) => {
    // Node hands such a socket over without any listener: a reset would end the process.
    socket.on("error", () => socket.destroy());
    refuse(socket, "405 Method Not Allowed\r\nAllow: POST", { method: "CONNECT" });
  });

  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    log().warn({ status: 417, reason: "unknown Expect header" }, brokenRefused);
    response.writeHead(417, { connection: "close", "content-length": 0 }).end();
  });
}

function statusOf(error: NodeJS.ErrnoException): string {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  return error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
}

function statusAnswer(status: string): string {
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

function bodyBroken(cause: NodeJS.ErrnoException, status: string): WebhookError {
  const message =
    cause.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? "The body did not arrive in time."
      : `The body is cut short or broken (${cause.code}).`;
  return new WebhookError(message, { code: "BODY_INCOMPLETE", status: Number(status.slice(0, 3)) });
}

function opened(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailed(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function closed(server: Server, connections: Connections, graceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let complete = true;
    // Node waits for a connection on which nothing was ever asked, and no longer looks for time-outs while it does.
    const idle = setInterval(() => {
      for (const [socket, exchange] of connections) {
        if (!exchange || exchange.outgoing.writableFinished) socket.destroy();
      }
    }, closingCheckInterval);
    const grace = setTimeout(() => {
      complete = false;
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      resolve(complete);
    });
  });
}

function listenFailed(cause: NodeJS.ErrnoException, host: string, port: number): WebhookError {
  if (cause.code === "EADDRINUSE") {
    return new WebhookError(
      `Port ${port} on ${host} is taken: end the program that listens there, or choose another with launch({ port }) or PORT.`,
      { code: "PORT_IN_USE", cause },
    );
  }
  return new WebhookError(
    `Cannot listen on ${host}:${port} (${cause.code}): check launch({ host, port }), HOST and PORT.`,
    {
      code: "LISTEN_FAILED",
      cause,
    },
  );
}
