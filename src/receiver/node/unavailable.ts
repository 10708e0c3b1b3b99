/*
 * Stands in for this folder, and for what else needs Node, where a bundler builds for a worker or a browser (the
 * "browser" field of package.json): bundling the real files would make `node:` modules a condition of loading anything.
 */
import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/option-error.ts";

import { answerError } from "../answer.ts";

export { createConsoleLogger as createNodeLogger } from "../console-logger.ts";

/** @throws `LISTEN_FAILED`, always. */
export function launch(): never {
  throw new WebhookError(
    "This runtime has no sockets to listen on: hand over the server's fetch, as in `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** There is no disk, and no process that stays. */
export const canOpenInbox = false;

/** @throws `INBOX_UNUSABLE`, always. */
export function openServerInbox(): never {
  throw new WebhookError(
    "This runtime has no inbox: pass one of your own as in new WebhooksServer({ inbox }), or run the server on Node, Bun or Deno.",
    { code: "INBOX_UNUSABLE", status: 503 },
  );
}

/** @throws `OPTION_INVALID`, always. */
export function openMetrics(): never {
  throw optionError(
    "This runtime has no metrics, which need Node and prom-client: leave out the option `metrics`, and METRICS.",
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
  return answerError(
    new WebhookError("The dashboard needs Node, Bun or Deno. Call server.inbox.list() to list deliveries here.", {
      code: "NOT_FOUND",
      status: 404,
    }),
  );
}

/** There is no process to own. */
export function handleSignals(): () => void {
  return () => {};
}
