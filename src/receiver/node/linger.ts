import type { Exchange } from "./direct-request.ts";

/** How much a client may still send that was answered before its body arrived, so that it gets to read the answer. */
const lingerMs = 500;
const lingerBytes = 256 * 1024;

/** Keeps a connection readable for a while after its answer where the body has not arrived. */
export function lingerAfter(exchange: Exchange): void {
  exchange.outgoing.once("finish", () => {
    // A body in one packet with the headers is parsed only after the refusal is out.
    if (!exchange.incoming.complete) setImmediate(linger, exchange);
  });
}

/** Closing the connection at once would reset it, and could cost the client the answer. */
function linger({ incoming }: Exchange): void {
  if (incoming.complete) return;
  const { socket } = incoming;
  let bytes = 0;
  const onData = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= lingerBytes) return;
    // No more is read. To hang up now would reset the connection, and with it the answer where it was not read yet.
    socket.pause();
    socket.end();
  };
  const giveUp = setTimeout(() => socket.destroy(), lingerMs);
  socket.on("data", onData);
  incoming.once("close", () => {
    clearTimeout(giveUp);
    socket.off("data", onData);
  });
}
