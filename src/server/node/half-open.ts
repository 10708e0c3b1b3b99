import type { Server, ServerResponse } from "node:http";
import type { Connections } from "./connection.ts";

/** How long a client that has ended its side may wait before it is asked whether it still listens, and how often. */
const probeMs = 1_000;

/**
 * Answers clients that end their side of the connection after the request, as `shutdown(SHUT_WR)` does. They look like
 * clients that have hung up until something is sent to them. While the answer takes long they are sent `100 Continue`,
 * which clients of HTTP/1.1 skip; where the client has hung up, that resets the connection and aborts the request.
 */
export function answerHalfClosed(server: Server, connections: Connections): void {
  // A property of Node's server that its types lack.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    socket.once("end", () => {
      const probe = () => sendProbe(connections.get(socket)?.exchange?.outgoing);
      const probing = setInterval(probe, probeMs).unref();
      socket.once("close", () => clearInterval(probing));
    });
  });
}

function sendProbe(outgoing: ServerResponse | undefined): void {
  // One that waits behind another answer has no socket yet, and HTTP/1.0 knows no interim answers.
  if (!outgoing?.socket?.writable || outgoing.headersSent || outgoing.req.httpVersionMinor === 0) return;
  outgoing.writeContinue();
}
