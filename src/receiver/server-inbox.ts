import { WebhookError } from "../core/errors.ts";
import type { DeliveryCounts, DeliveryPage, Inbox, ListOptions, StoredDelivery } from "../inbox/inbox.ts";

/** Narrows the search for a delivery. */
export interface DeliveryLookup {
  /** Required only if two endpoints have a delivery with the same id. */
  endpoint?: string;
}

/**
 * The deliveries of a server's background endpoints: `server.inbox`.
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

  /** @internal `open` opens the inbox, or returns the open one. */
  constructor(open: () => Promise<Inbox>) {
    this.#open = open;
  }

  /** Lists deliveries, newest first. @throws `OPTION_INVALID`. */
  async list(options?: ListOptions): Promise<DeliveryPage> {
    return (await this.#open()).list(options);
  }

  /** Reads one delivery with its attempts. */
  async get(id: string, { endpoint }: DeliveryLookup = {}): Promise<StoredDelivery | undefined> {
    const inbox = await this.#open();
    if (endpoint !== undefined) return inbox.get({ id, endpoint });
    for (const name of Object.keys(await inbox.counts())) {
      const found = await inbox.get({ id, endpoint: name });
      if (found) return found;
    }
    return undefined;
  }

  /** Runs a delivery again, in any status. @throws `DELIVERY_UNKNOWN`. */
  async replay(id: string, lookup: DeliveryLookup = {}): Promise<void> {
    const found = await this.get(id, lookup);
    if (!found) {
      throw new WebhookError(`Unknown delivery "${id}". List the deliveries in the inbox with list().`, {
        code: "DELIVERY_UNKNOWN",
        status: 404,
      });
    }
    await (await this.#open()).replay({ id, endpoint: found.endpoint });
  }

  /** Runs every dead delivery of an endpoint again. Returns their number. */
  async replayDead(endpoint: string): Promise<number> {
    return (await this.#open()).replayDead(endpoint);
  }

  /** How many deliveries each endpoint has in each status. */
  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return (await this.#open()).counts();
  }

  /** Deletes deliveries that finished before their endpoint's `retention`, as happens every hour. Returns their number. */
  async prune(): Promise<number> {
    return (await this.#open()).prune();
  }
}
