/*
 * The HTTP listener of a server on Node. A request goes through these steps:
 *
 * 1. `http-server/` accepts the connection, applies its limits, refuses malformed requests, and passes an `Exchange`: the
 *    request and response of Node, with methods that read the body and send an answer.
 * 2. `DirectRequestParser` recognizes a plain delivery (POST to `/webhooks/<name>`, no query). It becomes a
 *    `DirectRequest`, which reads Node's socket without a `Request` or a web stream. `deliver` passes it to the pipeline if
 *    no middleware of the app matches it, and the answer is written with `Exchange.send`.
 * 3. Every other request goes through Hono's adapter to `fetch`: a `Request`, the router, the middleware, a `Response`.
 *
 * Both paths end in the same pipeline. The direct one exists because creating a `Request`, routing it and creating a
 * `Response` cost as much as the rest of a delivery.
 */
import type { Server } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { type Answer, errorAnswer, toResponse } from "../../http-server/answer.ts";
import { handleClientErrors, malformedRefused } from "../../http-server/client-errors.ts";
import { type ConnectionLimits, type Connections, defaultLimits } from "../../http-server/connection.ts";
import { type Exchange, sendJson, withoutFraming } from "../../http-server/exchange.ts";
import { createHttpServer } from "../../http-server/http-server.ts";
import type { DeliveryRequest } from "../delivery-request.ts";
import { internalError } from "../outcome-answer.ts";
import { showErrorPage } from "../show-error-page.ts";
import { DirectRequestParser } from "./direct-request-parser.ts";

/** How long a client may take. Node's own defaults differ between versions. */
export interface ListenTimeouts {
  /** For the headers of a request, from the start of the connection. */
  headersMs: number;
  /** For a whole request. */
  requestMs: number;
  /** Between two requests on one connection. */
  keepAliveMs: number;
}

/** Options of {@link listen}. */
export interface ListenOptions {
  fetch: (request: Request, bindings: unknown) => Response | Promise<Response>;
  /** Answers a delivery without `fetch`. Returns `undefined` to leave it to `fetch`. */
  deliver?: (request: DeliveryRequest) => Promise<Answer> | undefined;
  host: string;
  /** 0 for any free port. */
  port: number;
  timeouts: ListenTimeouts;
  /** Default: {@link defaultLimits}. */
  limits?: Partial<ConnectionLimits>;
  /** How often a half-closed client is sent a probe, in milliseconds. Default 1,000. */
  probeMs?: number;
  log: () => Logger;
}

/** A socket that serves requests. */
export interface Listener {
  port: number;
  /** Number of open connections. */
  readonly connectionCount: number;
  /** Stops accepting and waits for the requests in progress, at most `graceMs`. Returns whether all of them ended. */
  close(graceMs: number): Promise<boolean>;
}

/** How often Node checks connections for timeouts. */
const maxCheckIntervalMs = 1_000;
/** How often idle connections are closed while the server closes. */
const closingCheckIntervalMs = 20;

/**
 * Serves `fetch` on a socket of Node.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export async function listen({
  fetch,
  deliver,
  host,
  port,
  timeouts,
  log,
  ...options
}: ListenOptions): Promise<Listener> {
  let isClosing = false;
  const adapt = getRequestListener(
    (request, bindings) => {
      // Clients may still send requests on open connections.
      if (isClosing) {
        return showErrorPage(closingResponse(), { method: request.method, accept: request.headers.get("accept") });
      }
      const { method } = bindings.incoming;
      const answering = fetch(request, bindings);
      return answering instanceof Promise
        ? answering.then((response) => withoutFraming(response, method))
        : withoutFraming(answering, method);
    },
    // The adapter's own cleanup would read on for 64 MB after a body was refused.
    { autoCleanupIncoming: false, errorHandler: (error: unknown) => answerAdapterError(error, log()) },
  );
  const fail = ({ outgoing }: Exchange, error: unknown) => {
    if (outgoing.headersSent) outgoing.destroy();
    else sendJson(outgoing, errorAnswer(internalError(error)));
    try {
      log().error({ err: error, status: 500 }, "A delivery could not be answered.");
    } catch {
      // The logger itself fails, so there is nowhere to report it.
    }
  };
  const send = (exchange: Exchange, answer: Answer) => {
    try {
      exchange.send(answer)?.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  };
  const parser = new DirectRequestParser();
  const onRequest = (exchange: Exchange) => {
    const request = isClosing ? undefined : parser.parse(exchange);
    const answering = request && deliver?.(request);
    if (answering) {
      void answering.then(
        (answer) => send(exchange, answer),
        (error) => fail(exchange, error),
      );
      return;
    }
    exchange.lingerAfterAnswer();
    adapt(exchange.incoming, exchange.outgoing).catch((error: unknown) => fail(exchange, error));
  };
  const { server, connections } = createHttpServer({
    server: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(maxCheckIntervalMs, timeouts.headersMs / 2, timeouts.requestMs / 2),
      // Node would answer without a log line. The adapter refuses it too.
      requireHostHeader: false,
    },
    limits: { ...defaultLimits, ...options.limits },
    probeMs: options.probeMs,
    onRequest,
    onMalformed: (reason) => log().warn({ status: 400, reason }, malformedRefused),
    warn: (fields, message) => log().warn(fields, message),
  });
  handleClientErrors(server, { connections, log });
  await openServer(server, { host, port });
  server.on("error", (error) => log().error({ err: error }, "A connection could not be accepted."));
  return {
    port: boundPort(server),
    get connectionCount() {
      return connections.size;
    },
    async close(graceMs) {
      isClosing = true;
      return closeServer(server, connections, graceMs);
    },
  };
}

/** Answers valid HTTP that cannot become a `Request`, such as one with an invalid host or path. */
function answerAdapterError(error: unknown, log: Logger): Response {
  const headers = { connection: "close" };
  if (error instanceof RequestError) {
    log.warn({ status: 400, reason: error.message }, malformedRefused);
    return new Response(null, { status: 400, headers });
  }
  log.error({ err: error, status: 500 }, "A request could not be answered.");
  return new Response(null, { status: 500, headers });
}

function closingResponse(): Response {
  const error = new WebhookError("The server is shutting down.", {
    code: "CLOSING",
    status: 503,
    retryAfterSeconds: 5,
  });
  const response = toResponse(errorAnswer(error));
  response.headers.set("connection", "close");
  return response;
}

function openServer(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailed(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function closeServer(server: Server, connections: Connections, graceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let complete = true;
    // Node waits for connections without any request, and stops checking timeouts meanwhile.
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
      `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with launch({ port }) or PORT.`,
      { code: "PORT_IN_USE", cause },
    );
  }
  return new WebhookError(
    `Cannot listen on ${host}:${port} (${cause.code}). Check launch({ host, port }), HOST and PORT.`,
    {
      code: "LISTEN_FAILED",
      cause,
    },
  );
}
