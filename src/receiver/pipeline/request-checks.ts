import { WebhookError } from "../../core/errors.ts";
import { isCrossSite } from "../../http/cross-site.ts";
import type { DeliveryRequest } from "./delivery-request.ts";

/**
 * Requires a JSON media type. Pages of other sites can send `text/plain` without a CORS preflight request, but not JSON.
 *
 * @throws `MEDIA_TYPE_UNSUPPORTED` (415).
 */
export function requireJson(request: DeliveryRequest): void {
  const type = request.header("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) return;
  throw new WebhookError('The Content-Type of the request is not JSON. Set it to "application/json".', {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

/**
 * Refuses requests from pages of other sites. Protects endpoints that accept any body and do not require a secret.
 *
 * @throws `CROSS_SITE_REFUSED` (403).
 */
export function refuseCrossSite(request: DeliveryRequest): void {
  if (!isCrossSite(request)) return;
  throw new WebhookError(
    "A page of another site sent this request. Set `WEBHOOK_SECRET` on the server and send it in the `X-Webhook-Secret` header.",
    { code: "CROSS_SITE_REFUSED", status: 403 },
  );
}
