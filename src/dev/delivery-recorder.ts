import type { IncomingMessage, ServerResponse } from "node:http";
import { WebhookError } from "../core/errors.ts";
import { hopByHopHeaders } from "../core/http-headers.ts";
import { webhooksPath } from "../receiver/delivery-request.ts";
import type { PassedDelivery, Replayed } from "./passed-delivery.ts";

/** A delivery on its way. */
export interface ObservedDelivery {
  /** It is passed on from now: what comes of its body is kept. */
  follow(): void;
  /** The server does not answer it. */
  giveUp(reason: string): void;
}

/** What is kept of a delivery to send it once more. */
interface Kept {
  path: string;
  headers: Headers;
  body: Buffer<ArrayBuffer>;
}

/** More than the time limit of a handler that is to answer the Hub. */
const longestReplayMs = 60_000;
/** A longer body is no payload of the Hub. */
const longestKept = 10 * 1024 * 1024;
/** Answers to a stranger, or to a request that is no delivery: nothing worth sending again. */
const notDelivered: ReadonlySet<number> = new Set([401, 403, 404, 405, 429]);
/** Beside the hop-by-hop headers: what the request that replays it sets itself. */
const setAgain: readonly string[] = ["content-length", "expect", "host"];

/** Remembers the latest delivery, to send it once more. In memory only: it holds the secret it came with. */
export class LatestDelivery {
  #kept: Kept | undefined;

  /**
   * Tells when a request is answered, if it is a delivery. One that is passed on is to be followed, from the first byte
   * of its body: others are not kept.
   */
  observe(request: {
    incoming: IncomingMessage;
    outgoing: ServerResponse;
    onAnswered: (delivery: PassedDelivery) => void;
  }): ObservedDelivery | undefined {
    const { incoming, outgoing, onAnswered } = request;
    const { method, url: path = "" } = incoming;
    if (method !== "POST" || !path.startsWith(webhooksPath)) return undefined;
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    let length = 0;
    let isFollowed = false;
    let givenUp: string | undefined;
    const deliveryId = incoming.headers["webhook-id"];
    outgoing.once("finish", () => {
      const status = outgoing.statusCode;
      if (isFollowed && incoming.complete && length <= longestKept && !notDelivered.has(status)) {
        this.#kept = { path, headers: keptHeaders(incoming), body: Buffer.concat(chunks) };
      }
      onAnswered({
        endpoint: endpointOf(path),
        ...(typeof deliveryId === "string" && { deliveryId }),
        status,
        durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(givenUp !== undefined && { reason: givenUp }),
      });
    });
    const keep = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= longestKept) chunks.push(chunk);
    };
    const follow = () => {
      isFollowed = true;
      incoming.on("data", keep);
    };
    const giveUp = (reason: string) => {
      givenUp = reason;
    };
    return { follow, giveUp };
  }

  /**
   * Sends it to the server on this port. `undefined`: there was none yet.
   *
   * @throws `CLOSING` when the server goes away meanwhile.
   */
  async replay(port: number): Promise<Replayed | undefined> {
    if (!this.#kept) return undefined;
    const { path, headers: given, body } = this.#kept;
    const deliveryId = crypto.randomUUID();
    const headers = new Headers(given);
    headers.set("webhook-id", deliveryId);
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(longestReplayMs),
      });
      await response.body?.cancel();
      return { endpoint: endpointOf(path), deliveryId, status: response.status };
    } catch (cause) {
      throw new WebhookError("The replay got no answer: the server went away meanwhile, or took too long. Try again.", {
        code: "CLOSING",
        cause,
      });
    }
  }
}

function endpointOf(path: string): string {
  return path.slice(webhooksPath.length).replace(/[?#].*$/, "");
}

function keptHeaders({ headers }: IncomingMessage): Headers {
  const dropped = new Set([...hopByHopHeaders(headers.connection), ...setAgain]);
  const entries = Object.entries(headers).filter(([name]) => !dropped.has(name));
  return new Headers(
    entries.map(([name, value]): [string, string] => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
