import type { Context } from "hono";
import { webhooksPath } from "../core/urls.ts";
import { readHonoBody } from "../http/body.ts";
import { routePrefix } from "./app.ts";

/** The user agent of test deliveries, which the console does not list after their secret was accepted. */
export const probeAgent = "hub-webhooks test delivery";

/**
 * An HTTP request with a delivery, from Hono or directly from Node's HTTP server. The public function `deliveryRequest()` in
 * `testing.ts` is unrelated: it creates a web `Request` for tests.
 */
export interface DeliveryRequest {
  readonly method: string;
  /** The endpoint name in the path. */
  readonly endpointName: string;
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  /** Aborts when the client disconnects before the response is sent. */
  readonly signal: AbortSignal;
  /** The value that the runtime passes with the request. On edge workers, this value is the bindings. */
  readonly bindings: unknown;
  /** Returns the value of a header, or `null`. Pass the name in lowercase. */
  header(name: string): string | null;
  /** Returns a function that lists the headers later, without keeping the request in memory. */
  captureHeaders(): () => Iterable<readonly [name: string, value: string]>;
  /**
   * Reads the body as text, at most `limit` bytes.
   *
   * @throws like {@link readHonoBody}.
   */
  readBody(limit: number): Promise<string>;
}

/** Returns the delivery of a request that Hono has routed, in any runtime. */
export function toDeliveryRequest(context: Context): DeliveryRequest {
  const { raw, path } = context.req;
  return {
    endpointName: path.slice(routePrefix(context).length + webhooksPath.length),
    bindings: context.env,
    method: raw.method,
    url: raw.url,
    // Getters, because Node's adapter creates these two on first use.
    get headers() {
      return raw.headers;
    },
    get signal() {
      return raw.signal;
    },
    header: (name) => raw.headers.get(name),
    captureHeaders: () => {
      const { headers } = raw;
      return () => headers.entries();
    },
    readBody: (limit) => readHonoBody(context, limit),
  };
}
