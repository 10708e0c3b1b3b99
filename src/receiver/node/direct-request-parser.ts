import { webhooksPath } from "../../core/paths.ts";
import type { Exchange } from "../../http-server/exchange.ts";
import { hasDuplicateHeader } from "../../http-server/request-head.ts";
import type { DeliveryRequest } from "../pipeline/delivery-request.ts";

/** A plain hostname with an optional port. Hono's adapter checks requests with other hosts. */
const plainHost = /^[\w.-]+(?::\d+)?$/;

/**
 * Recognizes deliveries that can skip Hono. Create one parser for each listener, because it caches the last valid `Host`.
 */
export class DirectRequestParser {
  /** The last valid `Host`, because most requests have the same `Host`, and parsing it is expensive. */
  #validHost: string | undefined;

  /**
   * Returns a delivery for a POST to a path below `/webhooks/`. The rest of the path is the endpoint name: `deliver` only
   * accepts exact names, so a path with a query or encoded characters is left to Hono. Returns `undefined` for any other
   * request.
   */
  parse(exchange: Exchange): DirectRequest | undefined {
    const { method, url = "", headers, rawHeaders } = exchange.incoming;
    if (method !== "POST" || !url.startsWith(webhooksPath)) return undefined;
    // Leaves a duplicate Content-Type to Hono, because Node keeps only the first one.
    if (!this.#isValidHost(headers.host) || hasDuplicateHeader(rawHeaders, "content-type")) return undefined;
    return new DirectRequest(exchange, url.slice(webhooksPath.length));
  }

  #isValidHost(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (host === this.#validHost) return true;
    if (!plainHost.test(host) || !URL.canParse(`http://${host}`)) return false;
    this.#validHost = host;
    return true;
  }
}

/** A delivery that is read directly from Node's HTTP server. The headers and signal are created on first use. */
class DirectRequest implements DeliveryRequest {
  readonly bindings = undefined;
  readonly endpointName: string;
  readonly #exchange: Exchange;
  #headers: Headers | undefined;
  #controller: AbortController | undefined;

  constructor(exchange: Exchange, endpointName: string) {
    this.#exchange = exchange;
    this.endpointName = endpointName;
  }

  get method(): string {
    return "POST";
  }

  get url(): string {
    const { headers, url } = this.#exchange.incoming;
    return `http://${headers.host}${url}`;
  }

  get headers(): Headers {
    if (!this.#headers) {
      this.#headers = new Headers();
      for (const [name, value] of headerPairs(this.#exchange.incoming.rawHeaders)) this.#headers.append(name, value);
    }
    return this.#headers;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const { outgoing } = this.#exchange;
      const onClose = () => {
        if (outgoing.writableFinished) return;
        controller.abort(new Error("The connection ended before the response was sent."));
      };
      if (outgoing.closed) onClose();
      else outgoing.once("close", onClose);
    }
    return this.#controller.signal;
  }

  header(name: string): string | null {
    const value = this.#exchange.incoming.headers[name];
    return (Array.isArray(value) ? value.join(", ") : value) ?? null;
  }

  captureHeaders(): () => Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.#exchange.incoming;
    return () => headerPairs(rawHeaders);
  }

  readBody(limit: number): Promise<string> {
    return this.#exchange.readBody(limit);
  }
}

function* headerPairs(rawHeaders: readonly string[]): Iterable<readonly [name: string, value: string]> {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    yield [rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""];
  }
}
