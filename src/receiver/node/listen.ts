import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { type Answer, answerError, internalError, isResponse, refusal } from "../answer.ts";
import { pageForBrowsers } from "../browser-answer.ts";
import type { DeliveryRequest } from "../delivery-request.ts";
import { answerMalformed, handleClientErrors, refuseMalformed } from "./broken-request.ts";
import type { Connections } from "./connection.ts";
import { type ConnectionLimits, defaultLimits, limitConnections, type Warn } from "./connection-limits.ts";
import { DirectRequest, type Exchange } from "./direct-request.ts";
import { continueOnRead } from "./expect-continue.ts";
import { answerHalfClosed } from "./half-open.ts";
import { lingerAfter } from "./linger.ts";
import { boundedMessages } from "./pipelining.ts";
import { headProblem } from "./request-head.ts";
import { sendJson, sendResponse, withoutFraming } from "./send-answer.ts";

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
  /** Default: {@link defaultLimits}. */
  limits?: Partial<ConnectionLimits>;
  /** How often a client that has ended its side is sent a probe, in milliseconds. Default 1,000. */
  probeMs?: number;
  log: () => Logger;
}

/** An open socket that serves requests. */
export interface Listener {
  port: number;
  /** How many connections are open. */
  readonly connectionCount: number;
  /** Stops accepting and waits for the requests in progress, at most `graceMs`. Returns whether all of them ended. */
  close(graceMs: number): Promise<boolean>;
}

/** How often connections are checked: for timeouts, and for idle ones while closing. */
const maxCheckIntervalMs = 1_000;
const closingCheckIntervalMs = 20;

/**
 * Serves `fetch` on a socket of Node.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { fetch, deliver, host, port, timeouts, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let closing = false;
  const warn: Warn = (fields, message) => log().warn(fields, message);
  // Its own clean-up would read on for 64 MB after a body was refused.
  const adapting = { autoCleanupIncoming: false, errorHandler: (error: unknown) => answerMalformed(error, log()) };
  const adapt = getRequestListener((request, bindings) => {
    // Kept-alive connections go on sending after the socket is closed: they are turned away, to come back later.
    if (closing)
      return pageForBrowsers(closingAnswer(), { method: request.method, accept: request.headers.get("accept") });
    const { method } = bindings.incoming;
    const answering = fetch(request, bindings);
    return answering instanceof Promise
      ? answering.then((response) => withoutFraming(response, method))
      : withoutFraming(answering, method);
  }, adapting);
  const giveUp = ({ outgoing }: Exchange, error: unknown) => {
    if (outgoing.headersSent) outgoing.destroy();
    else sendJson(outgoing, refusal(internalError(error)));
    try {
      log().error({ err: error, status: 500 }, "A delivery could not be answered.");
    } catch {
      // The logger itself fails, so there is nowhere to report it.
    }
  };
  const answerRouted = (exchange: Exchange) => {
    lingerAfter(exchange);
    adapt(exchange.incoming, exchange.outgoing).catch((error: unknown) => giveUp(exchange, error));
  };
  const send = (exchange: Exchange, answer: Answer) => {
    const { incoming, outgoing } = exchange;
    if (!incoming.complete && !exchange.bodyIsTaken) lingerAfter(exchange);
    try {
      if (isResponse(answer)) sendResponse(outgoing, answer).catch((error: unknown) => giveUp(exchange, error));
      else sendJson(outgoing, answer);
    } catch (error) {
      giveUp(exchange, error);
    }
  };
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const exchange: Exchange = { incoming, outgoing, bodyIsTaken: false };
    connections.get(incoming.socket)?.add(exchange);
    const problem = headProblem(incoming);
    if (problem !== undefined) {
      lingerAfter(exchange);
      refuseMalformed(outgoing, { reason: problem, warn });
      return;
    }
    const request = closing ? undefined : DirectRequest.from(exchange);
    const answering = request && deliver?.(request);
    if (!answering) answerRouted(exchange);
    else
      void answering.then(
        (answer) => send(exchange, answer),
        (error) => giveUp(exchange, error),
      );
  };
  const connections: Connections = new Map();
  const server = createServer(
    {
      IncomingMessage: boundedMessages(connections),
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(maxCheckIntervalMs, timeouts.headersMs / 2, timeouts.requestMs / 2),
      // Node would answer without a log line; the adapter refuses it too.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.on("checkContinue", (incoming, outgoing) => {
    continueOnRead(incoming, outgoing);
    onRequest(incoming, outgoing);
  });
  limitConnections(server, { connections, limits, warn });
  answerHalfClosed(server, connections, options.probeMs);
  handleClientErrors(server, { connections, log });
  await opened(server, { host, port });
  server.on("error", (error) => log().error({ err: error }, "A connection could not be accepted."));
  return {
    port: boundPort(server),
    get connectionCount() {
      return connections.size;
    },
    async close(graceMs) {
      closing = true;
      return closed(server, connections, graceMs);
    },
  };
}

function closingAnswer(): Response {
  const answer = answerError(
    new WebhookError("The server is shutting down.", { code: "CLOSING", status: 503, retryAfterSeconds: 5 }),
  );
  answer.headers.set("connection", "close");
  return answer;
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
      for (const [socket, { exchange, isIdle }] of connections) if (!exchange || isIdle) socket.destroy();
    }, closingCheckIntervalMs);
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
