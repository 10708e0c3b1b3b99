import type { Delivery } from "../../payload/delivery.ts";
import { FailedIds } from "./failed-ids.ts";
import type { RecentAttempt, RecentRun } from "./recent-run.ts";
import type { HeaderEntries } from "./request-headers.ts";

/** The maximum number of runs that are kept in memory. */
const maxRuns = 500;
/** The maximum memory of the kept runs, in bytes. */
const maxBytes = 16 * 1024 * 1024;

/** A delivery that no inbox stores: a delivery of an inline endpoint, or one that the filter ignored. */
export interface RecentDelivery extends Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt"> {
  /** The request headers. Read on demand, because most deliveries are never opened. */
  headers?: (() => HeaderEntries) | undefined;
  /** The ID of the delivery that this one repeats. */
  replayOf?: string | undefined;
  /** Oldest first. */
  attempts: readonly RecentAttempt[];
}

/**
 * The latest deliveries that no inbox stores, for the console: at most 500 runs, and at most 16 MiB. They are lost when the process
 * exits.
 *
 * The runs are in a ring of fixed size, and are only grouped into deliveries when they are read: a map of deliveries took four
 * times as long per delivery, mostly to find its oldest entry after many deletions.
 */
export class RecentDeliveries {
  /** More deliveries than are kept, to recognize those that the Hub sends again. */
  readonly failed = new FailedIds();
  readonly #ring: (RecentRun | undefined)[] = new Array(maxRuns).fill(undefined);
  /** The place of the next run. */
  #next = 0;
  #count = 0;
  #bytes = 0;

  /** The kept deliveries, oldest first. A delivery that was sent again has several attempts, and the position of the last. */
  values(): Iterable<RecentDelivery> {
    const deliveries = new Map<string, RecentRun[]>();
    for (const run of this.#runs()) {
      const key = `${run.endpoint} ${run.id}`;
      const earlier = deliveries.get(key) ?? [];
      deliveries.delete(key);
      deliveries.set(key, [...earlier, run]);
    }
    return Array.from(deliveries.values(), toDelivery);
  }

  get({ endpoint, id }: { endpoint: string; id: string }): RecentDelivery | undefined {
    const runs = this.#runs().filter((run) => run.id === id && run.endpoint === endpoint);
    return runs.length === 0 ? undefined : toDelivery(runs);
  }

  /**
   * Whether all kept runs started within the last second before `now` (milliseconds since the epoch). A list that is replaced several
   * times per second is unreadable, and keeping each run for a moment costs the garbage collector 2 µs per delivery.
   */
  isFlooded(now: number): boolean {
    if (this.#count < maxRuns) return false;
    const ageMs = now - (this.#ring[this.#next]?.startedAt ?? now);
    return ageMs >= 0 && ageMs < 1_000;
  }

  /** Adds a run, and drops the oldest runs beyond the limits. */
  add(run: RecentRun): void {
    if (this.#count === maxRuns) this.#dropOldest();
    this.#ring[this.#next] = run;
    this.#next = (this.#next + 1) % maxRuns;
    this.#count += 1;
    run.isKept = true;
    this.#grow(run.bytes);
  }

  /** Counts the memory that a run needs in addition, after it has ended. */
  grow(run: RecentRun, bytes: number): void {
    if (bytes === 0 || !run.isKept) return;
    run.bytes += bytes;
    this.#grow(bytes);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > maxBytes) this.#dropOldest();
  }

  #dropOldest(): void {
    const place = (this.#next - this.#count + maxRuns) % maxRuns;
    const oldest = this.#ring[place];
    this.#ring[place] = undefined;
    this.#count -= 1;
    if (!oldest) return;
    oldest.isKept = false;
    this.#bytes -= oldest.bytes;
  }

  /** Returns the kept runs, oldest first. */
  #runs(): RecentRun[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].filter((run) => run !== undefined);
  }
}

function toDelivery(runs: readonly RecentRun[]): RecentDelivery {
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) throw new RangeError("A delivery has at least one run.");
  const { id, endpoint, body, headers, replayOf } = last;
  return {
    id,
    endpoint,
    body,
    receivedAt: first.receivedAt,
    headers,
    replayOf,
    attempts: runs.map((run) => run.attempt),
  };
}
