import { WebhookError } from "../core/errors.ts";
import type { DeliveryCounts, DeliveryKey, DeliveryPage, Inbox, ListOptions, StoredDelivery } from "../inbox/inbox.ts";

/** Options of methods that look up a delivery by its ID. */
export interface DeliveryLookup {
  /** The name of the endpoint. Only required if two endpoints have a delivery with the same ID. */
  endpoint?: string;
}

/**
 * The deliveries of a server's background endpoints, as `server.inbox`. If the inbox is not open yet, each method opens it,
 * and the server then also starts to run queued deliveries.
 *
 * @example
 * ```ts
 * const { deliveries } = await server.inbox.list({ status: "dead" });
 * for (const { id, attempts } of deliveries) console.log(id, attempts.at(-1)?.error?.message);
 * await server.inbox.replayDead("retrain");
 * ```
 */
export class ServerInbox {
  readonly #open: () => Promise<Inbox>;

  /** @internal `open` returns the open inbox, or opens the inbox and starts to run its deliveries. */
  constructor(open: () => Promise<Inbox>) {
    this.#open = open;
  }

  /** Lists deliveries, newest first. @throws `OPTION_INVALID` when an option is invalid. */
  async list(options?: ListOptions): Promise<DeliveryPage> {
    return (await this.#open()).list(options);
  }

  /** Returns one delivery with its attempts, or `undefined` if the inbox does not contain the delivery. */
  async get(id: string, { endpoint }: DeliveryLookup = {}): Promise<StoredDelivery | undefined> {
    const inbox = await this.#open();
    if (endpoint !== undefined) return inbox.get({ id, endpoint });
    for (const name of Object.keys(await inbox.counts())) {
      const found = await inbox.get({ id, endpoint: name });
      if (found) return found;
    }
    return undefined;
  }

  /** Runs a delivery again, regardless of its status. @throws `DELIVERY_UNKNOWN` when the inbox does not contain it. */
  async replay(id: string, lookup: DeliveryLookup = {}): Promise<void> {
    await (await this.#open()).replay(await this.#find(id, lookup));
  }

  /** Runs every dead delivery of an endpoint again. Returns the number of these deliveries. */
  async replayDead(endpoint: string): Promise<number> {
    return (await this.#open()).replayDead(endpoint);
  }

  /**
   * Discards a queued or dead delivery. It does not run, but can be replayed. Has no effect if the delivery has succeeded or was
   * discarded.
   *
   * @throws `DELIVERY_UNKNOWN` when the inbox does not contain the delivery, `DELIVERY_RUNNING` while the delivery is running.
   */
  async discard(id: string, lookup: DeliveryLookup = {}): Promise<void> {
    await (await this.#open()).discard(await this.#find(id, lookup));
  }

  /**
   * Pauses an endpoint in all processes of the inbox, also after restarts. The server still accepts and stores the endpoint's
   * deliveries, but does not run them. Running deliveries finish.
   */
  async pause(endpoint: string): Promise<void> {
    await (await this.#open()).pause(endpoint);
  }

  /** Resumes an endpoint, whose deliveries run again within a second. */
  async resume(endpoint: string): Promise<void> {
    await (await this.#open()).resume(endpoint);
  }

  /** Returns the names of the paused endpoints, sorted. */
  async pausedEndpoints(): Promise<readonly string[]> {
    return (await this.#open()).pausedEndpoints();
  }

  /** Returns the number of deliveries by endpoint and status. */
  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return (await this.#open()).counts();
  }

  /**
   * Deletes deliveries whose retention period has ended, which also happens every hour. Returns the number of deleted
   * deliveries.
   */
  async prune(): Promise<number> {
    return (await this.#open()).prune();
  }

  async #find(id: string, lookup: DeliveryLookup): Promise<DeliveryKey> {
    const found = await this.get(id, lookup);
    if (found) return { id, endpoint: found.endpoint };
    throw new WebhookError(`Unknown delivery "${id}". List the deliveries in the inbox with list().`, {
      code: "DELIVERY_UNKNOWN",
      status: 404,
    });
  }
}
