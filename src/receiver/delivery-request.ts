import type { Context } from "hono";
import { readBody } from "./body.ts";
import { routePrefix } from "./mount-point.ts";

/** The path below which every endpoint lies (the same as in the Hub's own Python library). */
export const webhooksPath = "/webhooks/";

/** A request that brings a delivery, as the way of a delivery needs it, whatever it came by. */
export interface DeliveryRequest {
  readonly method: string;
  /** The endpoint that its path names. */
  readonly endpointName: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Headers;
  /** Aborts when the sender hangs up before it is answered. */
  readonly signal: AbortSignal;
  /** What the runtime hands over with it: in a worker, its bindings. */
  readonly bindings: unknown;
  /** One header, by its name in small letters. */
  header(name: string): string | null;
  /**
   * The body as text, never more than `limit` bytes of it.
   *
   * @throws as {@link readBody} does.
   */
  readBody(limit: number): Promise<string>;
}

/** One that Hono has routed, in whatever runtime. */
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
    return readBody(this.#context, limit);
  }
}
