import type { DeliveryKey, DeliveryStatus } from "../../../inbox/inbox.ts";
import type { ServerInbox } from "../../../receiver/server-inbox.ts";
import { type DeliverySummary, listDeliveries, summarize } from "./delivery-list.ts";

/** How many of the newest deliveries each poll compares, finished ones too: they may be replayed. */
const pageSize = 100;
/** How many new deliveries one poll reads. */
const maxNew = 1_000;
/** How many are remembered; the least recently changed are forgotten. */
const maxFollowed = 2_000;

/** The result of a poll. */
export interface PollResult {
  /** New or changed deliveries, oldest first. */
  changed: readonly DeliverySummary[];
  /** Whether more deliveries arrived since the previous poll than one poll reads. */
  hasMissed: boolean;
}

interface Followed extends DeliveryKey {
  /** Changes with every status and every attempt. */
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
  // In the order of their latest change.
  readonly #followed = new Map<string, Followed>();

  /** @param options.endpoint Follows only this endpoint. Default: all. */
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
    // Includes changes made in the meantime.
    this.#record(shown.deliveries);
    return shown.deliveries;
  }

  async poll(): Promise<PollResult> {
    const { newest, hasMissed } = await this.#readNewest();
    const others = await this.#readUnfinished(new Set(newest.map(keyOf)));
    return { changed: this.#record([...others, ...newest.reverse()]), hasMissed };
  }

  /** The newest, down to the oldest that is already followed: older ones existed before. */
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

  /** Unfinished deliveries that are no longer among the newest. */
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

  /** Follows these, and returns those that have changed. */
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
