import { type Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type ErrorPage, renderErrorPage } from "../console/error-page.ts";
import { describeError } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { hopByHopHeaders, wantsHtml } from "../core/http-headers.ts";
import { hasDisconnected } from "../receiver/node/connection.ts";
import type { Probe } from "../tunnel/probe.ts";
import type { LatestDelivery, ObservedDelivery } from "./delivery-recorder.ts";
import type { PassedDelivery } from "./passed-delivery.ts";

/** Where requests are passed on to, and who hears of them. */
export interface PassOptions {
  /** Answered on both sockets, so that whoever asks for it from outside sees that the way leads here. */
  probe: Probe;
  /** The port of the server behind it; waited for while the server is loaded anew. */
  serverPort: () => Promise<number>;
  /** Told of every delivery that was answered. */
  onDelivery: (delivery: PassedDelivery) => void;
  /** Receives one line about a request that is refused here or cannot be passed on. */
  onProblem: (message: string) => void;
  /** How long a request waits for a server, in milliseconds. Default 20,000: the Hub waits for 30 seconds. */
  longestWaitMs?: number;
}

const retryAfterSeconds = "1";

/** What all requests of a socket share. */
export interface Passing {
  agent: Agent;
  latest: LatestDelivery;
  /** Whether only this machine reaches the socket: a page may show source and paths there. */
  isLocal: boolean;
}

/** A request and the answer to it. */
export interface ProxiedExchange {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** The client sends the body once it has `100 Continue`, which is for the server to decide. */
  expectsContinue: boolean;
}

/** Passes a request on as it came, once there is a server, and its answer back. */
export async function pass(
  options: PassOptions,
  { agent, latest, isLocal }: Passing,
  { incoming, outgoing, expectsContinue }: ProxiedExchange,
): Promise<void> {
  const { onDelivery, onProblem, probe } = options;
  if (isProbe(probe, incoming)) {
    outgoing.setHeader("content-type", "text/plain").end(probe.answer);
    return;
  }
  const delivery = latest.observe({ incoming, outgoing, onAnswered: onDelivery });
  let port: number;
  try {
    port = await serverPort(options);
  } catch (reason) {
    const page = isLocal ? pageOfFailure(incoming, reason) : undefined;
    if (!WebhookError.isInstance(reason)) answerLater(outgoing, { error: "There is no server.", delivery, page });
    else answerLater(outgoing, { error: "The server's file does not load.", code: reason.code, delivery, page });
    return;
  }
  // A client that has hung up meanwhile sends it again; the rest of this request would never end.
  if (await hasDisconnected({ incoming, outgoing })) return;
  const { method, url: path } = incoming;
  const headers = passedOn(incoming, expectsContinue);
  const inner = request({ host: "127.0.0.1", port, agent, method, path, headers });
  inner.on("response", (answer) => {
    answer.on("error", () => outgoing.destroy());
    try {
      outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders, ofAnswer(answer)));
    } catch (error) {
      answer.destroy();
      notPassed(outgoing, { error, onProblem });
      return;
    }
    answer.pipe(outgoing);
  });
  inner.on("error", () => {
    if (outgoing.headersSent) outgoing.destroy();
    else {
      const error = "The server went away in the middle of this request.";
      answerLater(outgoing, {
        error,
        delivery,
        page: isLocal ? pageOf(incoming, { code: "CLOSING", error }) : undefined,
      });
    }
  });
  // Aborts the signal of the handler when the client hangs up: a reset does so at once, and an end only after a probe.
  outgoing.on("close", () => {
    // A socket that is reset while it ends is never closed: Node would spin at its exit.
    if (inner.destroyed || outgoing.writableFinished) return;
    inner.socket?.resetAndDestroy();
    inner.destroy();
  });
  const passBody = () => {
    delivery?.follow();
    incoming.pipe(inner);
  };
  if (!expectsContinue) passBody();
  else inner.once("continue", passBody).flushHeaders();
}

