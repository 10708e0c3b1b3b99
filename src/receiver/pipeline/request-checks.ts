import { WebhookError } from "../../core/errors.ts";
import { isCrossSite } from "../../http/cross-site.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { SecretCheck } from "../security/secret-check.ts";
import type { DeliveryRequest } from "./delivery-request.ts";

/**
 * Checks a request before its body is read, so that unauthenticated clients cannot cause large reads.
 *
 * @throws `METHOD_NOT_ALLOWED` (405), `MEDIA_TYPE_UNSUPPORTED` (415), `CROSS_SITE_REFUSED` (403), and the errors of `SecretCheck.check`.
 */
export function checkRequest(request: DeliveryRequest, endpoint: Endpoint, secretCheck: SecretCheck): void {
  if (request.method !== "POST") {
    throw new WebhookError(`Method "${request.method}" is not allowed. Send deliveries with POST.`, {
      code: "METHOD_NOT_ALLOWED",
      status: 405,
    });
  }
  secretCheck.check(request);
  if (endpoint.requiresJson) requireJson(request);
  else if (!secretCheck.isSet(request.bindings)) refuseCrossSite(request);
}

/** Creates the error for a request to an unknown endpoint. */
export function endpointNotFound(): WebhookError {
  return new WebhookError("The server has no endpoint at this URL. Check the URL of the webhook.", {
    code: "ENDPOINT_UNKNOWN",
    status: 404,
  });
}

/**
 * Requires a JSON media type. Pages of other sites can send `text/plain` without a CORS preflight request, but not JSON.
 */
function requireJson(request: DeliveryRequest): void {
  const type = request.header("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) return;
  throw new WebhookError('The Content-Type of the request is not JSON. Set it to "application/json".', {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

/**
 * Refuses requests from pages of other sites. Protects endpoints that accept any body and do not require a secret.
 */
function refuseCrossSite(request: DeliveryRequest): void {
  if (!isCrossSite(request)) return;
  throw new WebhookError(
    "A page of another site sent this request. Set `WEBHOOK_SECRET` on the server and send it in the `X-Webhook-Secret` header.",
    { code: "CROSS_SITE_REFUSED", status: 403 },
  );
}
