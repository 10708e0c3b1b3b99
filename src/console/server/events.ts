import { Duplex } from "node:stream";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import * as z from "zod/mini";
import { WebhookError } from "../../core/errors.ts";
import type { DeliveryKey, DeliverySummary } from "../protocol/deliveries.ts";
import type { ConsoleFeature, StreamMessage } from "../protocol/session.ts";
import type { Session } from "./access.ts";

interface ConsoleEventsOptions {
  /** Starts to report changes, and returns a function that stops. Called while a console is open. */
  watch?: () => () => void;
  /** Reads the row of a changed delivery. Without it, consoles reload the list. */
  readDelivery?: (key: DeliveryKey) => Promise<DeliverySummary | undefined>;
  /** Whether the server is closed, for a server that can start again. By default, `close()` is final. */
  isClosed?: () => boolean;
}

type Listener = (message: StreamMessage) => void;

/** How long changes are collected before they are sent. */
const collectMs = 200;
/** With more changes than this in one interval, consoles reload the list instead of receiving every row. */
const maxRows = 100;

/**
 * The live messages of a console. Changes are collected, so that a burst of deliveries does not cause a message for each. While no
 * console is open, changes cost nothing.
 */
export class ConsoleEvents {
  readonly #options: ConsoleEventsOptions;
  #unwatch: (() => void) | undefined;
  /** The value of each listener is called when the console closes. */
  readonly #listeners = new Map<Listener, () => void>();
  readonly #changedDeliveries = new Map<string, DeliveryKey>();
  readonly #changedFeatures = new Set<ConsoleFeature>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  #hasClosed = false;

  constructor(options: ConsoleEventsOptions = {}) {
    this.#options = options;
  }

  /** The number of open streams. */
  get subscribers(): number {
    return this.#listeners.size;
  }

  /** Whether the console is closed. A stream that is opened now would delay the shutdown of the server. */
  get isClosed(): boolean {
    return this.#options.isClosed?.() ?? this.#hasClosed;
  }

  /** Adds a listener. `onClose` is called when the console closes. Returns a function that removes the listener. */
  subscribe(listener: Listener, { onClose }: { onClose: () => void }): () => void {
    if (this.#listeners.size === 0) this.#unwatch = this.#options.watch?.();
    this.#listeners.set(listener, onClose);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#unwatch?.();
    };
  }

