import type { DeliveryKey } from "../../../inbox/inbox.ts";
import type { DeliveryStatus } from "../../../inbox/stored-delivery.ts";
import type { ServerInbox } from "../../../receiver/server-inbox.ts";
import { type DeliverySummary, listDeliveries, summarize } from "./delivery-result.ts";

/** How many of the newest are compared at each look, done ones too: one of them may be replayed. */
const compared = 100;
/** How many can be new at one look. */
const mostNew = 1_000;
/** How many are remembered; those that changed least lately are forgotten. */
const mostFollowed = 2_000;

/** What {@link DeliveryFollower} needs. */
export interface DeliveryFollowerOptions {
  inbox: ServerInbox;
  /** Follows those of this endpoint alone. */
  endpoint: string | undefined;
}

/** What a look has found. */
export interface Look {
  /** What is new or has changed, oldest first. */
  changed: readonly DeliverySummary[];
  /** Whether more arrived since the look before than one look can find. */
  hasMissed: boolean;
}

interface Followed extends DeliveryKey {
  /** Changes with every status and every attempt. */
  state: string;
  isDone: boolean;
}

/**
 * Finds what is new in an inbox, and what has changed, by looking again and again. It follows the newest deliveries and
 * all that arrive from then on until they are done; what is older is not looked at.
 */
export class DeliveryFollower {
  readonly #inbox: ServerInbox;
  readonly #filter: { endpoint?: string };
  // In the order in which they were seen last.
  readonly #followed = new Map<string, Followed>();

  constructor({ inbox, endpoint }: DeliveryFollowerOptions) {
    this.#inbox = inbox;
    this.#filter = endpoint === undefined ? {} : { endpoint };
  }

  /** Begins to follow. Returns the `last` so many of those that are there, of one status or all, oldest first. */
  async begin({ last, status }: { last: number; status: DeliveryStatus | undefined }): Promise<DeliverySummary[]> {
    const { deliveries } = await listDeliveries(this.#inbox, { ...this.#filter, limit: compared });
    this.#note(deliveries.reverse());
    if (last === 0) return [];
    const shown = await listDeliveries(this.#inbox, { ...this.#filter, ...(status && { status }), limit: last });
    shown.deliveries.reverse();
    // What changed meanwhile is shown, and so known.
    this.#note(shown.deliveries);
    return shown.deliveries;
  }

  /** Looks again. */
  async look(): Promise<Look> {
    const { newest, hasMissed } = await this.#lookAtNewest();
    const others = await this.#lookAtOthers(new Set(newest.map(keyOf)));
    return { changed: this.#note([...others, ...newest.reverse()]), hasMissed };
  }

  /** The newest, down to the oldest of them that is followed: what is older was there before. */
  async #lookAtNewest(): Promise<{ newest: DeliverySummary[]; hasMissed: boolean }> {
    const isFollowed = (delivery: DeliverySummary) => this.#followed.has(keyOf(delivery));
    const newest: DeliverySummary[] = [];
    let next: string | undefined;
    do {
      const page = await listDeliveries(this.#inbox, {
        ...this.#filter,
        limit: compared,
        ...(next !== undefined && { cursor: next }),
      });
      newest.push(...page.deliveries);
      next = page.next;
    } while (next !== undefined && newest.length < mostNew && !newest.some(isFollowed));
    const oldest = newest.findLastIndex(isFollowed);
    return {
      newest: oldest === -1 ? newest : newest.slice(0, oldest + 1),
      hasMissed: oldest === -1 && next !== undefined,
    };
  }

  /** Those that are not done, and not among the newest any more. */
  async #lookAtOthers(seen: ReadonlySet<string>): Promise<DeliverySummary[]> {
    const found: DeliverySummary[] = [];
    for (const [key, { id, endpoint, isDone }] of this.#followed) {
      if (isDone || seen.has(key)) continue;
      const delivery = await this.#inbox.get(id, { endpoint });
      if (delivery) found.push(summarize(delivery));
      else this.#followed.delete(key);
    }
    return found;
  }

  /** Follows these, and returns those that are not as they were. */
  #note(deliveries: readonly DeliverySummary[]): DeliverySummary[] {
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
      if (this.#followed.size <= mostFollowed) break;
      this.#followed.delete(key);
    }
    return changed;
  }
}

function keyOf({ id, endpoint }: DeliveryKey): string {
  return `${endpoint} ${id}`;
}
