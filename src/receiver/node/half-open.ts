import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { Connections } from "./connection.ts";
import type { Exchange } from "./direct-request.ts";

/** How long a client that has ended its side may wait before it is sent a probe, and the time between two probes. */
const defaultProbeMs = 1_000;
/** How long a reset may take to arrive, in milliseconds. From this machine it arrives at once. */
const resetMs = 25;

/**
 * Answers clients that end their side of the connection after the request, as `shutdown(SHUT_WR)` does. They look like
 * clients that have hung up until something is sent to them. While the answer takes long they are sent `100 Continue`,
 * which clients of HTTP/1.1 skip; where the client has hung up, that resets the connection and aborts the request.
 */
export function answerHalfClosed(server: Server, connections: Connections, probeMs = defaultProbeMs): void {
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

/**
 * Whether the client of a request has gone away, as far as two probes show. Clients that have not ended their side are
 * there, and are sent nothing.
 */
export async function hasLeft({ incoming, outgoing }: Pick<Exchange, "incoming" | "outgoing">): Promise<boolean> {
  if (!incoming.socket.readableEnded) return outgoing.destroyed;
  // The first one causes the reset, the second one fails because of it: Node reads no further after an end.
  for (let probes = 0; probes < 2 && !outgoing.destroyed; probes += 1) {
    sendProbe(outgoing);
    await once(outgoing, "close", { signal: AbortSignal.timeout(resetMs) }).catch(() => {});
  }
  return outgoing.destroyed;
}

function sendProbe(outgoing: ServerResponse | undefined): void {
  // One that waits behind another answer has no socket yet, and HTTP/1.0 knows no interim answers.
  if (!outgoing?.socket?.writable || outgoing.headersSent || outgoing.req.httpVersionMinor === 0) return;
  outgoing.writeContinue();
}