  /** Sends a message at once. */
  publish(message: StreamMessage): void {
    for (const listener of this.#listeners.keys()) listener(message);
  }

  /** Reports that a delivery is new or has changed. */
  deliveryChanged({ endpoint, id }: DeliveryKey): void {
    if (this.#listeners.size === 0) return;
    if (this.#changedDeliveries.size <= maxRows) this.#changedDeliveries.set(`${endpoint} ${id}`, { endpoint, id });
    this.#schedule();
  }

  /** Reports that the data of a feature has changed. */
  changed(...features: readonly ConsoleFeature[]): void {
    if (this.#listeners.size === 0) return;
    for (const feature of features) this.#changedFeatures.add(feature);
    this.#schedule();
  }

  /** Ends all streams, so that the server can stop. */
  close(): void {
    this.#hasClosed = true;
    clearTimeout(this.#timer);
    // A server that starts again sends changes again.
    this.#timer = undefined;
    for (const close of this.#listeners.values()) close();
  }

  #schedule(): void {
    // A row that is read slowly must not follow a newer state of the same row.
    if (this.#isSending) return;
    this.#timer ??= setTimeout(() => void this.#run(), collectMs);
    // Bun and edge workers have timers without this method.
    if (typeof this.#timer === "object" && "unref" in this.#timer) this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isSending = true;
    await this.#send();
    this.#isSending = false;
    if (this.#changedDeliveries.size + this.#changedFeatures.size > 0) this.#schedule();
  }

  async #send(): Promise<void> {
    const { readDelivery } = this.#options;
    const features = new Set(this.#changedFeatures);
    const keys = [...this.#changedDeliveries.values()];
    this.#changedFeatures.clear();
    this.#changedDeliveries.clear();
    const isReadable = readDelivery && keys.length <= maxRows;
    const rows = isReadable ? await Promise.all(keys.map((key) => readDelivery(key).catch(() => undefined))) : [];
    const deliveries = rows.filter((row) => row !== undefined);
    if (deliveries.length < keys.length) features.add("deliveries");
    // A list that lacks deliveries must not add newer ones above.
    if (features.size > 0) this.publish({ type: "changed", features: [...features] });
    if (deliveries.length > 0) this.publish({ type: "deliveries", deliveries });
  }
}

/** The maximum number of open streams: one per visible tab. The limit prevents forgotten tabs from exhausting the connections. */
const maxStreams = 50;
/** Proxies close idle connections after a minute or less. A client that has not read one heartbeat at the next one is stalled. */
const heartbeatMs = 15_000;
/** The maximum number of messages that wait for a client that does not read. The client reconnects, and loads the current state. */
const maxWaiting = 1_000;
/** The maximum length of the messages that wait, in characters. A single message can be longer. */
const maxWaitingLength = 4_194_304;

interface StreamOptions {
  events: ConsoleEvents;
  session: Session;
}

/**
 * Answers with the live messages as Server-Sent Events, until the client disconnects, stops reading, or signs out, or the console
 * closes.
 *
 * @throws `TOO_MANY_STREAMS` (503), `CLOSING` (503) if the console is closed.
 */
export function streamEvents(context: Context, { events, session }: StreamOptions): Response {
  // Hono answers HEAD like GET and drops the body, so the end of the stream would never be noticed.
  if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
  if (events.isClosed) throw closing();
  if (events.subscribers >= maxStreams) throw tooManyStreams();
  // nginx collects responses before it forwards them, unless this header is set.
  context.header("X-Accel-Buffering", "no");
  return streamSSE(context, async (stream) => {
    const ended = Promise.withResolvers<void>();
    let waiting = 0;
    let waitingLength = 0;
    const socket = socketOf(context);
    /** Ends the stream of a client that does not read, and discards what waits, also in the connection. */
    const drop = () => {
      stream.abort();
      socket?.destroy();
    };
    const send = async (message: StreamMessage) => {
      const data = JSON.stringify(message);
      if (waiting === maxWaiting || (waiting > 0 && waitingLength + data.length > maxWaitingLength)) {
        return drop();
      }
      waiting += 1;
      waitingLength += data.length;
      await stream.writeSSE({ data });
      waiting -= 1;
      waitingLength -= data.length;
    };
    let isHeartbeatWaiting = false;
    const unsubscribe = events.subscribe((message) => void send(message), {
      // A client that does not read would delay the shutdown of the server.
      onClose: () => (waiting > 0 || isHeartbeatWaiting || socket?.writableLength ? drop() : ended.resolve()),
    });
    const beat = async () => {
      if (isHeartbeatWaiting) return drop();
      if (session.hasExpired()) return stream.abort();
      isHeartbeatWaiting = true;
      await stream.write(": heartbeat\n\n");
      isHeartbeatWaiting = false;
    };
    const heartbeat = setInterval(() => void beat(), heartbeatMs);
    stream.onAbort(ended.resolve);
    const leave = () => stream.abort();
    socket?.once("end", leave);
    const unwatch = session.onSignOut(leave);
    // The first bytes show the client that the stream is open.
    await stream.write(": open\n\n");
    await ended.promise;
    clearInterval(heartbeat);
    socket?.off("end", leave);
    unwatch();
    unsubscribe();
  });
}

const bindings = z.object({ incoming: z.object({ socket: z.instanceof(Duplex) }) });

/**
 * Returns the socket of Node, which Hono's adapter passes with a request. The server leaves its side open for clients that send
 * their whole request and then end theirs. Clients of the stream only end theirs when they leave.
 */
function socketOf(context: Context): Duplex | undefined {
  return bindings.safeParse(context.env).data?.incoming.socket;
}

function closing(): WebhookError {
  return new WebhookError("The server is shutting down. Open the console again later.", {
    code: "CLOSING",
    status: 503,
    retryAfterSeconds: 5,
  });
}

function tooManyStreams(): WebhookError {
  return new WebhookError("Too many consoles are shown. Close other windows of the console.", {
    code: "TOO_MANY_STREAMS",
    status: 503,
    retryAfterSeconds: 30,
  });
}
