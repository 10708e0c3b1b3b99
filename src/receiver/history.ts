import type { RefusedGroup } from "../console/protocol/deliveries.ts";
import { shorten } from "../core/text.ts";
import type { DeliveryKey, StoredDelivery } from "../inbox/inbox.ts";
import {
  type DeliveryOrigin,
  type HeaderEntries,
  type RecentAttempt,
  type RecordedDelivery,
  type RecordingOptions,
  Run,
  type RunEnd,
  recordHeaders,
} from "./run.ts";

/** Records deliveries and attempts for the console, and reports changes to it. */
export class DeliveryHistory {
  readonly recent: RecentDeliveries;
  readonly refused: RefusedDeliveries = new RefusedDeliveries();
  readonly recordsDetails: boolean;
  readonly #options: RecordingOptions;
  #onChange: ((key: DeliveryKey) => void) | undefined;
  #onRefused: (() => void) | undefined;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.recent = new RecentDeliveries(options);
    this.recordsDetails = options.recordDetails;
  }

  /** Calls `onChange` for each later change of a delivery, and `onRefused` for each refused one. */
  observe(onChange: (key: DeliveryKey) => void, onRefused: () => void): void {
    this.#onChange = onChange;
    this.#onRefused = onRefused;
  }

  /** Records a delivery that was answered with an error before its handler ran. */
  refuse(refusal: Refusal): void {
    const { now, redact } = this.#options;
    // Shortening could cut a secret, so that it is not recognized.
    const [endpoint, message] = [redact(refusal.endpoint), redact(refusal.message)];
    this.refused.add({ ...refusal, endpoint, message }, now());
    this.#onRefused?.();
  }

  /** Reports that a delivery is new or has changed. */
  changed(key: DeliveryKey): void {
    this.#onChange?.(key);
  }

  /** Records the start of an attempt that an inbox stores. The history of edge workers returns `undefined`. */
  startStored(claimed: RecordedDelivery): Run | undefined {
    this.changed(claimed);
    return new Run(claimed, {}, this.#options);
  }

  /** Returns the headers that the inbox stores with a delivery. */
  headersToStore(entries: HeaderEntries | undefined): Readonly<Record<string, string>> | undefined {
    return this.recordsDetails && entries ? recordHeaders(entries, this.#options.redact) : undefined;
  }

  /** Records the start of a run of a delivery that no inbox stores. The history of edge workers returns `undefined`. */
  start(delivery: RecordedDelivery, source: DeliveryOrigin): Run | undefined {
    const run = new Run(delivery, source, this.#options, this.recent.failed.has(delivery));
    if (!this.recent.isFlooded(delivery.receivedAt.getTime())) {
      this.recent.add(run);
      this.#onChange?.(delivery);
    }
    return run;
  }

  /** Records the end of a run of a delivery that no inbox stores. */
  end(run: Run, end: RunEnd): void {
    const bytes = run.end(end);
    // A failure is kept even in a flood, because failures are the reason to open the list.
    if (end.outcome.status === "failed") {
      this.recent.failed.add(run);
      if (!run.isKept) this.recent.add(run);
    }
    this.recent.grow(run, bytes);
    this.#onChange?.(run);
  }
}

/** Why a delivery was refused. The sender can choose the endpoint and parts of the message. */
type Refusal = Omit<RefusedGroup, "count" | "lastAt">;

const maxGroups = 20;
const maxEndpointLength = 200;
const maxMessageLength = 500;
const refusedMaxAgeMs = 86_400_000;

/** The latest reasons why deliveries were refused, at most 20. A flood of refused deliveries must not use more memory. */
export class RefusedDeliveries {
  readonly #groups = new Map<string, RefusedGroup>();

  add(refusal: Refusal, at: number): void {
    const endpoint = shorten(refusal.endpoint, maxEndpointLength);
    const message = shorten(refusal.message, maxMessageLength);
    // Unknown endpoints are one group, because a scanner can request any number of them.
    const key = `${refusal.code === "ENDPOINT_UNKNOWN" ? "" : endpoint} ${refusal.code} ${message}`;
    const count = (this.#groups.get(key)?.count ?? 0) + 1;
    // The latest group becomes the last, so that the first is the one to drop.
    this.#groups.delete(key);
    this.#groups.set(key, { ...refusal, endpoint, message, count, lastAt: at });
    const [oldest] = this.#groups.keys();
    if (this.#groups.size > maxGroups && oldest !== undefined) this.#groups.delete(oldest);
  }

  /** The groups of the last 24 hours, latest first. */
  groups(now: number): readonly RefusedGroup[] {
    return [...this.#groups.values()].filter(({ lastAt }) => now - lastAt < refusedMaxAgeMs).reverse();
  }
}

/** The number of IDs in one generation. */
const maxIds = 2_000;

interface Key {
  endpoint: string;
  id: string;
}

/**
 * The latest inline deliveries that failed, at most 4,000: the Hub sends these again. Keeping the IDs of all
 * deliveries would take 1 µs for each of them. There are two generations, so that no entry must be removed alone.
 */
export class FailedIds {
  #current = new Set<string>();
  #previous: ReadonlySet<string> = new Set<string>();

  add(key: Key): void {
    this.#current.add(textOf(key));
    if (this.#current.size < maxIds) return;
    this.#previous = this.#current;
    this.#current = new Set();
  }

  has(key: Key): boolean {
    if (this.#current.size + this.#previous.size === 0) return false;
    const text = textOf(key);
    return this.#current.has(text) || this.#previous.has(text);
  }
}

function textOf({ endpoint, id }: Key): string {
  return `${endpoint} ${id}`;
}

/** The maximum number of runs that are kept in memory. */
const maxRuns = 500;
/** The maximum memory of the kept runs, in bytes. */
const maxBytes = 16 * 1024 * 1024;

/** A delivery that no inbox stores: a delivery of an inline endpoint, or one that the filter ignored. It has the form of a stored one. */
export interface RecentDelivery extends Omit<StoredDelivery, "status" | "attempts" | "headers"> {
  storage: "memory";
  status: "running" | RecentAttempt["outcome"];
  body: string;
  attempts: readonly RecentAttempt[];
  /** The request headers without secrets. Read on demand, because most deliveries are never opened. */
  readonly headers: StoredDelivery["headers"] | undefined;
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
  readonly #redact: (text: string) => string;
  readonly #ring: (Run | undefined)[] = new Array(maxRuns).fill(undefined);
  /** The place of the next run. */
  #next = 0;
  #count = 0;
  #bytes = 0;

  constructor({ redact }: Pick<RecordingOptions, "redact">) {
    this.#redact = redact;
  }

  /** The kept deliveries, oldest first. A delivery that was sent again has several attempts, and the position of the last. */
  values(): Iterable<RecentDelivery> {
    const deliveries = new Map<string, Run[]>();
    for (const run of this.#runs()) {
      const key = textOf(run);
      const earlier = deliveries.get(key) ?? [];
      deliveries.delete(key);
      deliveries.set(key, [...earlier, run]);
    }
    return Array.from(deliveries.values(), (runs) => toDelivery(runs, this.#redact));
  }

  get({ endpoint, id }: { endpoint: string; id: string }): RecentDelivery | undefined {
    const runs = this.#runs().filter((run) => run.id === id && run.endpoint === endpoint);
    return runs.length === 0 ? undefined : toDelivery(runs, this.#redact);
  }

  /**
   * Whether all kept runs started within the last second before `now` (milliseconds since the epoch). A list that is replaced several
   * times per second is unreadable, and keeping each run for a moment costs the garbage collector 2 µs per delivery.
   */
  isFlooded(now: number): boolean {
    if (this.#count < maxRuns) return false;
    const ageMs = now - (this.#ring[this.#next]?.receivedAt.getTime() ?? now);
    return ageMs >= 0 && ageMs < 1_000;
  }

  /** Adds a run, and drops the oldest runs beyond the limits. */
  add(run: Run): void {
    if (this.#count === maxRuns) this.#dropOldest();
    this.#ring[this.#next] = run;
    this.#next = (this.#next + 1) % maxRuns;
    this.#count += 1;
    run.isKept = true;
    this.#grow(run.bytes);
  }

  /** Counts the memory that a run needs in addition, after it has ended. */
  grow(run: Run, bytes: number): void {
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
  #runs(): Run[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].filter((run) => run !== undefined);
  }
}

function toDelivery(runs: readonly Run[], redact: (text: string) => string): RecentDelivery {
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) throw new RangeError("A delivery has at least one run.");
  const { id, endpoint, body, headers, replayOf } = last;
  const attempts = runs.map((run, index) => run.attempt(index + 1)).filter((attempt) => attempt !== undefined);
  const end = attempts.length === runs.length ? attempts.at(-1) : undefined;
  return {
    ...{ id, endpoint, body, receivedAt: first.receivedAt, attempts, storage: "memory" },
    status: end?.outcome ?? "running",
    ...(end ? { finishedAt: new Date(end.startedAt.getTime() + end.durationMs) } : { startedAt: last.receivedAt }),
    ...(replayOf !== undefined && { replayOf }),
    get headers() {
      return headers && recordHeaders(headers(), redact);
    },
  };
}
