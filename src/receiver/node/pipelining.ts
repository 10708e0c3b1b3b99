import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Connections } from "./connection.ts";

/**
 * The class of the requests of a server that stops reading where too many of them wait for their answers. Node's parser
 * makes a request of everything in a packet, of 64 KiB, whatever becomes of the connection meanwhile: two thousand
 * requests of 32 bytes. Only CONNECT stops it, so the first request that is too many looks like one, and is
 * given to the `connect` listener.
 */
export function boundedMessages(connections: Connections): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Bun gives it more than the socket.
    constructor(...given: [socket: Socket]) {
      super(...given);
      if (!connections.get(this.socket)?.isFull) return;
      // The parser sets both, and looks at them then.
      Object.defineProperty(this, "method", { get: () => "CONNECT", set() {} });
      Object.defineProperty(this, "upgrade", { get: () => true, set() {} });
    }
  };
}
