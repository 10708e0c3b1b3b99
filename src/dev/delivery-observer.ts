import type { IncomingMessage, ServerResponse } from "node:http";
import { WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { hopByHopHeaders, webhooksPath } from "../core/urls.ts";
import type { ProxiedDelivery, ReplayResult } from "./dev-event.ts";

/** A delivery that the proxy is forwarding. */
export interface ObservedDelivery {
  /**
   * Keeps the body for a replay. Call this method before the body is forwarded. Otherwise, the delivery cannot be
   * replayed.
   */
  keepBody(): void;
  /** Records why the server did not answer. The reason is part of the reported delivery. */
  setFailure(reason: string): void;
}

interface RecordedDelivery {
  path: string;
  headers: Headers;
  body: Buffer<ArrayBuffer>;
}

/** The timeout of a replay. It is longer than the timeout of a handler that answers inline. */
const replayTimeoutMs = 60_000;
/** The maximum size of a body that is kept, in bytes. Hub payloads are smaller. */
const maxBodyBytes = 10 * 1024 * 1024;
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 429]);
/** Headers to drop from a replay in addition to the hop-by-hop headers, because `fetch` sets or rejects them. */
const replacedHeaders: readonly string[] = ["content-length", "expect", "host"];

/**
 * Whether a response status means that the request was not authenticated or was not a delivery. The session does not keep such a
 * request for a replay.
 */
export function isRefusal(status: number): boolean {
  return refusals.has(status);
}

/**
 * Reports answered deliveries, and keeps the latest authenticated delivery for a replay. The delivery is kept only in
 * memory, because its headers contain the secret.
 */
export class DeliveryObserver {
  #latest: RecordedDelivery | undefined;

  /**
   * Starts to observe a request, and calls `onAnswered` when the delivery is answered. Returns `undefined` if the
   * request is not a delivery.
   */
  observe({
    incoming,
    outgoing,
    onAnswered,
  }: {
    incoming: IncomingMessage;
    outgoing: ServerResponse;
    onAnswered: (delivery: ProxiedDelivery) => void;
  }): ObservedDelivery | undefined {
    const { method, url: path = "" } = incoming;
    if (method !== "POST" || !path.startsWith(webhooksPath)) return undefined;
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    let length = 0;
    let isBodyKept = false;
    let failure: string | undefined;
    const deliveryId = incoming.headers["webhook-id"];
    outgoing.once("finish", () => {
      const status = outgoing.statusCode;
      if (isBodyKept && incoming.complete && length <= maxBodyBytes && !isRefusal(status)) {
        this.#latest = { path, headers: replayHeaders(incoming), body: Buffer.concat(chunks) };
      }
      onAnswered({
        endpoint: endpointOf(path),
        ...(typeof deliveryId === "string" && { deliveryId }),
        status,
        durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(failure !== undefined && { reason: failure }),
      });
    });
    return {
      keepBody() {
        isBodyKept = true;
        incoming.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length <= maxBodyBytes) chunks.push(chunk);
        });
      },
      setFailure(reason) {
        failure = reason;
      },
    };
  }

  /**
   * Sends the latest delivery to the server on this port with a new ID. Returns `undefined` if there is no delivery
   * yet.
   *
   * @throws `NO_RESPONSE` if the server stops during the replay or does not answer within 60 s.
   */
  async replay(port: number): Promise<ReplayResult | undefined> {
    if (!this.#latest) return undefined;
    const { path, headers: recorded, body } = this.#latest;
    const deliveryId = crypto.randomUUID();
    const headers = new Headers(recorded);
    headers.set("webhook-id", deliveryId);
    try {
      const response = await directFetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(replayTimeoutMs),
      });
      await response.body?.cancel();
      return { endpoint: endpointOf(path), deliveryId, status: response.status };
    } catch (cause) {
      const message = "The replay received no response, because the server stopped or took too long. Try again.";
      throw new WebhookError(message, { code: "NO_RESPONSE", cause });
    }
  }
}

function endpointOf(path: string): string {
  return path.slice(webhooksPath.length).replace(/[?#].*$/, "");
}

function replayHeaders({ headers }: IncomingMessage): Headers {
  const dropped = new Set([...hopByHopHeaders(headers.connection), ...replacedHeaders]);
  const entries = Object.entries(headers).filter(([name]) => !dropped.has(name));
  return new Headers(
    entries.map(([name, value]): [string, string] => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
