import { launchHost } from "./launch-host.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { WebhooksServer } from "./webhooks-server.ts";

/**
 * Registers an endpoint on a server of the module's own, which launches itself when the script has run to its end:
 * the shortest way from a function to a receiver. It takes what {@link WebhookFunction} takes. The server is created by
 * the first call.
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
export const webhookEndpoint: WebhookFunction = (...given: readonly unknown[]) => {
  server ??= createServer();
  return Reflect.apply(server.webhook, undefined, given);
};

let server: WebhooksServer | undefined;

function createServer(): WebhooksServer {
  const created = new WebhooksServer();
  const host = launchHost();
  if (host) {
    host.selfLaunching(created);
  } else if (typeof process !== "undefined" && typeof process.once === "function") {
    process.once("beforeExit", () => {
      // Without an endpoint there is nothing to serve: `ready()` only logs which call got no handler.
      void (created.endpointNames.length > 0 ? created.launch() : created.ready());
    });
  }
  return created;
}
