import type { DeliveryKey, DeliveryStatus } from "../../../inbox/inbox.ts";
import type { ServerInbox } from "../../../receiver/background/server-inbox.ts";
import { type DeliverySummary, listDeliveries, summarize } from "./delivery-list.ts";

/**
 * The number of newest deliveries that each poll compares. Finished deliveries are included, because they may be
 * replayed.
 */
const pageSize = 100;
/** The maximum number of new deliveries that one poll reads. */
const maxNew = 1_000;
/** The maximum number of deliveries to follow. The least recently changed deliveries are dropped first. */
const maxFollowed = 2_000;

/** The result of a poll. */
export interface PollResult {
  /** New or changed deliveries, oldest first. */
  changed: readonly DeliverySummary[];
  /** Whether more deliveries arrived since the previous poll than one poll reads. */
  hasMissed: boolean;
}

interface Followed extends DeliveryKey {
  /** A text that changes with every status and every attempt. */
  state: string;
  isDone: boolean;
}

/**
 * Finds new and changed deliveries in an inbox by polling. Follows the newest deliveries, and all later ones until they
 * are finished; ignores older ones.
 */
export class DeliveryFollower {
  readonly #inbox: ServerInbox;
  readonly #filter: { endpoint?: string };
  // Ordered by the latest change of each delivery.
  readonly #followed = new Map<string, Followed>();

  /** @param options.endpoint The only endpoint to follow. Default: all endpoints. */
  constructor({ inbox, endpoint }: { inbox: ServerInbox; endpoint: string | undefined }) {
    this.#inbox = inbox;
    this.#filter = endpoint === undefined ? {} : { endpoint };
  }

  /** Starts following. Returns the latest `last` existing deliveries, optionally of one status, oldest first. */
  async start({ last, status }: { last: number; status: DeliveryStatus | undefined }): Promise<DeliverySummary[]> {
    const { deliveries } = await listDeliveries(this.#inbox, { ...this.#filter, limit: pageSize });
    this.#record(deliveries.reverse());
    if (last === 0) return [];
    const shown = await listDeliveries(this.#inbox, { ...this.#filter, ...(status && { status }), limit: last });
    shown.deliveries.reverse();
    // The second list includes changes that were made after the first one.
    this.#record(shown.deliveries);
    return shown.deliveries;
  }

  async poll(): Promise<PollResult> {
    const { newest, hasMissed } = await this.#readNewest();
    const others = await this.#readUnfinished(new Set(newest.map(keyOf)));
    return { changed: this.#record([...others, ...newest.reverse()]), hasMissed };
  }

  /**
   * Reads the newest deliveries, down to the oldest one that is already followed. Deliveries before that are older than
   * the start.
   */
  async #readNewest(): Promise<{ newest: DeliverySummary[]; hasMissed: boolean }> {
    const isFollowed = (delivery: DeliverySummary) => this.#followed.has(keyOf(delivery));
    const newest: DeliverySummary[] = [];
    let next: string | undefined;
    do {
      const page = await listDeliveries(this.#inbox, {
        ...this.#filter,
        limit: pageSize,
        ...(next !== undefined && { cursor: next }),
      });
      newest.push(...page.deliveries);
      next = page.next;
    } while (next !== undefined && newest.length < maxNew && !newest.some(isFollowed));
    const oldest = newest.findLastIndex(isFollowed);
    return {
      newest: oldest === -1 ? newest : newest.slice(0, oldest + 1),
      hasMissed: oldest === -1 && next !== undefined,
    };
  }

  /** Reads the unfinished deliveries that are no longer among the newest. */
  async #readUnfinished(seen: ReadonlySet<string>): Promise<DeliverySummary[]> {
    const found: DeliverySummary[] = [];
    for (const [key, { id, endpoint, isDone }] of this.#followed) {
      if (isDone || seen.has(key)) continue;
      const delivery = await this.#inbox.get(id, { endpoint });
      if (delivery) found.push(summarize(delivery));
      else this.#followed.delete(key);
    }
    return found;
  }

  /** Follows these deliveries, and returns the ones that have changed. */
  #record(deliveries: readonly DeliverySummary[]): DeliverySummary[] {
    const changed = deliveries.filter((delivery) => {
      const { id, endpoint, status, attempts } = delivery;
      const key = keyOf(delivery);
      const state = `${status} ${attempts.length}`;
      const before = this.#followed.get(key);
      this.#followed.delete(key);
      this.#followed.set(key, { id, endpoint, state, isDone: status === "succeeded" || status === "dead" });
      return before?.state !== state;
    });
    for (const key of this.#followed.keys()) {
      if (this.#followed.size <= maxFollowed) break;
      this.#followed.delete(key);
    }
    return changed;
  }
}

function keyOf({ id, endpoint }: DeliveryKey): string {
  return `${endpoint} ${id}`;
}
