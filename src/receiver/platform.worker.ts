/*
 * Replaces `platform.node.ts` in bundles for edge workers and browsers (see the "browser" field of package.json). With the original
 * file, a bundle would import `node:` modules and fail to load, or be several times as large. Also replaces a file of `payload` and one of
 * `registration`, whose exports are at the end.
 */
import { type $constructor, $ZodObject } from "zod/v4/core";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import type { DeliveryHistory as FullHistory } from "./history.ts";
import { landingAsset, landingPage, renderErrorPage } from "./landing/worker-pages.ts";

export const loadErrorPage = () => ({ renderErrorPage });
export const loadLandingPage = () => ({ landingPage, landingAsset });

/** Keeps the logger that writes to the console. */
export const loadNodeLogger = undefined;

/** The built-in inbox requires a disk and a long-running process, which edge workers do not have. */
export const loadInbox = undefined;

/** @throws `LISTEN_FAILED`, always. */
export function loadStart(): never {
  throw new WebhookError(
    "This runtime cannot listen. Export the fetch function: `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** @throws `OPTION_INVALID`, always. The Hub client would double the size of a bundle, also for handlers that do not use it. */
export function loadHubClient(): never {
  throw optionError(
    'This bundle contains no Hub client. Pass one: new WebhooksServer({ hub: new HubClient({ token }) }), with HubClient from "hub-webhooks/client".',
  );
}

/** @throws `OPTION_INVALID`, always. */
export function loadMetrics(): never {
  throw optionError("Metrics require Node and prom-client. Remove the `metrics` option and METRICS.");
}

/** Records nothing. */
export class DeliveryHistory
  implements Pick<FullHistory, "changed" | "startStored" | "headersToStore" | "start" | "end">
{
  changed(): void {}
  startStored(): undefined {}
  headersToStore(): undefined {}
  start(): undefined {}
  end(): void {}
}

/** Adds no routes, so that the path of the console answers 404. */
export class ReceiverConsole {
  mount(): void {}
  close(): undefined {}
}

/** The base of the payload schemas. Workers cannot compile code, and the compiler would add 1 kB to a compressed bundle. */
export const objectSchema: $constructor<$ZodObject> = $ZodObject;

/** Workers have no file system for the state file. @throws `STATE_UNUSABLE`, always. */
export function registerServer(): never {
  throw new WebhookError(
    "register() requires a file system for its state file, which this runtime does not have. Call register() on Node, Bun, or Deno, or run hub-webhooks sync.",
    { code: "STATE_UNUSABLE" },
  );
}
