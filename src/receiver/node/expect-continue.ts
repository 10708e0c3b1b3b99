import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Sends `100 Continue` when the body is first read, and never otherwise: a request that is refused by its headers is
 * answered before its body is sent.
 */
export function continueOnRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const read = incoming._read;
  incoming._read = (size) => {
    incoming._read = read;
    // Node drains what was not read once the answer is out.
    if (!outgoing.headersSent) outgoing.writeContinue();
    incoming._read(size);
  };
}
