import { createServer, type Server, type ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { WebhookError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { type Answer, answerError, headersOf, internalError, isResponse, type JsonAnswer, refusal } from "../answer.ts";
import type { DeliveryRequest } from "../delivery-request.ts";
import { answerMalformed, type Connections, refuseBroken } from "./broken-request.ts";
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
  /** Answers a delivery without `fetch`; `undefined` leaves it to that. */
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
  const send = (exchange: Exchange, given: Answer) => {
    const { incoming, outgoing } = exchange;
    if (!incoming.complete && !exchange.bodyIsTaken) lingerAfter(exchange);
    try {
      // A `Response` of a handler's own goes out the way that Hono's do.
      if (isResponse(given)) void getRequestListener(() => given, adapting)(incoming, outgoing);
      else sendJson(outgoing, given);
    } catch (error) {
      giveUp(exchange, error);
    }
  };
  const giveUp = ({ outgoing }: Exchange, error: unknown) => {
    if (outgoing.headersSent) outgoing.destroy();
    else sendJson(outgoing, refusal(internalError(error)));
    try {
      log().error({ err: error, status: 500 }, "A delivery could not be answered.");
    } catch {
      // It is the logger that throws, and there is nobody left to tell.
    }
  };
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
      const exchange: Exchange = { incoming, outgoing, bodyIsTaken: false };
      connections.set(incoming.socket, exchange);
      const request = closing ? undefined : DirectRequest.from(exchange);
      const answering = request && deliver?.(request);
      if (answering)
        void answering.then(
          (given) => send(exchange, given),
          (error) => giveUp(exchange, error),
        );
      else {
        lingerAfter(exchange);
        void answer(incoming, outgoing);
      }
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

/** A refusal is out before the body is looked at that came in one packet with the headers. */
function lingerAfter(exchange: Exchange): void {
  exchange.outgoing.once("finish", () => {
    if (!exchange.incoming.complete) setImmediate(linger, exchange);
  });
}

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
