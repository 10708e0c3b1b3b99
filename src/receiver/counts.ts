/** Every outcome, in display order. */
export const activityOutcomes = ["succeeded", "ignored", "retrying", "failed", "dead"] as const;
/**
 * The outcome of a delivery or attempt. `failed` is a failure before the response. `retrying` is a failed background attempt
 * that will be retried, and `dead` is one that will not.
 */
export type ActivityOutcome = (typeof activityOutcomes)[number];

/** The maximum number of times that the Hub triggers a webhook in 24 hours. */
export const hubDailyLimit = 1_000;

/** Whether an endpoint with this number of deliveries in 24 hours is near the Hub's limit. */
export function isNearDailyLimit(lastDay: number): boolean {
  return lastDay >= 0.8 * hubDailyLimit;
}

/** Median and 95th percentile of handler durations, in milliseconds. They include checks of `paths` and `ignoreSelf`. */
export interface HandlerTime {
  readonly p50: number;
  readonly p95: number;
  /** The number of handler runs from which the percentiles are computed. */
  readonly runs: number;
}

const runsKept = 1_024;
/** Percentiles of one endpoint need fewer runs, and a server may have thousands of endpoints. */
const endpointRunsKept = 256;
export const hour: SlotSize = { slotMs: 3_600_000, slots: 24 };
export const minute: SlotSize = { slotMs: 60_000, slots: 60 };

