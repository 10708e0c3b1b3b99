import { type Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type ErrorPage, renderErrorPage } from "../console/error-page.ts";
import { describeError } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { hopByHopHeaders, wantsHtml } from "../core/http-headers.ts";
import { hasDisconnected } from "../http-server/connection.ts";
import type { Exchange } from "../http-server/exchange.ts";
import type { ReachabilityCheck } from "../tunnel/reachability-check.ts";
import type { DeliveryObserver, ObservedDelivery } from "./delivery-observer.ts";
import type { ProxiedDelivery } from "./dev-event.ts";

/** The options of the proxy that its two sockets share. */
export interface ProxyOptions {
  /** Checks that the public URL points here. The proxy itself answers the request of the check. */
  reachabilityCheck: ReachabilityCheck;
  /** Resolves with the port of the server once it is loaded. */
  serverPort: () => Promise<number>;
  /** Receives every answered delivery. */
  onDelivery: (delivery: ProxiedDelivery) => void;
  /** Receives one line for each request that is rejected or cannot be forwarded. */
  onProblem: (message: string) => void;
  /** How long a request waits for the server, in milliseconds. Default 20,000, because the Hub waits for only 30 s. */
  serverTimeoutMs?: number;
}

const retryAfterSeconds = "1";

/** The state that all requests of a proxy share. */
export interface ProxyContext {
  agent: Agent;
  observer: DeliveryObserver;
}

/** The socket that a request arrived at. */
export interface ProxySocket {
  options: ProxyOptions;
  context: ProxyContext;
  /** Whether error pages may show source code and paths: only if the socket is only reachable from this machine. */
  showsErrorDetails: boolean;
}

/**
 * A request, its response, and whether the client expects `100 Continue`. The server behind the proxy sends that
 * response.
 */
export type ProxiedExchange = Pick<Exchange, "incoming" | "outgoing" | "expectsContinue">;

/** Forwards a request unchanged, once the server is loaded, and streams the response back. */
export async function proxyRequest(
  { options, context, showsErrorDetails }: ProxySocket,
  { incoming, outgoing, expectsContinue }: ProxiedExchange,
): Promise<void> {
  const { onDelivery, onProblem, reachabilityCheck } = options;
  if (isReachabilityCheck(reachabilityCheck, incoming)) {
    outgoing.setHeader("content-type", "text/plain").end(reachabilityCheck.answer);
    return;
  }
  const delivery = context.observer.observe({ incoming, outgoing, onAnswered: onDelivery });
  let port: number;
  try {
    port = await waitForServer(options);
  } catch (reason) {
    const page = showsErrorDetails ? renderLoadFailure(incoming, reason) : undefined;
    if (!WebhookError.isInstance(reason)) {
      sendUnavailable(outgoing, { error: "The server is not running.", code: "NOT_READY", delivery, page });
    } else {
      sendUnavailable(outgoing, { error: "The server file failed to load.", code: reason.code, delivery, page });
    }
    return;
  }
  // If the client has disconnected, the body would never end. The client retries the request.
  if (await hasDisconnected({ incoming, outgoing })) return;
  const { method, url: path } = incoming;
  const headers = requestHeaders(incoming, expectsContinue);
  const inner = request({ host: "127.0.0.1", port, agent: context.agent, method, path, headers });
  inner.on("response", (response) => {
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
      const error = "The server stopped during this request.";
      const page = showsErrorDetails ? renderPage(incoming, { code: "NO_RESPONSE", error }) : undefined;
      sendUnavailable(outgoing, { error, delivery, page });
    }
  });
  // Aborts the signal of the handler when the client disconnects: a reset does so immediately, an end only after a
  // probe.
  outgoing.on("close", () => {
    // A socket that is reset while it ends never closes and would keep Node from exiting.
    if (inner.destroyed || outgoing.writableFinished) return;
    inner.socket?.resetAndDestroy();
    inner.destroy();
  });
  const forwardBody = () => {
    delivery?.keepBody();
    incoming.pipe(inner);
  };
  if (!expectsContinue) forwardBody();
  else inner.once("continue", forwardBody).flushHeaders();
}

/** Whether a request checks that the public URL points here. */
export function isReachabilityCheck(reachabilityCheck: ReachabilityCheck, { method, url }: IncomingMessage): boolean {
  return method === "GET" && url === reachabilityCheck.path;
}

/** Answers 502 if Node cannot forward a request or its response. */
export function sendBadGateway(
  outgoing: ServerResponse,
  { error, onProblem }: { error: unknown; onProblem: ProxyOptions["onProblem"] },
): void {
  onProblem(`A request could not be forwarded: ${describeError(error).message}.`);
  if (outgoing.headersSent) outgoing.destroy();
  else {
    // The reason phrase is explicit, because Node would otherwise keep the one that it could not send.
    outgoing.writeHead(502, "Bad Gateway", { "content-type": "application/json", connection: "close" });
    outgoing.end(JSON.stringify({ error: "The request could not be forwarded.", code: "INTERNAL" }));
  }
}

/** Rejects once the sender would no longer wait for a response. */
async function waitForServer({ serverPort, serverTimeoutMs = 20_000 }: ProxyOptions): Promise<number> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error("timeout")), serverTimeoutMs);
  try {
    return await Promise.race([serverPort(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function sendUnavailable(
  outgoing: ServerResponse,
  {
    error,
    code = "NO_RESPONSE",
    delivery,
    page,
  }: {
    error: string;
    code?: string;
    delivery: ObservedDelivery | undefined;
    /** Sent to browsers instead of JSON. */
    page: ErrorPage | undefined;
  },
): void {
  delivery?.setFailure(error);
  const headers = page?.headers ?? { "content-type": "application/json" };
  // The connection is closed, because otherwise the rest of the body would have to be read before the next request.
  outgoing.writeHead(503, { ...headers, "retry-after": retryAfterSeconds, connection: "close" });
  outgoing.end(page?.html ?? JSON.stringify({ error, code }));
}

/** Renders the error that the server file threw, with its stack trace. */
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

/** Required for framing and routing, even if the `Connection` header lists them. */
const alwaysForwarded: readonly string[] = ["content-length", "host"];

/**
 * The server must recognize HTTP/1.0 and connections that are not kept alive, so the `Via` and `Connection` headers
 * pass both on. HTTP/1.0 indicates a proxy, and the server shows no private pages to a proxy.
 */
function requestHeaders(incoming: IncomingMessage, expectsContinue: boolean): string[] {
  const { rawHeaders, httpVersion, headers } = incoming;
  const dropped = new Set(hopByHopHeaders(headers.connection));
  // A chunked body is forwarded as a chunked body.
  for (const name of [...alwaysForwarded, "transfer-encoding"]) dropped.delete(name);
  if (expectsContinue) dropped.delete("expect");
  else dropped.add("expect");
  return [
    ...withoutHeaders(rawHeaders, dropped),
    ...(httpVersion === "1.0" ? ["Via", "1.0 hub-webhooks-dev"] : []),
    ...(/\bkeep-alive\b/i.test(headers.connection ?? "") ? [] : ["Connection", "close"]),
  ];
}

/** Node chooses the framing of the response, because an HTTP/1.0 client does not support chunks. */
function responseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const dropped = new Set(hopByHopHeaders(headers.connection));
  for (const name of alwaysForwarded) dropped.delete(name);
  return withoutHeaders(rawHeaders, dropped);
}

function withoutHeaders(rawHeaders: readonly string[], dropped: ReadonlySet<string>): string[] {
  const isKept = (index: number) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? "");
  return rawHeaders.filter((_text, index) => isKept(index));
}
