import type { Context } from "hono";
import { webhooksPath } from "../core/urls.ts";
import { readHonoBody } from "../http/body.ts";
import { routePrefix } from "./app.ts";

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

  captureHeaders(): () => Iterable<readonly [name: string, value: string]> {
    const { headers } = this;
    return () => headers.entries();
  }

  readBody(limit: number): Promise<string> {
    return readHonoBody(this.#context, limit);
  }
}