/** Counts a server's deliveries since its start. The memory per endpoint is constant, and counting only updates arrays. */
export class Activity {
  readonly startedAt: Date;
  readonly #now: () => number;
  readonly #ends = new SlotCounts(activityOutcomes.length, hour);
  readonly #runTimes = new RunTimes(runsKept);
  #observeRun: ((endpoint: string, milliseconds: number) => void) | undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.startedAt = new Date(now());
  }

  /** Counts the outcome of a delivery or of an attempt. `isRepeat`: the endpoint has already counted the delivery. */
  ended(endpoint: EndpointActivity, outcome: ActivityOutcome, isRepeat?: boolean): void {
    const at = this.#now();
    this.#ends.add(at, activityOutcomes.indexOf(outcome));
    endpoint.addEnd(outcome, at, isRepeat);
  }

  /** Counts a run of an endpoint's handler, and adds its duration. */
  ran({ name, activity }: { name: string; activity: EndpointActivity }, milliseconds: number): void {
    this.#runTimes.add(milliseconds);
    activity.addRun(milliseconds, this.#now());
    this.#observeRun?.(name, milliseconds);
  }

  /** Calls `observe` with the duration of every later handler run. */
  observeRuns(observe: (endpoint: string, milliseconds: number) => void): void {
    this.#observeRun = observe;
  }

  /** Returns the counts of the last 24 clock hours by outcome, oldest first. Omits hours before the server started. */
  hours() {
    const present = slotOf(this.#now(), hour);
    const first = Math.min(Math.max(slotOf(this.startedAt.getTime(), hour), present - hour.slots + 1), present);
    return Array.from({ length: present - first + 1 }, (_, index) => {
      const slot = first + index;
      const [succeeded = 0, ignored = 0, retrying = 0, failed = 0, dead = 0] = this.#ends.of(slot);
      return { startedAt: new Date(slot * hour.slotMs), succeeded, ignored, retrying, failed, dead };
    });
  }

  /** Percentiles of the latest 1,024 handler durations, or `undefined` before the first run. */
  handlerTime(): HandlerTime | undefined {
    return this.#runTimes.percentiles();
  }

  /** The deliveries that an endpoint received in the current clock hour and the 23 hours before it. */
  lastDay(endpoint: EndpointActivity): number {
    const present = slotOf(this.#now(), hour);
    let sum = 0;
    for (let slot = present - hour.slots + 1; slot <= present; slot += 1) sum += endpoint.countsIn(hour, slot)[0] ?? 0;
    return sum;
  }
}

const kinds = { deliveries: 0, failures: 1, attempts: 2, failedAttempts: 3 };

/**
 * Whether a webhook on the Hub is known to deliver to an endpoint. `unknown`: no delivery with an ID has arrived, and
 * `register()` has not run in this process.
 */
export type EndpointRegistration = "registered" | "missing" | "unknown";

/** The state of one endpoint since the server started. Except for new deliveries, only {@link Activity} updates the counts. */
export class EndpointActivity {
  registration: EndpointRegistration = "unknown";
  #deliveries = 0;
  /** Created at the first delivery, because a server may have thousands of endpoints that never receive one. */
  #counts: { minutes: SlotCounts; hours: SlotCounts } | undefined;
  #runTimes: RunTimes | undefined;
  readonly #ends = activityOutcomes.map(() => 0);
  #lastOutcome: ActivityOutcome | undefined;
  #lastAt = 0;

  /** The number of received deliveries, excluding refused and duplicate ones, and inline ones that failed and were sent again. */
  get deliveries(): number {
    return this.#deliveries;
  }

  get last(): { readonly outcome: ActivityOutcome; readonly at: Date } | undefined {
    return this.#lastOutcome && { outcome: this.#lastOutcome, at: new Date(this.#lastAt) };
  }

  /** Percentiles of the latest 256 handler durations, or `undefined` before the first run. */
  get handlerTime(): HandlerTime | undefined {
    return this.#runTimes?.percentiles();
  }

  countOf(outcome: ActivityOutcome): number {
    return this.#ends[activityOutcomes.indexOf(outcome)] ?? 0;
  }

  /** Counts a new delivery. `at` is its time of arrival, in milliseconds since the epoch. */
  addArrival(at: number): void {
    this.#deliveries += 1;
    this.#count(at, kinds.deliveries);
  }

  addRun(milliseconds: number, at: number): void {
    this.#runTimes ??= new RunTimes(endpointRunsKept);
    this.#runTimes.add(milliseconds);
    this.#count(at, kinds.attempts);
  }

  addEnd(outcome: ActivityOutcome, at: number, isRepeat?: boolean): void {
    const index = activityOutcomes.indexOf(outcome);
    this.#ends[index] = (this.#ends[index] ?? 0) + 1;
    this.#lastOutcome = outcome;
    this.#lastAt = at;
    if (outcome === "succeeded" || outcome === "ignored") return;
    this.#count(at, kinds.failedAttempts);
    if (outcome !== "retrying" && !isRepeat) this.#count(at, kinds.failures);
  }

  /**
   * Returns the counts in one slot of time: new deliveries, failed deliveries that this server does not retry, handler runs, and
   * failed runs. Returns an empty array if nothing was counted.
   */
  countsIn(size: SlotSize, slot: number): Uint32Array {
    const counts = size === hour ? this.#counts?.hours : this.#counts?.minutes;
    return counts?.of(slot) ?? nothing;
  }

  #count(at: number, kind: number): void {
    this.#counts ??= { minutes: new SlotCounts(4, minute), hours: new SlotCounts(4, hour) };
    this.#counts.minutes.add(at, kind);
    this.#counts.hours.add(at, kind);
  }
}

const nothing = new Uint32Array();

class RunTimes {
  readonly #times: Float32Array;
  #runs = 0;

  constructor(kept: number) {
    this.#times = new Float32Array(kept);
  }

  add(milliseconds: number): void {
    this.#times[this.#runs % this.#times.length] = milliseconds;
    this.#runs += 1;
  }

  percentiles(): HandlerTime | undefined {
    const runs = Math.min(this.#runs, this.#times.length);
    if (runs === 0) return undefined;
    const sorted = this.#times.slice(0, runs).sort();
    const quantile = (share: number) => sorted[Math.ceil(share * runs) - 1] ?? 0;
    return { p50: quantile(0.5), p95: quantile(0.95), runs };
  }
}

/** A division of time in which an endpoint's activity is counted. */
export interface SlotSize {
  slotMs: number;
  slots: number;
}

/** Counts events of each kind in the latest slots of time. The first count in a slot clears the one that it replaces, without a timer. */
class SlotCounts {
  readonly #kinds: number;
  readonly #size: SlotSize;
  readonly #slots: Int32Array;
  readonly #counts: Uint32Array;

  constructor(kinds: number, size: SlotSize) {
    this.#kinds = kinds;
    this.#size = size;
    this.#slots = new Int32Array(size.slots).fill(-1);
    this.#counts = new Uint32Array(size.slots * kinds);
  }

  add(at: number, kind: number): void {
    const slot = slotOf(at, this.#size);
    const place = slot % this.#size.slots;
    const first = place * this.#kinds;
    if (this.#slots[place] !== slot) {
      this.#slots[place] = slot;
      this.#counts.fill(0, first, first + this.#kinds);
    }
    this.#counts[first + kind] = (this.#counts[first + kind] ?? 0) + 1;
  }

  /** Returns one count for each kind, or an empty array if nothing was counted in that slot. */
  of(slot: number): Uint32Array {
    const place = slot % this.#size.slots;
    const first = place * this.#kinds;
    return this.#counts.subarray(first, this.#slots[place] === slot ? first + this.#kinds : first);
  }
}

/** Returns the number of whole slots since the epoch. */
export function slotOf(at: number, { slotMs }: SlotSize): number {
  return Math.floor(at / slotMs);
}