/** A request, or its answer, holds what Node does not send. */
export function notPassed(
  outgoing: ServerResponse,
  { error, onProblem }: { error: unknown; onProblem: PassOptions["onProblem"] },
): void {
  onProblem(`A request could not be passed on: ${describeError(error).message}.`);
  if (outgoing.headersSent) outgoing.destroy();
  else {
    // With its own reason phrase: the one that could not be sent is kept otherwise.
    outgoing.writeHead(502, "Bad Gateway", { "content-type": "application/json", connection: "close" });
    outgoing.end(JSON.stringify({ error: "The request could not be passed on.", code: "INTERNAL" }));
  }
}

/** The port, or an error once the sender would not wait for an answer any more. */
async function serverPort({ serverPort: find, longestWaitMs = 20_000 }: PassOptions): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("late")), longestWaitMs);
  try {
    return await Promise.race([find(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface LateAnswer {
  error: string;
  code?: string;
  delivery: ObservedDelivery | undefined;
  /** What a browser gets in place of the JSON. */
  page: ErrorPage | undefined;
}

function answerLater(outgoing: ServerResponse, { error, code = "CLOSING", delivery, page }: LateAnswer): void {
  delivery?.giveUp(error);
  const headers = page?.headers ?? { "content-type": "application/json" };
  // What is still to come of the body would have to be read before another request.
  outgoing.writeHead(503, { ...headers, "retry-after": retryAfterSeconds, connection: "close" });
  outgoing.end(page?.html ?? JSON.stringify({ error, code }));
}

/** The page for a browser while the server's file does not load: what it threw, and where. */
function pageOfFailure(incoming: IncomingMessage, reason: unknown): ErrorPage | undefined {
  if (!WebhookError.isInstance(reason)) return pageOf(incoming, { code: "CLOSING", error: "There is no server yet." });
  const { code, message, cause } = reason;
  const details = cause instanceof Error ? (cause.stack ?? "").split("\n").filter((line) => line.trim() !== "") : [];
  const what = message.endsWith(".") ? message : `${message}.`;
  const error = `${what} Fix the file, save it, and reload this page.`;
  return pageOf(incoming, { code, error, title: "The server's file does not load", details });
}

function pageOf(
  { method = "GET", headers }: IncomingMessage,
  { error, ...content }: { code: string; error: string; title?: string; details?: readonly string[] },
): ErrorPage | undefined {
  if (!wantsHtml({ method, accept: headers.accept })) return undefined;
  return renderErrorPage({ status: 503, message: error, ...content });
}

/** How a message is framed and where it goes; a `Connection` header that names these must not remove them. */
const neverDropped: readonly string[] = ["content-length", "host"];

/** Its chunks are passed on as chunks. */
function ofRequest({ headers }: IncomingMessage, expectsContinue: boolean): ReadonlySet<string> {
  const dropped = new Set(hopByHopHeaders(headers.connection));
  for (const name of [...neverDropped, "transfer-encoding"]) dropped.delete(name);
  if (expectsContinue) dropped.delete("expect");
  else dropped.add("expect");
  return dropped;
}

/** Node chooses again how an answer is framed: a client of HTTP/1.0 knows no chunks. */
function ofAnswer({ headers }: IncomingMessage): ReadonlySet<string> {
  const dropped = new Set(hopByHopHeaders(headers.connection));
  for (const name of neverDropped) dropped.delete(name);
  return dropped;
}

function endToEnd(rawHeaders: readonly string[], dropped: ReadonlySet<string>): string[] {
  const isKept = (index: number) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? "");
  return rawHeaders.filter((_text, index) => isKept(index));
}

/**
 * The server takes HTTP/1.0 for a sign of a proxy, and so a connection that is not to be kept, and opens no page of the
 * owner to it: neither must be hidden from it.
 */
function passedOn(incoming: IncomingMessage, expectsContinue: boolean): string[] {
  const { rawHeaders, httpVersion, headers } = incoming;
  return [
    ...endToEnd(rawHeaders, ofRequest(incoming, expectsContinue)),
    ...(httpVersion === "1.0" ? ["Via", "1.0 hub-webhooks-dev"] : []),
    ...(/\bkeep-alive\b/i.test(headers.connection ?? "") ? [] : ["Connection", "close"]),
  ];
}

/** Whether it asks whether the public address leads here. */
export function isProbe(probe: Probe, { method, url }: IncomingMessage): boolean {
  return method === "GET" && url === probe.path;
}
