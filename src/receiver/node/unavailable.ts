/*
 * Replaces Node-only files where a bundler builds for a worker or a browser (the "browser" field of package.json). Bundling
 * the real files would make `node:` modules a condition of loading the package.
 */
import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/option-error.ts";
import { errorAnswer, toResponse } from "../../http-server/answer.ts";

export { createConsoleLogger as createNodeLogger } from "../server-logger.ts";

/** @throws `LISTEN_FAILED`, always. */
export function launch(): never {
  throw new WebhookError(
    "This runtime cannot listen on sockets. Export the server's fetch: `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** Without a disk and a lasting process, there is no inbox. */
export const canOpenInbox = false;

/** @throws `INBOX_UNUSABLE`, always. */
export function openServerInbox(): never {
  throw new WebhookError(
    "This runtime has no inbox. Pass your own in new WebhooksServer({ inbox }), or run the server on Node, Bun or Deno.",
    { code: "INBOX_UNUSABLE", status: 503 },
  );
}

/** @throws `OPTION_INVALID`, always. */
export function openMetrics(): never {
  throw optionError(
    "Metrics need Node and prom-client, which this runtime does not have. Remove the option `metrics` and METRICS.",
  );
}

/** The dashboard: 9 kB of a compressed bundle, for a runtime whose endpoints run inline. */
export class Dashboard {
  page = refuseDashboard;
  body = refuseDashboard;
  asset = refuseDashboard;
  replay = refuseDashboard;
  replayDead = refuseDashboard;
}

function refuseDashboard(): Response {
  const error = new WebhookError(
    "The dashboard needs Node, Bun or Deno. Call server.inbox.list() to list deliveries here.",
    { code: "NOT_FOUND", status: 404 },
  );
  return toResponse(errorAnswer(error));
}

/** Without a process, there are no signals. */
export function handleSignals(): () => void {
  return () => {};
}
