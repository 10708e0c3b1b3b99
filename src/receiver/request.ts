import type { Context } from "hono";
import { redacted } from "../core/log.ts";
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
  captureHeaders(): () => HeaderEntries;
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

/** The headers of a request, as they arrived. */
export type HeaderEntries = Iterable<readonly [name: string, value: string]>;

const maxSize = 4_096;

/** The headers that every delivery has, and that never contain a secret. */
const plain: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-length",
  "content-type",
  "date",
  "host",
  "traceparent",
  "user-agent",
  "webhook-id",
]);

const sensitive = /secret|token|auth|cookie|key|signature|pass|credential|session|jwt|oidc|principal|assertion/;

/**
 * Returns the headers of a request as the console shows them and the inbox stores them. Values that can be secrets are redacted by
 * name, before anything is stored. `redact` removes known secrets from the others, such as a path with `?secret=` that a proxy
 * forwards.
 */
export function recordHeaders(
  entries: HeaderEntries,
  redact: (text: string) => string,
): Readonly<Record<string, string>> {
  // Creating an object without a prototype and converting it to JSON takes twice as long.
  const recorded: Record<string, string> = {};
  let size = 0;
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    const shown = plain.has(name) ? value : sensitive.test(name) ? redacted : redact(value);
    size += name.length + shown.length;
    if (size > maxSize) break;
    const all = Object.hasOwn(recorded, name) ? `${recorded[name]}, ${shown}` : shown;
    // An assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(recorded, name, { value: all, enumerable: true, writable: true });
    else recorded[name] = all;
  }
  return recorded;
}
