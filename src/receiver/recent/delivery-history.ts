import { describeError } from "../../core/describe.ts";
import type { Logger } from "../../core/log.ts";
import type { AttemptDetails, DeliveryAttempt, DeliveryKey, StoredDelivery } from "../../inbox/inbox.ts";
import type { Delivery, Outcome } from "../../payload/parse.ts";
import type { ParsedDelivery } from "../endpoint.ts";
import {
  AttemptRecorder,
  type AttemptRecorderOptions,
  type HeaderEntries,
  recordHeaders,
  trimResult,
} from "./attempt-recorder.ts";

interface DeliveryHistoryOptions extends AttemptRecorderOptions {
  /** Whether to record results, stacks, logs, and request headers. */
  recordDetails: boolean;
}

/** Records deliveries and attempts for the console, and reports changes to it. */
export class DeliveryHistory {
  readonly recent: RecentDeliveries;
  readonly recordsDetails: boolean;
  readonly #options: DeliveryHistoryOptions;
  #onChange: ((key: DeliveryKey) => void) | undefined;

  constructor(options: DeliveryHistoryOptions) {
    this.#options = options;
    this.recent = new RecentDeliveries(options);
    this.recordsDetails = options.recordDetails;
  }

  /** Calls `onChange` for each later change of a delivery. */
  observe(onChange: (key: DeliveryKey) => void): void {
    this.#onChange = onChange;
  }

  /** Reports that a delivery is new or has changed. */
  changed(key: DeliveryKey): void {
    this.#onChange?.(key);
  }

