import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "@hono/node-server";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { Connections } from "./connection.ts";
import type { Warn } from "./connection-limits.ts";

const brokenRefused = "broken HTTP request refused";

/** Answers what is HTTP, but cannot become a request: a host or a path that is none. */
export function answerMalformed(error: unknown, log: Logger): Response {
  const headers = { connection: "close" };
  if (error instanceof RequestError) {
    log.warn({ status: 400, reason: error.message }, brokenRefused);
    return new Response(null, { status: 400, headers });
  }
  log.error({ err: error, status: 500 }, "A request could not be answered.");
  return new Response(null, { status: 500, headers });
}

/** Refuses a request by its head. */
export function refuseMalformed(outgoing: ServerResponse, { reason, warn }: { reason: string; warn: Warn }): void {
  warn({ status: 400, reason }, brokenRefused);
  outgoing.writeHead(400, { connection: "close", "content-length": 0 }).end();
}

/** Answers what never becomes a whole request (garbage, TLS, a body cut short, silence), with one log line. */
export function handleClientErrors(
  server: Server,
  { connections, log }: { connections: Connections; log: () => Logger },
): void {
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
    const connection = connections.get(socket);
    const exchange = connection?.exchange;
    const status = statusOf(error);
    if (!exchange || (connection?.isIdle && exchange.incoming.complete)) {
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
    if (connections.get(socket)?.isFull) {
      log().warn({ reason: "Too many pipelined requests" }, "connection closed");
      socket.destroy();
      return;
    }
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
