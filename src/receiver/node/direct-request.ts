import type { IncomingMessage, ServerResponse } from "node:http";
import { checkAnnounced, decodeText, readIncoming } from "../body.ts";
import { type DeliveryRequest, webhooksPath } from "../delivery-request.ts";
import { hasDuplicateHeader } from "./request-head.ts";

/** A request of Node's server and the answer to it. */
export interface Exchange {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** Whether the body was taken out in one go: all of it was there, though Node has not come to its end yet. */
  bodyIsTaken: boolean;
}

/** A host and perhaps a port: what is anything else is for the adapter to judge. */
const plainHost = /^[\w.-]+(?::\d+)?$/;

/** The last one that was looked at and found good: it is nearly always the same. */
let goodHost: string | undefined;

function isHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (host === goodHost) return true;
  if (!plainHost.test(host) || !URL.canParse(`http://${host}`)) return false;
  goodHost = host;
  return true;
}

/**
 * A delivery as it comes over a socket of Node. Making a `Request` of it, having it routed and making a `Response` cost as
 * much as all the rest of a delivery, and none of it is asked for in nearly every one.
 */
export class DirectRequest implements DeliveryRequest {
  readonly bindings = undefined;
  readonly endpointName: string;
  readonly #exchange: Exchange;
  #headers: Headers | undefined;
  #controller: AbortController | undefined;

  private constructor(exchange: Exchange, endpointName: string) {
    this.#exchange = exchange;
    this.endpointName = endpointName;
  }

  /**
   * The request as a delivery, where it looks as those of the Hub do: POST to a path that needs no decoding, without a
   * query. Whatever else comes is none, and goes the long way.
   */
  static from(exchange: Exchange): DirectRequest | undefined {
    const { method, url = "", headers, rawHeaders } = exchange.incoming;
    if (method !== "POST" || !url.startsWith(webhooksPath)) return undefined;
    // Of two types Node keeps the first.
    if (!isHost(headers.host) || hasDuplicateHeader(rawHeaders, "content-type")) return undefined;
    return new DirectRequest(exchange, url.slice(webhooksPath.length));
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
      const { rawHeaders } = this.#exchange.incoming;
      for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
        this.#headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
      }
    }
    return this.#headers;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const { outgoing } = this.#exchange;
      const onClose = () => {
        if (!outgoing.writableFinished)
          controller.abort(new Error("The connection ended before the delivery was answered."));
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

  /**
   * A body that came in one packet with its headers is taken out of Node's stream as soon as it is in there: the events
   * of that stream cost more than the checking of a payload.
   */
  async readBody(limit: number): Promise<string> {
    const { incoming } = this.#exchange;
    const { headers } = incoming;
    const length = headers["content-length"];
    checkAnnounced({ encoding: headers["content-encoding"], length }, limit);
    // By this `handleClientErrors` knows that somebody reads, who finds the reason in `incoming.errored`.
    incoming.on("error", () => {});
    // Node's parser goes on from the headers to what came with them. Where it does not, the events tell.
    await undefined;
    // A parser that was told to be insecure takes both headers, and then the length is a lie.
    const isThere = incoming.readableLength === Number(length) && headers["transfer-encoding"] === undefined;
    if (!isThere || incoming.destroyed) return readIncoming(incoming, limit);
    this.#exchange.bodyIsTaken = true;
    const bytes: Uint8Array | null = incoming.read();
    return bytes ? decodeText(bytes) : "";
  }
}
