import type { DeliveryKey, DeliverySummary } from "../protocol/deliveries.ts";
import type { ConsoleFeature, StreamMessage } from "../protocol/session.ts";

export interface ConsoleEventsOptions {
  /** Reads the row of a changed delivery. Without it, consoles reload the list. */
  readDelivery?: (key: DeliveryKey) => Promise<DeliverySummary | undefined>;
  /** How long changes are collected before they are sent. Default `200`. */
  collectMs?: number;
  /** Whether the server is closed, for a server that can start again. By default, `close()` is final. */
  isClosed?: () => boolean;
}

type Listener = (message: StreamMessage) => void;

/** With more changes than this in one interval, consoles reload the list instead of receiving every row. */
const maxRows = 100;

/**
 * The live messages of a console. Changes are collected, so that a burst of deliveries does not cause a message for each. While no
 * console is open, changes cost nothing.
 */
export class ConsoleEvents {
  readonly #options: ConsoleEventsOptions;
  readonly #listeners = new Set<Listener>();
  readonly #closers = new Set<() => void>();
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
    this.#listeners.add(listener);
    this.#closers.add(onClose);
    return () => {
      this.#listeners.delete(listener);
      this.#closers.delete(onClose);
    };
  }

  /** Sends a message at once. */
  publish(message: StreamMessage): void {
    for (const listener of this.#listeners) listener(message);
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
    for (const close of this.#closers) close();
  }

  #schedule(): void {
    // A row that is read slowly must not follow a newer state of the same row.
    if (this.#isSending) return;
    this.#timer ??= setTimeout(() => void this.#run(), this.#options.collectMs ?? 200);
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
