/*
 * Stands in for this folder where a bundler builds for a worker or a browser (the "browser" field of package.json):
 * bundling the real files would make `node:` modules a condition of loading anything.
 */
import { WebhookError } from "../../errors.ts";

export { createConsoleLogger as createNodeLogger } from "../console-logger.ts";

/** @throws `LISTEN_FAILED`, always. */
export function launch(): never {
  throw new WebhookError(
    "This runtime has no sockets to listen on: hand over the server's fetch, as in `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** @throws `INBOX_UNUSABLE`, always. */
export function openServerInbox(): never {
  throw new WebhookError(
    "This runtime has no disk for an inbox: leave out `background: true`, or run the server on Node.",
    { code: "INBOX_UNUSABLE", status: 503 },
  );
}

/** There is no process to own. */
export function ownProcess(): () => void {
  return () => {};
}
