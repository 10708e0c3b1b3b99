import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Connections } from "./connection.ts";

/** The log message for requests that are not valid HTTP or that Node cannot parse. */
export const malformedRefused = "malformed HTTP request refused";

/**
 * Responds to invalid or incomplete requests, for example after a TLS handshake on a plain HTTP port, a truncated body,
 * or a timeout. Logs one line for each of these requests.
 */
export function handleClientErrors(
  server: Server,
  { connections, log }: { connections: Connections; log: Logger },
): void {
  /** Sockets whose first error was handled. Node can emit several errors for one socket. */
  const broken = new WeakSet<Duplex>();

  const refuse = (socket: Duplex, status: string, reason: object) => {
    if (!socket.writable) return void socket.destroy();
    log.warn({ ...reason, status: Number(status.slice(0, 3)) }, malformedRefused);
    socket.end(emptyResponse(status), () => socket.destroy());
  };

  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A client that has reset the connection cannot receive a response.
    if (error.code === "ECONNRESET") return void socket.destroy();
    if (broken.has(socket)) return;
    broken.add(socket);
    const connection = connections.get(socket);
    const exchange = connection?.exchange;
    const status = statusOf(error);
    if (!exchange || (connection?.isIdle && exchange.incoming.complete)) {
      refuse(socket, status, { code: error.code });
    } else if (exchange.incoming.complete) {
      // The response to the valid request before the malformed data must be sent first.
      exchange.outgoing.once("close", () => refuse(socket, status, { code: error.code }));
    } else if (exchange.outgoing.headersSent) {
      socket.destroy();
    } else if (exchange.hasBodyReader) {
      // The body's reader logs this error.
      socket.end(emptyResponse(status), () => exchange.incoming.destroy(bodyBroken(error, status)));
    } else {
      refuse(socket, status, { code: error.code });
    }
  });

  server.on("connect", (_request, socket) => {
    // Node removes its own listeners from the socket, so without this listener a reset would crash the process.
    socket.on("error", () => socket.destroy());
    if (connections.get(socket)?.isFull) {
      log.warn({ reason: "Too many pipelined requests" }, "connection closed");
      socket.destroy();
      return;
    }
    refuse(socket, "405 Method Not Allowed\r\nAllow: POST", { method: "CONNECT" });
  });

  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    log.warn({ status: 417, reason: "Unknown Expect header" }, malformedRefused);
    response.writeHead(417, { connection: "close", "content-length": 0 }).end();
  });
}

function statusOf(error: NodeJS.ErrnoException): string {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  return error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
}

function emptyResponse(status: string): string {
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

function bodyBroken(cause: NodeJS.ErrnoException, status: string): WebhookError {
  const message =
    cause.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? "The body did not arrive in time. Send the request again."
      : `The body is truncated or malformed (${cause.code}). Send the request again.`;
  return new WebhookError(message, { code: "BODY_INCOMPLETE", status: Number(status.slice(0, 3)) });
}
