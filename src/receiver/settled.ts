import { type Duration, toMilliseconds } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import { endpointUnknown } from "./endpoint-registry.ts";
import type { WebhooksServer } from "./webhooks-server.ts";

/** What {@link settled} can be told. */
export interface SettledOptions {
  /** The one endpoint to wait for. Default: all of them. */
  endpoint?: string;
  /** How long to wait at most. Default `"10s"`. */
  timeout?: Duration;
  /** Ends the waiting: it rejects with the reason of the signal. */
  signal?: AbortSignal;
}

/** Milliseconds between two looks: a test waits for nothing longer than it must, and a look at SQLite costs less. */
const betweenLooks = 2;

/**
 * For tests of a background endpoint, which answers first: waits until nothing that it accepted is queued or running any
 * more. Each delivery has succeeded by then or is dead, its repetitions included: give the endpoint a short `backoff`. The
 * server has to work on them, as it does from `launch()` or its first delivery on.
 *
 * @throws `NOT_SETTLED` after `timeout`, with what still waits; `ENDPOINT_UNKNOWN` where the server has no such endpoint;
 * `OPTION_INVALID`.
 * @example
 * ```ts
 * await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret: "s3cret", id: "first" }));
 * await settled(server);
 * const stored = await server.inbox.get("first"); // its status is "succeeded" or "dead"
 * ```
 */
export async function settled(
  server: Pick<WebhooksServer, "inbox" | "endpointNames">,
  { endpoint, timeout = "10s", signal }: SettledOptions = {},
): Promise<void> {
  const timeoutMs = toMilliseconds(timeout, "timeout");
  // It would count as settled for ever.
  if (endpoint !== undefined && !server.endpointNames.includes(endpoint)) {
    throw endpointUnknown(endpoint, server.endpointNames);
  }
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const waiting = await waitingIn(server, endpoint);
    if (waiting.length === 0) return;
    if (performance.now() >= giveUpAt) {
      throw new WebhookError(
        `Not all is done after ${timeoutMs} ms: ${waiting.join(", ")}. See that the handler ends and that the server is open, give the endpoint a shorter "backoff", or wait longer with "timeout".`,
        { code: "NOT_SETTLED" },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, betweenLooks));
  }
}

/** What is not done, an endpoint each: `retrain (2 queued, 1 running)`. */
async function waitingIn({ inbox }: Pick<WebhooksServer, "inbox">, endpoint: string | undefined): Promise<string[]> {
  return Object.entries(await inbox.counts())
    .filter(([name, { queued, running }]) => (endpoint ?? name) === name && queued + running > 0)
    .map(([name, { queued, running }]) => `${name} (${queued} queued, ${running} running)`);
}
