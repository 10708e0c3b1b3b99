/** How a delivery ended. `retrying`: a failed background attempt with a retry left. `failed`: one without. */
export type ActivityOutcome = "succeeded" | "ignored" | "retrying" | "failed";

/** Every outcome, in display order. */
export const activityOutcomes = [
  "succeeded",
  "ignored",
  "retrying",
  "failed",
] as const satisfies readonly ActivityOutcome[];

/** The outcomes in one hour of the clock. */
export interface ActivityHour extends Readonly<Record<ActivityOutcome, number>> {
  readonly startedAt: Date;
}

/** How long handlers took, in milliseconds: half of the runs at most `p50`, 19 of 20 at most `p95`. */
export interface HandlerTime {
  readonly p50: number;
  readonly p95: number;
  /** How many runs this is taken from: the latest ones. */
  readonly runs: number;
}

const millisecondsPerHour = 3_600_000;
const hoursKept = 24;
const runsKept = 1_024;

/**
 * Counts what a server has received since it started, in constant memory. Every delivery writes to it, so an entry only
 * adds to existing arrays.
 */
export class Activity {
  readonly startedAt: Date;
  readonly #now: () => number;
  readonly #ends = new HourlyCounts(activityOutcomes.length);
  readonly #runTimes = new Float32Array(runsKept);
  #runs = 0;
  #observeRun: ((endpoint: string, milliseconds: number) => void) | undefined;

  /** @param now the clock, in milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    this.startedAt = new Date(now());
  }

  /** Counts a new delivery, which arrived `at` milliseconds since the epoch. */
  arrived(endpoint: EndpointActivity, at: number): void {
    endpoint.addArrival(at);
  }

  /** Counts the end of a delivery, or of an attempt. */
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

  /** Calls `observe` with the duration of every handler run from now on. */
  observeRuns(observe: (endpoint: string, milliseconds: number) => void): void {
    this.#observeRun = observe;
  }

  /** The last 24 hours of the clock, oldest first, the present one last; none from before the start. */
  hours(): readonly ActivityHour[] {
    const present = hourOf(this.#now());
    const first = Math.min(Math.max(hourOf(this.startedAt.getTime()), present - hoursKept + 1), present);
    return Array.from({ length: present - first + 1 }, (_, index) => {
      const hour = first + index;
      const [succeeded = 0, ignored = 0, retrying = 0, failed = 0] = this.#ends.of(hour);
      return { startedAt: new Date(hour * millisecondsPerHour), succeeded, ignored, retrying, failed };
    });
  }

  /** From the latest 1,024 runs; `undefined` before the first. */
  handlerTime(): HandlerTime | undefined {
    const runs = Math.min(this.#runs, runsKept);
    if (runs === 0) return undefined;
    const sorted = this.#runTimes.slice(0, runs).sort();
    const quantile = (share: number) => sorted[Math.ceil(share * runs) - 1] ?? 0;
    return { p50: quantile(0.5), p95: quantile(0.95), runs };
  }

  /**
   * How many deliveries reached an endpoint in the last 24 hours of the clock: in the present one, and in the 23
   * before it.
   */
  lastDay(endpoint: EndpointActivity): number {
    return endpoint.arrivalsUntil(this.#now());
  }
}

/** Counts what one endpoint has received since the start. {@link Activity} writes it. */
export class EndpointActivity {
  #deliveries = 0;
  /** Created at the first delivery: of 10,000 endpoints, few may ever receive one. */
  #arrivals: HourlyCounts | undefined;
  readonly #ends = activityOutcomes.map(() => 0);
  #lastOutcome: ActivityOutcome | undefined;
  #lastAt = 0;

  /** Received deliveries, without refused ones and duplicates. */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** The latest outcome and its time; absent before the first. */
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
 * Counts of some kinds in each of the last 24 hours. An hour takes the place of the one a day before it when something
 * is counted in it, so no timer is needed, and a clock that is set back does no harm.
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

  /** One count for each kind; empty if nothing was counted in that hour. */
  of(hour: number): Uint32Array {
    const place = hour % hoursKept;
    const first = place * this.#kinds;
    return this.#counts.subarray(first, this.#hours[place] === hour ? first + this.#kinds : first);
  }

  /** The sum of the 24 hours that end with `present`. */
  sum(present: number): number {
    let sum = 0;
    for (let index = 0; index < this.#counts.length; index += 1) {
      const hour = this.#hours[Math.floor(index / this.#kinds)] ?? -1;
      if (hour <= present && hour > present - hoursKept) sum += this.#counts[index] ?? 0;
    }
    return sum;
  }
}

/** Hours since the epoch. */
function hourOf(at: number): number {
  return Math.floor(at / millisecondsPerHour);
}
