/*
 * Replaces the files that need Node or the console in bundles for edge workers and browsers (see the "browser" field of package.json).
 * With the original files, a bundle would import `node:` modules and fail to load, or be several times as large.
 */
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import type { DeliveryHistory as FullHistory } from "./recent/delivery-history.ts";

export { createConsoleLogger as createNodeLogger } from "./logs.ts";

/** @throws `LISTEN_FAILED`, always. */
export function startServer(): never {
  throw new WebhookError(
    "This runtime cannot listen. Export the fetch function: `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** The built-in inbox requires a disk and a long-running process, which edge workers do not have. */
export const canOpenInbox = false;

/** @throws `INBOX_UNUSABLE`, always. */
export function openConfiguredInbox(): never {
  throw new WebhookError(
    "This runtime does not support the built-in inbox. Pass an inbox with new WebhooksServer({ inbox }).",
    { code: "INBOX_UNUSABLE", status: 503 },
  );
}

/** @throws `OPTION_INVALID`, always. The Hub client would double the size of a bundle, also for handlers that do not use it. */
export function loadHubClient(): never {
  throw optionError(
    'This bundle contains no Hub client. Pass one: new WebhooksServer({ hub: new HubClient({ token }) }), with HubClient from "hub-webhooks/client".',
  );
}

/** @throws `OPTION_INVALID`, always. */
export function openMetrics(): never {
  throw optionError("Metrics require Node and prom-client. Remove the `metrics` option and METRICS.");
}

/** Does nothing, because edge workers do not receive signals. */
export function manageProcess(): undefined {
  return undefined;
}

/** Records nothing. */
export class DeliveryHistory
  implements Pick<FullHistory, "changed" | "createLogRecorder" | "headersToStore" | "start" | "end">
{
  changed(): void {}
  createLogRecorder(): undefined {}
  headersToStore(): undefined {}
  start(): undefined {}
  end(): void {}
}

/** Adds no routes, so that the path of the console answers 404. */
export class ReceiverConsole {
  mount(): void {}
  close(): undefined {}
}
