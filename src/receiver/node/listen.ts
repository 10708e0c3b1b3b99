import type { Server } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { webhooksPath } from "../../core/urls.ts";
import { type Answer, errorAnswer, internalError, toResponse } from "../../http/answer.ts";
import {
  type Connections,
  type Exchange,
  hasDuplicateHeader,
  sendJson,
  withoutFraming,
} from "../../http-server/exchange.ts";
import {
  type ConnectionLimits,
  createHttpServer,
  defaultLimits,
  handleClientErrors,
  malformedRefused,
  openSocket,
} from "../../http-server/server.ts";
import { showErrorPage } from "../app.ts";
import type { DeliveryRequest, HeaderEntries } from "../request.ts";

/*
 * The HTTP listener of a server on Node. A request goes through these steps:
 *
 * 1. `http-server/` accepts the connection, applies limits, refuses malformed requests, and passes an `Exchange`: the request
 *    and response of Node, with methods that read the body and send an answer.
 * 2. `createDirectParser` converts a POST below `/webhooks/` to a `DirectRequest`, which reads Node's request without a `Request`
 *    or a web stream. If the rest of the path is an endpoint name and no middleware of the app matches, `deliver`
 *    (`WebhooksServer`) passes the delivery to the pipeline, and `Exchange.send` sends the answer. `ServerApp.isDirect` decides
 *    whether middleware matches, once per endpoint.
 * 3. Every other request goes through Hono's adapter to `fetch`, which creates a `Request`, runs the router and middleware, and
 *    returns a `Response`.
 *
 * Both paths use the same pipeline. The direct path exists because creating and routing a `Request` and creating a `Response` take
 * as long as the rest of a delivery.
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
  const fail = ({ outgoing }: Exchange, error: unknown) => {
    if (outgoing.headersSent) outgoing.destroy();
    else sendJson(outgoing, errorAnswer(internalError(error)));
    try {
      log.error({ err: error, status: 500 }, "The response to a request could not be sent.");
    } catch {
      // The logger failed, so the error cannot be reported.
    }
  };
  const send = (exchange: Exchange, answer: Answer) => {
    try {
      exchange.send(answer)?.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  };
  const parseDirect = createDirectParser();
  const onRequest = (exchange: Exchange) => {
    const request = isClosing ? undefined : parseDirect(exchange);
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
      // Node would refuse requests without a Host header, but without a log line. The adapter also refuses them.
      requireHostHeader: false,
    },
    limits: { ...defaultLimits, ...options.limits },
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
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      resolve(complete);
    });
  });
}

/** A plain hostname with an optional port. Hono's adapter checks requests with other hosts. */
const plainHost = /^[\w.-]+(?::\d+)?$/;

/**
 * Creates a function that recognizes deliveries that can skip Hono: each POST to a path below `/webhooks/`. The rest of the path is the
 * endpoint name: `deliver` only accepts exact names, so a path with a query or encoded characters is left to Hono.
 */
function createDirectParser(): (exchange: Exchange) => DirectRequest | undefined {
  /** The last valid `Host`, because most requests have the same `Host`, and parsing it is expensive. */
  let validHost: string | undefined;
  const isValidHost = (host: string | undefined) => {
    if (host === undefined) return false;
    if (host === validHost) return true;
    if (!plainHost.test(host) || !URL.canParse(`http://${host}`)) return false;
    validHost = host;
    return true;
  };
  return (exchange) => {
    const { method, url = "", headers, rawHeaders } = exchange.incoming;
    if (method !== "POST" || !url.startsWith(webhooksPath)) return undefined;
    // Leaves a duplicate Content-Type to Hono, because Node keeps only the first one.
    if (!isValidHost(headers.host) || hasDuplicateHeader(rawHeaders, "content-type")) return undefined;
    return new DirectRequest(exchange, url.slice(webhooksPath.length));
  };
}

/** A delivery that is read directly from Node's HTTP server. The headers and signal are created on first use. */
class DirectRequest implements DeliveryRequest {
  readonly bindings = undefined;
  readonly endpointName: string;
  readonly #exchange: Exchange;
  #headers: Headers | undefined;
  #controller: AbortController | undefined;

  constructor(exchange: Exchange, endpointName: string) {
    this.#exchange = exchange;
    this.endpointName = endpointName;
  }

  get method(): string {
    return "POST";
  }

  get url(): string {
    const { headers, url } = this.#exchange.incoming;
    return `http://${headers.host}${url}`;
  }

  get headers(): Headers {
    if (!this.#headers) {
      this.#headers = new Headers();
      for (const [name, value] of headerPairs(this.#exchange.incoming.rawHeaders)) this.#headers.append(name, value);
    }
    return this.#headers;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const { outgoing } = this.#exchange;
      const onClose = () => {
        if (outgoing.writableFinished) return;
        controller.abort(new Error("The connection ended before the response was sent."));
      };
      if (outgoing.closed) onClose();
      else outgoing.once("close", onClose);
    }
    return this.#controller.signal;
  }

  header(name: string): string | null {
    const value = this.#exchange.incoming.headers[name];
    return (Array.isArray(value) ? value.join(", ") : value) ?? null;
  }

  captureHeaders(): () => HeaderEntries {
    const { rawHeaders } = this.#exchange.incoming;
    return () => headerPairs(rawHeaders);
  }

  readBody(limit: number): Promise<string> {
    return this.#exchange.readBody(limit);
  }
}

function* headerPairs(rawHeaders: readonly string[]): HeaderEntries {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    yield [rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""];
  }
}
