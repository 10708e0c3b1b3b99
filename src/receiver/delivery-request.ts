import type { Context } from "hono";
import { WebhookError } from "../core/errors.ts";
import { readHonoBody } from "./hono-body.ts";
import { routePrefix } from "./mount-point.ts";

/** The path prefix of every endpoint. The Hub's Python library uses the same prefix. */
export const webhooksPath = "/webhooks/";

/** The page of the Hub on which users add webhooks. `HF_ENDPOINT` does not change this URL. */
export const webhookSettingsUrl = "https://huggingface.co/settings/webhooks";

/** An HTTP request with a delivery, from Hono or directly from Node's HTTP server. */
export interface DeliveryRequest {
  readonly method: string;
  /** The endpoint name in the path. */
  readonly endpointName: string;
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  /** Aborts when the client disconnects before the response is sent. */
  readonly signal: AbortSignal;
  /** The value that the runtime passes with the request. On edge workers, this is the bindings. */
  readonly bindings: unknown;
  /** Returns the value of a header, or `null`. Pass the name in lowercase. */
  header(name: string): string | null;
  /**
   * Reads the body as text, at most `limit` bytes.
   *
   * @throws like {@link readHonoBody}.
   */
  readBody(limit: number): Promise<string>;
}

/** A request that Hono has routed, in any runtime. */
export class RoutedRequest implements DeliveryRequest {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  get method(): string {
    return this.#context.req.raw.method;
  }

  get endpointName(): string {
    return this.#context.req.path.slice(routePrefix(this.#context).length + webhooksPath.length);
  }

  get url(): string {
    return this.#context.req.raw.url;
  }

  get headers(): Headers {
    return this.#context.req.raw.headers;
  }

  get signal(): AbortSignal {
    return this.#context.req.raw.signal;
  }

  get bindings(): unknown {
    return this.#context.env;
  }

  header(name: string): string | null {
    return this.headers.get(name);
  }

  readBody(limit: number): Promise<string> {
    return readHonoBody(this.#context, limit);
  }
}

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

/** Whether a page of another site sent the request. Pages cannot change the headers that this function reads. */
export function isCrossSite(request: Pick<DeliveryRequest, "header" | "url">): boolean {
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const host = request.header("host")?.toLowerCase() ?? new URL(request.url).host;
  return (site !== null && site !== "same-origin") || (origin !== null && URL.parse(origin)?.host !== host);
}
