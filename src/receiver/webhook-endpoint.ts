import { launchInterceptor } from "./control.ts";
import { WebhooksServer } from "./server.ts";
import type { WebhookFunction } from "./webhook.ts";

/**
 * Registers an endpoint on a shared server, which is launched at the end of the script. Takes the arguments of {@link
 * WebhookFunction}.
 *
 * The server is launched at Node's `beforeExit` event. Node does not emit this event after `process.exit()`, or while a
 * timer or open connection keeps the process alive, and other runtimes may not support it. In these cases, or to set
 * options, create a {@link WebhooksServer}.
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
  const interceptor = launchInterceptor();
  if (interceptor) {
    interceptor.onSharedServer(created);
  } else if (typeof process !== "undefined" && typeof process.once === "function") {
    process.once("beforeExit", () => {
      // Without endpoints, `ready()` only logs warnings about calls without a handler.
      void (created.endpointNames.length > 0 ? created.launch() : created.ready());
    });
  }
  return created;
}
