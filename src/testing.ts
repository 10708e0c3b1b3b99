import { WebhookError } from "./core/errors.ts";
import { type Duration, toMilliseconds } from "./core/options.ts";
import { webhooksPath } from "./core/urls.ts";
import { endpointUnknown } from "./receiver/context.ts";
import type { WebhooksServer } from "./receiver/server.ts";

export { type DeepPartial, webhookPayload } from "./payload/samples.ts";

/** A short interval, so that tests do not wait longer than necessary. Polling SQLite is cheap. */
const pollIntervalMs = 2;

/**
 * Creates a request like the Hub's request for a delivery. Pass it to `server.fetch`, or to `fetch` to send it over a
 * socket.
 *
 * @example
 * ```ts
 * const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content"), secret: "s3cret" });
 * const response = await server.fetch(request);
 * ```
 */
export function deliveryRequest({
  endpoint,
  payload,
  secret,
  id,
  baseUrl,
}: {
  /** The name of the endpoint. */
  endpoint: string;
  /** Any JSON value, such as the result of `webhookPayload()`. */
  payload: unknown;
  /** The value of the `X-Webhook-Secret` header. Default: no such header. */
  secret?: string;
  /** The value of the `Webhook-Id` header. Default: a new ID. */
  id?: string;
  /** The base URL of the server. Default `http://localhost`. */
  baseUrl?: string;
}): Request {
  return new Request(`${baseUrl ?? "http://localhost"}${webhooksPath}${endpoint}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id ?? crypto.randomUUID(),
      ...(secret !== undefined && { "x-webhook-secret": secret }),
    },
    body: JSON.stringify(payload),
  });
}

/**
 * Waits until every accepted delivery of the background endpoints has succeeded, was ignored, or is dead, including retries. In the
 * default inbox of a test runner, a retry waits at most 50 ms. With another inbox, set a short `backoff` on the endpoints.
 *
 * @throws `NOT_SETTLED` after `timeout`, with a list of the unfinished deliveries; `ENDPOINT_UNKNOWN`; `OPTION_INVALID`.
 * @example
 * ```ts
 * await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret: "s3cret", id: "first" }));
 * await settled(server);
 * const stored = await server.inbox.get("first"); // its status is "succeeded", "ignored", or "dead"
 * ```
 */
export async function settled(
  server: Pick<WebhooksServer, "inbox" | "endpointNames">,
  {
    endpoint,
    timeout = "10s",
    signal,
  }: {
    /** The endpoint to wait for. Default: all endpoints. */
    endpoint?: string;
    /** The maximum time to wait. Default `"10s"`. */
    timeout?: Duration;
    /** Aborts the wait. `settled` then rejects with the signal's abort reason. */
    signal?: AbortSignal;
  } = {},
): Promise<void> {
  const timeoutMs = toMilliseconds(timeout, "timeout");
  // Throws for an unknown endpoint, which would otherwise always count as settled.
  if (endpoint !== undefined && !server.endpointNames.includes(endpoint)) {
    throw endpointUnknown(endpoint, server.endpointNames);
  }
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const waiting = await waitingIn(server, endpoint);
    if (waiting.length === 0) return;
    if (performance.now() >= deadline) {
      throw new WebhookError(
        `Deliveries are unfinished after ${timeoutMs} ms: ${waiting.join(", ")}. Check that the handler returns and that the server is open, set a shorter "backoff" on the endpoint, or raise "timeout".`,
        { code: "NOT_SETTLED" },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
}

/**
 * Returns a text such as `retrain (2 queued, 1 running)` for each endpoint with unfinished deliveries. If `endpoint` is
 * set, only checks that endpoint.
 */
async function waitingIn({ inbox }: Pick<WebhooksServer, "inbox">, endpoint: string | undefined): Promise<string[]> {
  return Object.entries(await inbox.counts())
    .filter(([name, { queued, running }]) => (endpoint ?? name) === name && queued + running > 0)
    .map(([name, { queued, running }]) => `${name} (${queued} queued, ${running} running)`);
}
