import type { Context } from "hono";
import { WebhookError } from "../core/errors.ts";
import { readHonoBody } from "./hono-body.ts";
import { routePrefix } from "./mount-point.ts";

/** The path prefix of every endpoint, as in the Hub's Python library. */
export const webhooksPath = "/webhooks/";

/** The page of the Hub on which users add a webhook; `HF_ENDPOINT` does not change it. */
export const webhookSettingsUrl = "https://huggingface.co/settings/webhooks";

/** An HTTP request that carries a delivery, from Hono or directly from Node's HTTP server. */
export interface DeliveryRequest {
  readonly method: string;
  /** The endpoint name in its path. */
  readonly endpointName: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Headers;
  /** Aborts when the client disconnects before the response is sent. */
  readonly signal: AbortSignal;
  /** What the runtime passes with the request: in a worker, its bindings. */
  readonly bindings: unknown;
  /** Returns one header. The name is in lower case. */
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
 * Requires a JSON media type: browsers let pages of other sites post `text/plain`, but not JSON, without asking.
 *
 * @throws `MEDIA_TYPE_UNSUPPORTED` (415).
 */
export function requireJson(request: DeliveryRequest): void {
  const type = request.header("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) return;
  throw new WebhookError("Send the payload as Content-Type: application/json.", {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

/**
 * Protects an endpoint that accepts any body and needs no secret from pages of other sites.
 *
 * @throws `CROSS_SITE_REFUSED` (403).
 */
export function refuseCrossSite(request: DeliveryRequest): void {
  if (!isCrossSite(request)) return;
  throw new WebhookError("Pages of other sites cannot post here. Set a webhook secret and send it.", {
    code: "CROSS_SITE_REFUSED",
    status: 403,
  });
}

/** Whether a browser sent the request for a page of another site. Pages cannot change these headers. */
export function isCrossSite(request: Pick<DeliveryRequest, "header" | "url">): boolean {
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const host = request.header("host")?.toLowerCase() ?? new URL(request.url).host;
  return (site !== null && site !== "same-origin") || (origin !== null && URL.parse(origin)?.host !== host);
}
