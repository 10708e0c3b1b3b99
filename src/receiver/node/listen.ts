import type { Server } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { type Answer, errorAnswer, internalError, toResponse, withoutFraming } from "../../http/answer.ts";
import { type Connections, type Exchange, sendJson } from "../../http-server/exchange.ts";
import {
  type ConnectionLimits,
  createHttpServer,
  defaultLimits,
  handleClientErrors,
  malformedRefused,
  openSocket,
} from "../../http-server/server.ts";
import { showErrorPage } from "../app.ts";
import type { DeliveryRequest } from "../request.ts";

/*
 * The HTTP listener of a server on Node. A request goes through these steps:
 *
 * 1. `http-server/` accepts the connection and applies limits. `DirectConnection` reads deliveries from the socket: each plain POST below
 *    `/webhooks/`. If the rest of the path is the name of an endpoint that no middleware of the app matches, `deliver`
 *    (`WebhooksServer`) passes the delivery to the pipeline. `ServerApp.isDirect` decides whether middleware matches, once per endpoint.
 * 2. Node's server reads every other request, and `Exchange` refuses malformed ones. Hono's adapter passes the request to `fetch`, which
 *    creates a `Request`, runs the router and middleware, and returns a `Response`.
 *
 * Both paths use the same pipeline. The direct path exists because the parser and streams of Node's server, and creating and routing a
 * `Request` and a `Response`, each take longer than the rest of a delivery.
 */

const loadErrorPage = () => import("../../console/pages/error-page.ts");

/** The timeouts for clients. They are set explicitly, because Node's defaults differ between versions. */
export interface ListenTimeouts {
  headersMs: number;
  requestMs: number;
  /** The maximum time between two requests on one connection. */
  keepAliveMs: number;
}

/** Options of {@link listen}. */
export interface ListenOptions {
  fetch: (request: Request, bindings: unknown) => Response | Promise<Response>;
  /** Answers a delivery without `fetch`. Returns `undefined` if `fetch` must answer. */
  deliver?: (request: DeliveryRequest) => Promise<Answer> | undefined;
  host: string;
  /** The port, or 0 for any free port. */
  port: number;
  timeouts: ListenTimeouts;
  /** Limits on connections. Default {@link defaultLimits}. */
  limits?: Partial<ConnectionLimits>;
  /** The interval between probes to half-closed clients. Default `1000`. */
  probeMs?: number;
  log: Logger;
  /** Whether `fetch` forwards no responses of other servers, so that their header `content-length` is right. Default `false`. */
  hasOwnLengths?: boolean | undefined;
  /** The options that set the host and port, for error messages. */
  optionNames?: string | undefined;
}

export type Listener = Awaited<ReturnType<typeof listen>>;

/** How often Node checks connections for timeouts. */
const maxCheckIntervalMs = 1_000;
/** How often idle connections are closed while the server closes. */
const closingCheckIntervalMs = 20;

/**
 * Serves `fetch` on a socket of Node.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export async function listen({ fetch, deliver, host, port, timeouts, log, hasOwnLengths, ...options }: ListenOptions) {
  let isClosing = false;
  const adapt = getRequestListener(
    (request, bindings) => {
      // While the server closes, clients may still send requests on open connections.
      if (isClosing) {
        const { method, headers } = request;
        return showErrorPage(closingResponse(), { method, accept: headers.get("accept") }, loadErrorPage);
      }
      // The adapter accepts hosts such as "127.0.0.1.0.1", for which routes could not parse the URL.
      if (!URL.canParse(request.url)) throw new RequestError("Invalid host header");
      const { method } = bindings.incoming;
      const answering = fetch(request, bindings);
      return answering instanceof Promise
        ? answering.then((response) => withoutFraming(response, method, { hasOwnLengths }))
        : withoutFraming(answering, method, { hasOwnLengths });
    },
    // The adapter's cleanup would read up to 64 MiB after a body was refused.
    { autoCleanupIncoming: false, errorHandler: (error: unknown) => answerAdapterError(error, log) },
  );
  const onError = (error: unknown) => {
    try {
      log.error({ err: error, status: 500 }, "The response to a request could not be sent.");
    } catch {
      // The logger failed, so the error cannot be reported.
    }
  };
  const fail = ({ outgoing }: Exchange, error: unknown) => {
    if (outgoing.headersSent) outgoing.destroy();
    else sendJson(outgoing, errorAnswer(internalError(error)));
    onError(error);
  };
  const onRequest = (exchange: Exchange) => {
    exchange.lingerAfterAnswer();
    adapt(exchange.incoming, exchange.outgoing).catch((error: unknown) => fail(exchange, error));
  };
  const { server, connections } = createHttpServer({
    server: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(maxCheckIntervalMs, timeouts.headersMs / 2, timeouts.requestMs / 2),
      // Node would refuse requests without a Host header, but without a log line. The adapter also refuses them.
      requireHostHeader: false,
    },
    limits: { ...defaultLimits, ...options.limits },
    direct: deliver && { onError, answer: (request) => (isClosing ? undefined : deliver(request)) },
    probeMs: options.probeMs,
    onRequest,
    onAnswerError: fail,
    onMalformed: (reason) => log.warn({ status: 400, reason }, malformedRefused),
    warn: (fields, message) => log.warn(fields, message),
  });
  handleClientErrors(server, { connections, log });
  const boundPort = await openSocket(server, { host, port, optionNames: options.optionNames });
  server.on("error", (error) =>
    log.error(
      { err: error },
      "A connection could not be accepted. If the error code is EMFILE, raise the limit on open files (ulimit -n).",
    ),
  );
  return {
    port: boundPort,
    get connectionCount() {
      return connections.size;
    },
    /** Stops accepting requests and waits up to `graceMs` for requests in progress. Returns whether all of them finished. */
    async close(graceMs: number): Promise<boolean> {
      isClosing = true;
      return closeServer(server, connections, graceMs);
    },
  };
}

/** Creates the response to a request that cannot be converted to a `Request`, such as a request with an invalid host. */
function answerAdapterError(error: unknown, log: Logger): Response {
  const headers = { connection: "close" };
  if (error instanceof RequestError) {
    log.warn({ status: 400, reason: error.message }, malformedRefused);
    return new Response(null, { status: 400, headers });
  }
  log.error({ err: error, status: 500 }, "The response to a request could not be sent.");
  return new Response(null, { status: 500, headers });
}

function closingResponse(): Response {
  const error = new WebhookError("The server is shutting down. Send the request again later.", {
    code: "CLOSING",
    status: 503,
    retryAfterSeconds: 5,
  });
  const response = toResponse(errorAnswer(error));
  response.headers.set("connection", "close");
  return response;
}

function closeServer(server: Server, connections: Connections, graceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let complete = true;
    // Node waits for connections without a request and no longer checks their timeouts, so this code closes them.
    const idle = setInterval(() => {
      for (const [socket, { hasRequest }] of connections) if (!hasRequest) socket.destroy();
    }, closingCheckIntervalMs);
    const grace = setTimeout(() => {
      complete = false;
      for (const socket of connections.keys()) socket.destroy();
    }, graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      resolve(complete);
    });
  });
}
