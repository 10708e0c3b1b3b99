import { type Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type ErrorPageContent, renderErrorPage } from "../console/pages/error-page.ts";
import { describeError } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { withDeadline } from "../core/time.ts";
import { hopByHopHeaders, wantsHtml, webhooksPath } from "../core/urls.ts";
import type { Exchange } from "../http-server/exchange.ts";
import { hasDisconnected } from "../http-server/server.ts";
import { isReachabilityRequest, type ReachabilityCheck, reachabilityHeaders } from "../tunnel/reachability-check.ts";
import type { ProxiedDelivery, ReplayResult } from "./dev-event.ts";

export interface ProxyOptions {
  /** Checks that the public URL points to this proxy. The proxy answers the request of the check. */
  reachabilityCheck: ReachabilityCheck;
  /** Resolves with the port of the server after the server is loaded. */
  serverPort: () => Promise<number>;
  /** Called with every answered delivery. */
  onDelivery: (delivery: ProxiedDelivery) => void;
  /** Called with one line for each request that is rejected or cannot be forwarded. */
  onProblem: (message: string) => void;
  /** How long a request waits for the server. Default `20000`, because the Hub's timeout is 30 s. */
  serverTimeoutMs?: number;
}

/** The socket that a request arrived at. */
export interface ProxySocket extends ProxyOptions {
  agent: Agent;
  observer: DeliveryObserver;
  /** Whether error pages show source code and paths. Only for a socket that is not reachable from other machines. */
  showsErrorDetails: boolean;
}

/** Forwards a request unchanged when the server is loaded, and streams the response back. `100 Continue` is left to the server. */
export async function proxyRequest(socket: ProxySocket, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, expectsContinue } = exchange;
  const { agent, observer, showsErrorDetails, onDelivery, onProblem, reachabilityCheck } = socket;
  if (isReachabilityRequest(reachabilityCheck, incoming)) {
    outgoing.writeHead(200, reachabilityHeaders).end(reachabilityCheck.answer);
    return;
  }
  const delivery = observer.observe(exchange, onDelivery);
  const sendUnavailable = ({ page, ...failure }: Omit<Refusal, "status">) => {
    delivery?.setFailure(failure.error);
    sendRefusal(exchange, {
      status: 503,
      retryAfterSeconds: 1,
      ...failure,
      page: showsErrorDetails ? page : undefined,
    });
  };
  let port: number;
  try {
    port = await waitForServer(socket);
  } catch (reason) {
    return sendUnavailable(describeLoadFailure(reason));
  }
  // Drop the request of a client that has disconnected, because its body would never end.
  if (await hasDisconnected(exchange)) return;
  const { method, url: path } = incoming;
  const headers = requestHeaders(incoming, expectsContinue);
  const inner = request({ host: "127.0.0.1", port, agent, method, path, headers });
  let answer: IncomingMessage | undefined;
  inner.on("response", (response) => {
    answer = response;
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
    else sendUnavailable({ error: "The server stopped during this request.", code: "NO_RESPONSE", page: {} });
  });
  // Close the inner connection when the client disconnects, to abort the handler's signal. A reset is detected
  // immediately, and a half-closed connection only after a probe. Other code in the process can also end the response.
  outgoing.on("close", () => {
    // Do not reset a socket that is ending: the socket would never close and would prevent Node from exiting.
    if (inner.destroyed || (answer?.readableEnded && outgoing.writableFinished)) return;
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

interface Refusal {
  status: number;
  code: string;
  error: string;
  /** The content of the page for browsers, besides these fields. All clients receive JSON if it is missing. */
  page?: Partial<ErrorPageContent> | undefined;
  retryAfterSeconds?: number;
}

/** Answers a request that is not forwarded. */
export function sendRefusal(
  { incoming, outgoing }: Exchange,
  { status, code, error, page, retryAfterSeconds }: Refusal,
): void {
  const { method = "GET", headers } = incoming;
  const isForBrowser = page && wantsHtml({ method, accept: headers.accept });
  const rendered = isForBrowser ? renderErrorPage({ status, code, message: error, ...page }) : undefined;
  outgoing.writeHead(status, {
    ...(rendered?.headers ?? { "content-type": "application/json" }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    // Otherwise, the rest of the body would have to be read before the next request.
    connection: "close",
  });
  outgoing.end(rendered?.html ?? JSON.stringify({ error, code }));
}

/** Describes why the server does not run. The page contains the error that the server file threw, with its stack trace. */
function describeLoadFailure(reason: unknown): Omit<Refusal, "status"> {
  if (!WebhookError.isInstance(reason)) {
    const page = { message: "The server is not running yet." };
    return { error: "The server is not running.", code: "NOT_READY", page };
  }
  const { code, message, cause } = reason;
  const details = cause instanceof Error ? (cause.stack ?? "").split("\n").filter((line) => line.trim() !== "") : [];
  const sentence = message.endsWith(".") ? message : `${message}.`;
  const advice = "Fix the file, save it, and reload this page.";
  const page = { title: "The server file failed to load", message: `${sentence} ${advice}`, details };
  return { error: "The server file failed to load.", code, page };
}

/** Headers to forward even if the `Connection` header lists them, because they are required for framing and routing. */
const alwaysForwarded: readonly string[] = ["content-length", "host"];

/**
 * Adds `Via` for HTTP/1.0, and `Connection: close` for a connection that is not kept alive. The server treats both as signs
 * of a proxy, and does not show private pages to a proxy.
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

/** Node chooses the framing, because an HTTP/1.0 client does not support chunks. */
function responseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const dropped = new Set(hopByHopHeaders(headers.connection));
  for (const name of alwaysForwarded) dropped.delete(name);
  return withoutHeaders(rawHeaders, dropped);
}

function withoutHeaders(rawHeaders: readonly string[], dropped: ReadonlySet<string>): string[] {
  const isKept = (index: number) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? "");
  return rawHeaders.filter((_text, index) => isKept(index));
}

/** Longer than the timeout of a handler that answers inline. */
const replayTimeoutMs = 60_000;
/** Hub payloads are smaller. */
const maxBodyBytes = 10 * 1024 * 1024;
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 429]);
/** Headers to drop from a replay in addition to the hop-by-hop headers, because `fetch` sets or rejects them. */
const replacedHeaders: readonly string[] = ["content-length", "expect", "host"];

/** Whether a request with this status was not authenticated or was not a delivery. Such a request is not kept for a replay. */
export function isRefusal(status: number): boolean {
  return refusals.has(status);
}

/**
 * Reports answered deliveries, and keeps the latest authenticated one for a replay. It is kept only in memory, because its
 * headers contain the secret.
 */
export class DeliveryObserver {
  #latest: { path: string; headers: Headers; body: Buffer<ArrayBuffer> } | undefined;

  /** Calls `onAnswered` when the delivery is answered. Returns `undefined` if the request is not a delivery. */
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
   * Sends the latest delivery to the server with a new ID. Returns `undefined` if there is no delivery yet.
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
