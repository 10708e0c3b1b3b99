/**
 * The outcome of a delivery or attempt. `failed` is a failure before the response. `retrying` is a failed background attempt
 * that will be retried, and `dead` is one that will not.
 */
export type ActivityOutcome = "succeeded" | "ignored" | "retrying" | "failed" | "dead";

/** Every outcome, in display order. */
export const activityOutcomes = [
  "succeeded",
  "ignored",
  "retrying",
  "failed",
  "dead",
] as const satisfies readonly ActivityOutcome[];

/** The number of deliveries and attempts with each outcome in one clock hour. */
export interface ActivityHour extends Readonly<Record<ActivityOutcome, number>> {
  readonly startedAt: Date;
}

/** Median and 95th percentile of handler durations, in milliseconds. */
export interface HandlerTime {
  readonly p50: number;
  readonly p95: number;
  /** The number of handler runs from which the percentiles are computed. */
  readonly runs: number;
}

const millisecondsPerHour = 3_600_000;
const hoursKept = 24;
const runsKept = 1_024;

/**
 * Counts a server's deliveries since the server started. The memory per endpoint is constant. Counting only updates
 * arrays, because it runs for every delivery.
 */
export class Activity {
  readonly startedAt: Date;
  readonly #now: () => number;
  readonly #ends = new HourlyCounts(activityOutcomes.length);
  readonly #runTimes = new Float32Array(runsKept);
  #runs = 0;
  #observeRun: ((endpoint: string, milliseconds: number) => void) | undefined;

  /** @param now returns the current time, in milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    this.startedAt = new Date(now());
  }

  /** Counts a new delivery. `at` is its time of arrival, in milliseconds since the epoch. */
  arrived(endpoint: EndpointActivity, at: number): void {
    endpoint.addArrival(at);
  }

  /** Counts the outcome of a delivery or of an attempt. */
  ended(endpoint: EndpointActivity, outcome: ActivityOutcome): void {
    const at = this.#now();
    this.#ends.add(at, activityOutcomes.indexOf(outcome));
    endpoint.addEnd(outcome, at);
  }

  /** Adds the duration of a handler run. */
  ran(endpoint: string, milliseconds: number): void {
    this.#runTimes[this.#runs % runsKept] = milliseconds;
    this.#runs += 1;
    this.#observeRun?.(endpoint, milliseconds);
  }

  /** Calls `observe` with the duration of every later handler run. */
  observeRuns(observe: (endpoint: string, milliseconds: number) => void): void {
    this.#observeRun = observe;
  }

  /** Returns the last 24 clock hours, oldest first. Omits hours before the server started. */
  hours(): readonly ActivityHour[] {
    const present = hourOf(this.#now());
    const first = Math.min(Math.max(hourOf(this.startedAt.getTime()), present - hoursKept + 1), present);
    return Array.from({ length: present - first + 1 }, (_, index) => {
      const hour = first + index;
      const [succeeded = 0, ignored = 0, retrying = 0, failed = 0, dead = 0] = this.#ends.of(hour);
      return { startedAt: new Date(hour * millisecondsPerHour), succeeded, ignored, retrying, failed, dead };
    });
  }

  /** Returns percentiles of the latest 1,024 handler durations, or `undefined` before the first run. */
  handlerTime(): HandlerTime | undefined {
    const runs = Math.min(this.#runs, runsKept);
    if (runs === 0) return undefined;
    const sorted = this.#runTimes.slice(0, runs).sort();
    const quantile = (share: number) => sorted[Math.ceil(share * runs) - 1] ?? 0;
    return { p50: quantile(0.5), p95: quantile(0.95), runs };
  }

  /**
   * Returns the number of deliveries that an endpoint received in the last 24 clock hours: the current hour and the 23 hours
   * before it.
   */
  lastDay(endpoint: EndpointActivity): number {
    return endpoint.arrivalsUntil(this.#now());
  }
}

/** The counts of one endpoint since the server started. Only {@link Activity} updates them. */
export class EndpointActivity {
  #deliveries = 0;
  /** Created at the first delivery, because a server may have thousands of endpoints that never receive one. */
  #arrivals: HourlyCounts | undefined;
  readonly #ends = activityOutcomes.map(() => 0);
  #lastOutcome: ActivityOutcome | undefined;
  #lastAt = 0;

  /** The number of received deliveries, excluding refused and duplicate deliveries. */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** The latest outcome and its time, or `undefined` before the first outcome. */
  get last(): { readonly outcome: ActivityOutcome; readonly at: Date } | undefined {
    return this.#lastOutcome && { outcome: this.#lastOutcome, at: new Date(this.#lastAt) };
  }

  /** The number of deliveries and attempts with this outcome. */
  countOf(outcome: ActivityOutcome): number {
    return this.#ends[activityOutcomes.indexOf(outcome)] ?? 0;
  }

  addArrival(at: number): void {
    this.#deliveries += 1;
    this.#arrivals ??= new HourlyCounts(1);
    this.#arrivals.add(at, 0);
  }

  addEnd(outcome: ActivityOutcome, at: number): void {
    const index = activityOutcomes.indexOf(outcome);
    this.#ends[index] = (this.#ends[index] ?? 0) + 1;
    this.#lastOutcome = outcome;
    this.#lastAt = at;
  }

  arrivalsUntil(now: number): number {
    return this.#arrivals?.sum(hourOf(now)) ?? 0;
  }
}

/**
 * Counts events of each kind in each of the last 24 clock hours. The first count in an hour clears the counts of the
 * same hour of the previous day, so no timer is necessary.
 */
class HourlyCounts {
  readonly #kinds: number;
  /** The hour of each slot. */
  readonly #hours = new Int32Array(hoursKept).fill(-1);
  readonly #counts: Uint32Array;

  constructor(kinds: number) {
    this.#kinds = kinds;
    this.#counts = new Uint32Array(hoursKept * kinds);
  }

  add(at: number, kind: number): void {
    const hour = hourOf(at);
    const place = hour % hoursKept;
    const first = place * this.#kinds;
    if (this.#hours[place] !== hour) {
      this.#hours[place] = hour;
      this.#counts.fill(0, first, first + this.#kinds);
    }
    this.#counts[first + kind] = (this.#counts[first + kind] ?? 0) + 1;
  }

  /** Returns one count for each kind, or an empty array if nothing was counted in that hour. */
  of(hour: number): Uint32Array {
    const place = hour % hoursKept;
    const first = place * this.#kinds;
    return this.#counts.subarray(first, this.#hours[place] === hour ? first + this.#kinds : first);
  }

  /** Returns the sum of all counts in the 24 hours that end with the hour `present`. */
  sum(present: number): number {
    let sum = 0;
    for (let index = 0; index < this.#counts.length; index += 1) {
      const hour = this.#hours[Math.floor(index / this.#kinds)] ?? -1;
      if (hour <= present && hour > present - hoursKept) sum += this.#counts[index] ?? 0;
    }
    return sum;
  }
}

/** Converts milliseconds since the epoch to whole hours since the epoch. */
function hourOf(at: number): number {
  return Math.floor(at / millisecondsPerHour);
}
