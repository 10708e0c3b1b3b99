import { type Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type ErrorPage, renderErrorPage } from "../console/pages/error-page.ts";
import { describeError } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { withDeadline } from "../core/time.ts";
import { hopByHopHeaders, wantsHtml, webhooksPath } from "../core/urls.ts";
import type { Exchange } from "../http-server/exchange.ts";
import { hasDisconnected } from "../http-server/server.ts";
import { isReachabilityRequest, type ReachabilityCheck, reachabilityHeaders } from "../tunnel/reachability-check.ts";
import type { ProxiedDelivery, ReplayResult } from "./dev-event.ts";

/** The options of the proxy, which both sockets share. */
export interface ProxyOptions {
  /** Checks that the public URL points to this proxy. The proxy answers the request of the check. */
  reachabilityCheck: ReachabilityCheck;
  /** Resolves with the port of the server after the server is loaded. */
  serverPort: () => Promise<number>;
  /** Called with every answered delivery. */
  onDelivery: (delivery: ProxiedDelivery) => void;
  /** Called with one line for each request that is rejected or cannot be forwarded. */
  onProblem: (message: string) => void;
  /**
   * The time that a request waits for the server, in milliseconds. Default `20000`, because the Hub's timeout is 30 s.
   */
  serverTimeoutMs?: number;
}

/** The socket that a request arrived at. */
export interface ProxySocket extends ProxyOptions {
  agent: Agent;
  observer: DeliveryObserver;
  /**
   * Whether error pages show source code and paths. Set only for a socket that is not reachable from other machines.
   */
  showsErrorDetails: boolean;
}

/**
 * Waits until the server is loaded, forwards a request unchanged, and streams the response back. Leaves `100 Continue` to
 * the server.
 */
export async function proxyRequest(socket: ProxySocket, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, expectsContinue } = exchange;
  const { agent, observer, showsErrorDetails, onDelivery, onProblem, reachabilityCheck } = socket;
  if (isReachabilityRequest(reachabilityCheck, incoming)) {
    outgoing.writeHead(200, reachabilityHeaders).end(reachabilityCheck.answer);
    return;
  }
  const delivery = observer.observe(exchange, onDelivery);
  let port: number;
  try {
    port = await waitForServer(socket);
  } catch (reason) {
    const page = showsErrorDetails ? renderLoadFailure(incoming, reason) : undefined;
    const failure = WebhookError.isInstance(reason)
      ? { error: "The server file failed to load.", code: reason.code }
      : { error: "The server is not running.", code: "NOT_READY" };
    sendUnavailable(outgoing, { ...failure, delivery, page });
    return;
  }
  // Drop the request of a client that has disconnected, because its body would never end.
  if (await hasDisconnected(exchange)) return;
  const { method, url: path } = incoming;
  const headers = requestHeaders(incoming, expectsContinue);
  const inner = request({ host: "127.0.0.1", port, agent, method, path, headers });
  let hasWholeResponse = false;
  inner.on("response", (response) => {
    response.once("end", () => {
      hasWholeResponse = true;
    });
    response.on("error", () => outgoing.destroy());
    try {
      outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, responseHeaders(response));
    } catch (error) {
      response.destroy();
      sendBadGateway(outgoing, { error, onProblem });
      return;
    }
    response.pipe(outgoing);
  });
  inner.on("error", () => {
    if (outgoing.headersSent) outgoing.destroy();
    else {
      const failure = { error: "The server stopped during this request.", code: "NO_RESPONSE" };
      const page = showsErrorDetails ? renderPage(incoming, failure) : undefined;
      sendUnavailable(outgoing, { ...failure, delivery, page });
    }
  });
  // Close the inner connection when the client disconnects, to abort the handler's signal. A reset is detected
  // immediately, and a half-closed connection only after a probe. Other code in the process can also end the response.
  outgoing.on("close", () => {
    // Do not reset a socket that is ending: the socket would never close and would prevent Node from exiting.
    if (inner.destroyed || (hasWholeResponse && outgoing.writableFinished)) return;
    inner.socket?.resetAndDestroy();
    inner.destroy();
  });
  const forwardBody = () => {
    delivery?.keepBody();
    incoming.pipe(inner);
  };
  // By default, Node sends the headers with the first part of the body, so the server could not answer before the body arrives.
  inner.flushHeaders();
  if (expectsContinue) inner.once("continue", forwardBody);
  else forwardBody();
}

