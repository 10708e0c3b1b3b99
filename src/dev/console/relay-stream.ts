import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod/mini";
import type { DeliverySummary } from "../../console/protocol/deliveries.ts";
import { consoleFeatures } from "../../console/protocol/session.ts";
import type { StreamMessage } from "../../console/protocol/stream.ts";
import { directFetch } from "../../core/fetch.ts";
import { readEvents } from "../../hub/transport/event-stream.ts";
import { serverApiUrl } from "./forward.ts";

const deliveryRow = z.custom<DeliverySummary>(
  (value) => typeof value === "object" && value !== null && "id" in value && "endpoint" in value && "status" in value,
);
/** The messages of a receiver. */
const relayed = z.discriminatedUnion("type", [
  z.object({ type: z.literal("deliveries"), deliveries: z.array(deliveryRow) }),
  z.object({ type: z.literal("changed"), features: z.array(z.enum(consoleFeatures)) }),
]);

export interface RelayOptions {
  port: number;
  token: string;
  publish: (message: StreamMessage) => void;
  /** Called when the stream is open, because messages may have been missed before. */
  onConnected: () => void;
  /** Ends the relay. */
  signal: AbortSignal;
  /** The pause before a lost stream is opened again. Default `1000`. */
  retryMs?: number;
}

/** A stream without data for this time is lost, because the server sends a heartbeat every 15 s. In milliseconds. */
const maxSilenceMs = 45_000;
/** The maximum length of a message, in characters. Many rows with long errors can have more than the default of 1,000,000. */
const maxMessageLength = 4_194_304;

/** Passes on the live messages of the server's console until `signal` aborts, and reconnects if the stream ends. Never rejects. */
export async function relayStream(options: RelayOptions): Promise<void> {
  const { signal, retryMs = 1_000 } = options;
  while (!signal.aborted) {
    try {
      await readMessages(options);
    } catch {
      // The server may have stopped. The session then ends this relay, and starts another when the next process serves.
    }
    await wait(retryMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function readMessages({ port, token, publish, onConnected, signal }: RelayOptions): Promise<void> {
  const response = await directFetch(serverApiUrl(port, "/stream"), {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body) return response.body?.cancel();
  onConnected();
  for await (const event of readEvents(response, { signal, timeoutMs: maxSilenceMs, maxLineChars: maxMessageLength })) {
    const message = relayed.safeParse(event).data;
    if (message) publish(message);
  }
}
