import { setTimeout as delay } from "node:timers/promises";

/** The pause after which a stream sends a comment, so that clients and proxies do not close the connection. As on the Hub. */
const keepAliveMs = 30_000;

/** Something whose state changes, until it ends. */
export interface EventSource {
  nextChange: () => Promise<void>;
  /** Returns the events that were not read before. */
  read: () => readonly object[];
  isActive: () => boolean;
}

/** Streams events as server-sent events: calls `read` until it returns no events, and again after each change, until the source ends. */
export function streamEvents(source: EventSource): ReadableStream<Uint8Array> {
  const canceled = new AbortController();
  return streamTexts(textsOf(source, canceled.signal), canceled);
}

/** Streams texts, and aborts `canceled` when the client disconnects. */
export function streamTexts(texts: AsyncGenerator<string, void, undefined>, canceled: AbortController) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => canceled.abort(),
  });
}

/** Converts a line of a log to an event. */
export function toLine({ timestamp, data }: { timestamp: number; data: string }) {
  return { timestamp: new Date(timestamp).toISOString(), data };
}

export function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

async function* textsOf({ nextChange, read, isActive }: EventSource, signal: AbortSignal) {
  // Sends the headers of the response before the first event.
  yield ": stream\n\n";
  while (!signal.aborted) {
    // The promise is created before the read, so that no change is missed.
    const changed = nextChange();
    const wasActive = isActive();
    const events = read();
    if (events.length > 0) yield events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    else if (!wasActive) return;
    else if (!(await waitForChange(changed, signal))) yield ": keep-alive\n\n";
  }
}

/** Resolves with whether the source changed before the next comment is due. */
async function waitForChange(changed: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const pause = delay(keepAliveMs, false, { signal: AbortSignal.any([signal, stop.signal]), ref: false });
  try {
    return await Promise.race([changed.then(() => true), pause.catch(() => true)]);
  } finally {
    stop.abort();
  }
}

export class Changes {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  next(id: string): Promise<void> {
    let waiting = this.#waiting.get(id);
    if (!waiting) {
      waiting = Promise.withResolvers<void>();
      this.#waiting.set(id, waiting);
    }
    return waiting.promise;
  }

  notify(id: string): void {
    this.#waiting.get(id)?.resolve();
    this.#waiting.delete(id);
  }
}