  /** Creates the recorder of a background attempt, or `undefined` if details are not recorded. */
  createLogRecorder(): AttemptRecorder | undefined {
    return this.recordsDetails ? new AttemptRecorder(this.#options) : undefined;
  }

  /** Returns the headers that the inbox stores with a delivery. */
  headersToStore(entries: HeaderEntries | undefined): Readonly<Record<string, string>> | undefined {
    return this.recordsDetails && entries ? recordHeaders(entries, this.#options.redact) : undefined;
  }

  /** Records the start of a run of a delivery that no inbox stores. The history of edge workers returns `undefined`. */
  start(
    { delivery }: ParsedDelivery,
    { headers, replayOf }: { headers?: (() => HeaderEntries) | undefined; replayOf?: string | undefined },
  ): RecentRun | undefined {
    const { id, endpoint, body, receivedAt } = delivery;
    // The time of arrival is close enough to the start, and reading the clock again costs more than adding the run.
    const startedAt = receivedAt.getTime();
    const isRepeat = this.recent.failed.has(delivery);
    const run = new RecentRun(
      { id, endpoint, body, receivedAt, headers, replayOf, isRepeat, startedAt },
      this.#options,
    );
    if (!this.recent.isFlooded(startedAt)) {
      this.recent.add(run);
      this.#onChange?.(delivery);
    }
    return run;
  }

  /** Records the end of a run. `resultText`: the handler's result as JSON text. */
  end(run: RecentRun, { outcome, durationMs, responseStatus }: RunEnd, resultText: string | null): void {
    const kept = outcome.status === "succeeded" ? succeeded : outcome;
    const bytes = run.finish({ outcome: kept, durationMs, responseStatus }, resultText);
    // A failure is kept even in a flood, because failures are the reason to open the list.
    if (outcome.status === "failed") {
      this.recent.failed.add(run);
      if (!run.isKept) this.recent.add(run);
    }
    this.recent.grow(run, bytes);
    this.#onChange?.(run);
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

/** The memory of a run without its body and details, in bytes: objects, headers, and keys. */
const bytesPerRun = 2_048;

/** The end of a run. */
interface RunEnd {
  durationMs: number;
  outcome: Outcome;
  /** The status of the response. Missing if no client waits for one. */
  responseStatus?: number | undefined;
}

/** A finished run of a delivery that no inbox stores. It has the form of an attempt in an inbox. */
export interface RecentAttempt extends Omit<DeliveryAttempt, "details"> {
  outcome: Outcome["status"];
  startedAt: Date;
  durationMs: number;
  /** The status of the response. Missing if no client waited for one. */
  responseStatus?: number;
  /** Created when they are read. */
  readonly details: AttemptDetails | undefined;
}

/** The start of a run. */
export interface RunStart extends Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt"> {
  headers?: (() => HeaderEntries) | undefined;
  replayOf?: string | undefined;
  /** Whether the delivery has failed before, and the Hub sent it again. Default `false`. */
  isRepeat?: boolean;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** The outcome of each success. The handler's result is not kept, because it can be of any size. The details contain its text. */
const succeeded: Outcome = { status: "succeeded", result: undefined };

/**
 * One run of a delivery that no inbox stores. It is one object, whose parts are only created when the console reads them or the
 * handler logs, because every inline delivery creates one.
 */
export class RecentRun implements RunStart {
  readonly id: string;
  readonly endpoint: string;
  readonly body: string;
  readonly receivedAt: Date;
  readonly headers: (() => HeaderEntries) | undefined;
  readonly replayOf: string | undefined;
  readonly startedAt: number;
  /** The memory of the run. Only `RecentDeliveries` changes it. */
  bytes: number;
  /** Whether the delivery has failed before, so that this run is another attempt. */
  readonly isRepeat: boolean;
  /** Whether the run is kept. Only `RecentDeliveries` changes it. */
  isKept = false;
  readonly #options: DeliveryHistoryOptions;
  #recorder: AttemptRecorder | undefined = undefined;
  #end: RunEnd | undefined = undefined;
  #result: string | null = null;
  #restored: RestoredAttempt | undefined = undefined;

  constructor(start: RunStart, options: DeliveryHistoryOptions) {
    this.id = start.id;
    this.endpoint = start.endpoint;
    this.body = start.body;
    this.receivedAt = start.receivedAt;
    this.headers = options.recordDetails ? start.headers : undefined;
    this.replayOf = start.replayOf;
    this.isRepeat = start.isRepeat ?? false;
    this.startedAt = start.startedAt;
    this.#options = options;
    // A character takes two bytes unless the whole text is Latin-1.
    this.bytes = bytesPerRun + 2 * start.body.length;
  }

  /** Returns a logger that writes to `log` and records each line. */
  wrap(log: Logger): Logger {
    if (!this.#options.recordDetails) return log;
    this.#recorder ??= new AttemptRecorder(this.#options);
    return this.#recorder.wrap(log);
  }

  /** Records the end of the run. Returns the memory that the run needs in addition, in bytes. */
  finish(end: RunEnd, resultText: string | null): number {
    this.#end = end;
    this.#result = resultText === null || !this.#options.recordDetails ? null : trimResult(resultText);
    return 2 * ((this.#recorder?.size ?? 0) + (this.#result?.length ?? 0));
  }

  /** Restores a run of another process, which has ended. */
  restore(attempt: RestoredAttempt): void {
    this.#restored = attempt;
    if (attempt.details) this.bytes += 2 * JSON.stringify(attempt.details).length;
  }

  /** Describes the run as the attempt with this number, or returns `undefined` while the handler runs. */
  attempt(number: number): RecentAttempt | undefined {
    if (this.#restored) return { ...this.#restored, number };
    if (!this.#end) return undefined;
    const { outcome, durationMs, responseStatus } = this.#end;
    const readDetails = () => this.#details(outcome);
    return {
      ...{ number, startedAt: new Date(this.startedAt), outcome: outcome.status },
      // To a tenth of a millisecond.
      durationMs: Math.round(durationMs * 10) / 10,
      ...(outcome.status === "failed" && { error: this.#describe(outcome.error) }),
      ...(outcome.status === "ignored" && { reason: outcome.reason }),
      ...(responseStatus !== undefined && { responseStatus }),
      get details() {
        return readDetails();
      },
    };
  }

  /** The owner sees the message of the thrown error, which clients never receive. */
  #describe({ code, message, cause }: Extract<Outcome, { status: "failed" }>["error"]): RecentAttempt["error"] {
    return { code, message: this.#options.redact(cause === undefined ? message : describeError(cause).message) };
  }

  #details(outcome: Outcome): AttemptDetails | undefined {
    if (!this.#options.recordDetails) return undefined;
    return (this.#recorder ?? new AttemptRecorder(this.#options)).details(outcome, this.#result);
  }
}

/** An attempt of another process. */
export type RestoredAttempt = Omit<RecentAttempt, "number">;

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
  readonly #ring: (RecentRun | undefined)[] = new Array(maxRuns).fill(undefined);
  /** The place of the next run. */
  #next = 0;
  #count = 0;
  #bytes = 0;

  constructor({ redact }: Pick<DeliveryHistoryOptions, "redact">) {
    this.#redact = redact;
  }

  /** The kept deliveries, oldest first. A delivery that was sent again has several attempts, and the position of the last. */
  values(): Iterable<RecentDelivery> {
    const deliveries = new Map<string, RecentRun[]>();
    for (const run of this.#runs()) {
      const key = `${run.endpoint} ${run.id}`;
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

function toDelivery(runs: readonly RecentRun[], redact: (text: string) => string): RecentDelivery {
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) throw new RangeError("A delivery has at least one run.");
  const { id, endpoint, body, headers, replayOf } = last;
  const attempts = runs.map((run, index) => run.attempt(index + 1)).filter((attempt) => attempt !== undefined);
  const end = attempts.length === runs.length ? attempts.at(-1) : undefined;
  return {
    ...{ id, endpoint, body, receivedAt: first.receivedAt, attempts, storage: "memory" },
    status: end?.outcome ?? "running",
    ...(end
      ? { finishedAt: new Date(end.startedAt.getTime() + end.durationMs) }
      : { startedAt: new Date(last.startedAt) }),
    ...(replayOf !== undefined && { replayOf }),
    get headers() {
      return headers && recordHeaders(headers(), redact);
    },
  };
}