/** Answers 502 when Node cannot forward a request or its response. */
export function sendBadGateway(
  outgoing: ServerResponse,
  { error, onProblem }: { error: unknown; onProblem: ProxyOptions["onProblem"] },
): void {
  onProblem(`A request could not be forwarded: ${describeError(error).message}.`);
  if (outgoing.headersSent) outgoing.destroy();
  else {
    // Set the reason phrase explicitly, because Node would otherwise keep the phrase that it could not send.
    outgoing.writeHead(502, "Bad Gateway", { "content-type": "application/json", connection: "close" });
    outgoing.end(JSON.stringify({ error: "The request could not be forwarded.", code: "INTERNAL" }));
  }
}

/** Resolves with the port of the server. Rejects after `serverTimeoutMs`, before the sender's own timeout. */
export async function waitForServer({
  serverPort,
  serverTimeoutMs = 20_000,
}: Pick<ProxyOptions, "serverPort" | "serverTimeoutMs">): Promise<number> {
  return withDeadline(serverPort(), serverTimeoutMs, () => new Error("timeout"));
}

function sendUnavailable(
  outgoing: ServerResponse,
  response: { error: string; code: string; delivery: ObservedDelivery; page: ErrorPage | undefined },
): void {
  const { error, code, delivery, page } = response;
  delivery?.setFailure(error);
  const headers = page?.headers ?? { "content-type": "application/json" };
  // Close the connection. Otherwise, the rest of the body would have to be read before the next request.
  outgoing.writeHead(503, { ...headers, "retry-after": "1", connection: "close" });
  outgoing.end(page?.html ?? JSON.stringify({ error, code }));
}

/** Renders a page with the error that the server file threw and its stack trace. */
function renderLoadFailure(incoming: IncomingMessage, reason: unknown): ErrorPage | undefined {
  if (!WebhookError.isInstance(reason)) {
    return renderPage(incoming, { code: "NOT_READY", error: "The server is not running yet." });
  }
  const { code, message, cause } = reason;
  const details = cause instanceof Error ? (cause.stack ?? "").split("\n").filter((line) => line.trim() !== "") : [];
  const sentence = message.endsWith(".") ? message : `${message}.`;
  const error = `${sentence} Fix the file, save it, and reload this page.`;
  return renderPage(incoming, { code, error, title: "The server file failed to load", details });
}

function renderPage(
  { method = "GET", headers }: IncomingMessage,
  { error, ...content }: { code: string; error: string; title?: string; details?: readonly string[] },
): ErrorPage | undefined {
  if (!wantsHtml({ method, accept: headers.accept })) return undefined;
  return renderErrorPage({ status: 503, message: error, ...content });
}

/** Headers to forward even if the `Connection` header lists them, because they are required for framing and routing. */
const alwaysForwarded: readonly string[] = ["content-length", "host"];

/**
 * Returns the headers of the forwarded request. Adds `Via` for HTTP/1.0, and `Connection: close` for a connection that
 * is not kept alive. The server treats both as signs of a proxy, and does not show private pages to a proxy.
 */
function requestHeaders(incoming: IncomingMessage, expectsContinue: boolean): string[] {
  const { rawHeaders, httpVersion, headers } = incoming;
  const dropped = new Set(hopByHopHeaders(headers.connection));
  // Forward a chunked body as a chunked body.
  for (const name of [...alwaysForwarded, "transfer-encoding"]) dropped.delete(name);
  if (expectsContinue) dropped.delete("expect");
  else dropped.add("expect");
  return [
    ...withoutHeaders(rawHeaders, dropped),
    ...(httpVersion === "1.0" ? ["Via", "1.0 hub-webhooks-dev"] : []),
    ...(/\bkeep-alive\b/i.test(headers.connection ?? "") ? [] : ["Connection", "close"]),
  ];
}

/**
 * Returns the response headers without hop-by-hop headers such as `Transfer-Encoding`. Node chooses the framing,
 * because an HTTP/1.0 client does not support chunks.
 */
function responseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const dropped = new Set(hopByHopHeaders(headers.connection));
  for (const name of alwaysForwarded) dropped.delete(name);
  return withoutHeaders(rawHeaders, dropped);
}

function withoutHeaders(rawHeaders: readonly string[], dropped: ReadonlySet<string>): string[] {
  const isKept = (index: number) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? "");
  return rawHeaders.filter((_text, index) => isKept(index));
}

type ObservedDelivery = ReturnType<DeliveryObserver["observe"]>;

/** The timeout of a replay. It is longer than the timeout of a handler that answers inline. */
const replayTimeoutMs = 60_000;
/** The maximum size of a body that is kept, in bytes. Hub payloads are smaller. */
const maxBodyBytes = 10 * 1024 * 1024;
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 429]);
/** Headers to drop from a replay in addition to the hop-by-hop headers, because `fetch` sets or rejects them. */
const replacedHeaders: readonly string[] = ["content-length", "expect", "host"];

/**
 * Whether a response status means that the request was not authenticated or was not a delivery. The session does not keep such a
 * request for a replay.
 */
export function isRefusal(status: number): boolean {
  return refusals.has(status);
}

/**
 * Reports answered deliveries, and keeps the latest authenticated delivery for a replay. The delivery is kept only in
 * memory, because its headers contain the secret.
 */
export class DeliveryObserver {
  #latest: { path: string; headers: Headers; body: Buffer<ArrayBuffer> } | undefined;

  /**
   * Starts to observe a request, and calls `onAnswered` when the delivery is answered. Returns `undefined` if the
   * request is not a delivery.
   */
  observe({ incoming, outgoing }: Exchange, onAnswered: (delivery: ProxiedDelivery) => void) {
    const { method, url: path = "" } = incoming;
    if (method !== "POST" || !path.startsWith(webhooksPath)) return undefined;
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    let length = 0;
    let isBodyKept = false;
    let failure: string | undefined;
    const deliveryId = incoming.headers["webhook-id"];
    outgoing.once("finish", () => {
      const status = outgoing.statusCode;
      if (isBodyKept && incoming.complete && length <= maxBodyBytes && !isRefusal(status)) {
        this.#latest = { path, headers: replayHeaders(incoming), body: Buffer.concat(chunks) };
      }
      onAnswered({
        endpoint: endpointOf(path),
        ...(typeof deliveryId === "string" && { deliveryId }),
        status,
        durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(failure !== undefined && { reason: failure }),
      });
    });
    return {
      /** Keeps the body for a replay. Call this method before the body is forwarded. */
      keepBody() {
        isBodyKept = true;
        incoming.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length <= maxBodyBytes) chunks.push(chunk);
        });
      },
      /** Records why the server did not answer. The reason is part of the reported delivery. */
      setFailure(reason: string) {
        failure = reason;
      },
    };
  }

  /**
   * Sends the latest delivery to the server on this port with a new ID. Returns `undefined` if there is no delivery
   * yet.
   *
   * @throws `NO_RESPONSE` if the server stops during the replay or does not answer within 60 s.
   */
  async replay(port: number): Promise<ReplayResult | undefined> {
    if (!this.#latest) return undefined;
    const { path, headers: recorded, body } = this.#latest;
    const deliveryId = crypto.randomUUID();
    const headers = new Headers(recorded);
    headers.set("webhook-id", deliveryId);
    try {
      const response = await directFetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(replayTimeoutMs),
      });
      await response.body?.cancel();
      return { endpoint: endpointOf(path), deliveryId, status: response.status };
    } catch (cause) {
      const message = "The replay received no response, because the server stopped or took too long. Try again.";
      throw new WebhookError(message, { code: "NO_RESPONSE", cause });
    }
  }
}

function endpointOf(path: string): string {
  return path.slice(webhooksPath.length).replace(/[?#].*$/, "");
}

function replayHeaders({ headers }: IncomingMessage): Headers {
  const dropped = new Set([...hopByHopHeaders(headers.connection), ...replacedHeaders]);
  const entries = Object.entries(headers).filter(([name]) => !dropped.has(name));
  return new Headers(
    entries.map(([name, value]): [string, string] => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
