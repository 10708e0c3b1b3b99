import { launchHost } from "./launch-host.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { WebhooksServer } from "./webhooks-server.ts";

const server = new WebhooksServer();

/**
 * Registers an endpoint on a server of the module's own, which launches itself when the script has run to its end:
 * the shortest way from a function to a receiver. It takes what {@link WebhookFunction} takes.
 *
 * The launch waits for Node's `beforeExit`: it does not come while something else keeps the process alive (a timer, an
 * open connection), nor after `process.exit()`, nor in a runtime without it. There, and for options of the server or
 * of the launch, make a {@link WebhooksServer}.
 *
 * @example
 * ```ts
 * import { webhookEndpoint } from "hub-webhooks";
 *
 * webhookEndpoint(async function trigger_training(payload) {
 *   return { training: payload.repo.name };
 * });
 * ```
 */
export const webhookEndpoint: WebhookFunction = server.webhook;

const host = launchHost();
if (host) {
  host.selfLaunching(server);
} else if (typeof process !== "undefined" && typeof process.once === "function") {
  process.once("beforeExit", () => {
    if (server.endpointNames.length > 0) void server.launch();
  });
}
