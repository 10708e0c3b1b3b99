import { webhooksPath } from "./receiver/delivery-request.ts";

export { type DeepPartial, webhookPayload } from "./payload/samples.ts";
export { type SettledOptions, settled } from "./receiver/settled.ts";

/** What {@link deliveryRequest} makes a request from. */
export interface DeliveryRequestOptions {
  /** The endpoint's name. */
  endpoint: string;
  /** Any JSON value; {@link webhookPayload} makes real-shaped ones. */
  payload: unknown;
  /** Left out: no `X-Webhook-Secret`. */
  secret?: string;
  /** The `Webhook-Id`. Default: a new one. */
  id?: string;
  /** Where the receiver is. Default `http://localhost`. */
  baseUrl?: string;
}

/**
 * The request with which the Hub delivers a payload, for `server.fetch` or, over a socket, for `fetch`.
 *
 * @example
 * ```ts
 * const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content"), secret: "s3cret" });
 * const response = await server.fetch(request);
 * ```
 */
export function deliveryRequest({ endpoint, payload, secret, id, baseUrl }: DeliveryRequestOptions): Request {
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
