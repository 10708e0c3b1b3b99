import type { RefusedGroup } from "../console/protocol/deliveries.ts";
import { describeError, type ErrorDescription, isInstanceOf, messageOf } from "../core/describe.ts";
import { createLogger, type Logger, toPlainFields, writeLine } from "../core/log.ts";
import { copyStart, shorten } from "../core/text.ts";
import type { AttemptDetails, AttemptLog, DeliveryAttempt, DeliveryKey, StoredDelivery } from "../inbox/inbox.ts";
import { type Delivery, keyOf, type Outcome } from "../payload/parse.ts";
import { type HeaderEntries, recordHeaders } from "./request.ts";

/** The maximum size of the details of one attempt, in characters of JSON text. */
const maxDetails = 16 * 1024;
/** The shares of the result and the stack. The rest is for the lines of the log. */
const maxResult = 6 * 1024;
const maxStack = 4 * 1024;
const maxMessage = 1_024;
const lineOverhead = 60;

/** The memory of a run without its body and details, in bytes: objects, headers, and keys. */
const bytesPerRun = 2_048;

export interface RecordingOptions {
  /** Whether to record results, stacks, logs, and request headers. */
  recordDetails: boolean;
  now: () => number;
  redact: (text: string) => string;
}

export type RecordedDelivery = Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt">;

/** Where a delivery comes from: the headers of its request, or the delivery of which it is a copy. */
export interface DeliveryOrigin {
  headers?: (() => HeaderEntries) | undefined;
  replayOf?: string | undefined;
}

export interface RunEnd {
  outcome: Outcome;
  /** The handler's result as JSON text. */
  resultText: string | null;
  durationMs: number;
  /** The status of the response. Missing if no client waits for one. */
  responseStatus?: number | undefined;
}

/** A finished run of a delivery that no inbox stores, which has the form of an attempt in an inbox. */
export interface RecentAttempt extends Omit<DeliveryAttempt, "details"> {
  outcome: Outcome["status"];
  startedAt: Date;
  durationMs: number;
  responseStatus?: number;
  readonly details: AttemptDetails | undefined;
}

type UnnumberedAttempt = Omit<RecentAttempt, "number" | "details">;

/**
 * Records one run of a handler for the console: the lines that the handler logs, its result, and the stack of its error, at most 16 KiB in
 * all. It is one object, whose parts are only created when the console reads them or the handler logs, because every inline delivery
 * creates one. It does not keep the payload, whose objects take several times the memory of the body.
 */
export class Run implements RecordedDelivery {
  readonly id: string;
  readonly endpoint: string;
  readonly body: string;
  /** Also the start of a run that no inbox stores: reading the clock again costs more than recording the run. */
  readonly receivedAt: Date;
  readonly headers: (() => HeaderEntries) | undefined;
  readonly replayOf: string | undefined;
  /** Whether the delivery has failed before, and the Hub sent it again. */
  readonly isRepeat: boolean;
  /** The memory of the run. Only `RecentDeliveries` changes it. */
  bytes: number;
  /** Whether the run is kept. Only `RecentDeliveries` changes it. */
  isKept = false;
  readonly #options: RecordingOptions;
  #lines: AttemptLog[] | undefined = undefined;
  #size = 0;
  #isFull = false;
  #isTruncated = false;
  #ended: UnnumberedAttempt | undefined = undefined;
  #result: string | null = null;
  #thrown: unknown = undefined;
  /** The details that another process has recorded. */
  #restored: AttemptDetails | undefined = undefined;

  constructor(
    delivery: RecordedDelivery,
    { headers, replayOf }: DeliveryOrigin,
    options: RecordingOptions,
    isRepeat = false,
  ) {
    this.id = delivery.id;
    this.endpoint = delivery.endpoint;
    this.body = delivery.body;
    this.receivedAt = delivery.receivedAt;
    this.headers = options.recordDetails ? headers : undefined;
    this.replayOf = replayOf;
    this.isRepeat = isRepeat;
    this.#options = options;
    // A character takes two bytes unless the whole text is Latin-1.
    this.bytes = bytesPerRun + 2 * delivery.body.length;
  }

  /** Returns a logger that writes to `log` and records each line. */
  wrap(log: Logger): Logger {
    return this.#options.recordDetails ? this.#wrap(log, {}) : log;
  }

  /** Records the end of the run. Returns the memory that the run needs in addition, in bytes. */
  end({ outcome, resultText, durationMs, responseStatus }: RunEnd): number {
    // To a tenth of a millisecond.
    const ms = Math.round(durationMs * 10) / 10;
    const ended: UnnumberedAttempt = { startedAt: this.receivedAt, durationMs: ms, outcome: outcome.status };
    if (responseStatus !== undefined) ended.responseStatus = responseStatus;
    if (outcome.status === "ignored") ended.reason = outcome.reason;
    if (outcome.status === "failed") {
      const { code, message, cause } = outcome.error;
      // The owner sees the message of the thrown error, which clients never receive.
      const shown = cause === undefined ? message : describeError(cause).message;
      ended.error = { code, message: this.#options.redact(shown) };
      this.#thrown = cause;
    }
    this.#ended = ended;
    if (resultText === null || !this.#options.recordDetails) return 2 * this.#size;
    // Keeps one character more than the details contain, so that they are marked as truncated.
    this.#result = resultText.length <= maxResult ? resultText : copyStart(resultText, maxResult + 1);
    return 2 * (this.#size + this.#result.length);
  }

  restore({ details, ...ended }: Omit<RecentAttempt, "number">): void {
    this.#ended = ended;
    this.#restored = details;
    if (details) this.bytes += 2 * JSON.stringify(details).length;
  }

  /** Describes the run as the attempt with this number, or returns `undefined` while the handler runs. */
  attempt(number: number): RecentAttempt | undefined {
    if (!this.#ended) return undefined;
    const readDetails = () => this.details;
    return {
      number,
      ...this.#ended,
      get details() {
        return readDetails();
      },
    };
  }

  /** What the inbox stores with the attempt, or `undefined` if there is nothing or details are not recorded. */
  get details(): AttemptDetails | undefined {
    if (this.#restored || !this.#options.recordDetails) return this.#restored;
    const { redact } = this.#options;
    const result = this.#result === null ? undefined : this.#cut(redact(this.#result), maxResult);
    const stack = stackOf(this.#thrown);
    if (result === undefined && stack === undefined && !this.#lines) return undefined;
    return {
      ...(result !== undefined && { result }),
      ...(stack !== undefined && { stack: this.#cut(redact(stack), maxStack) }),
      ...(this.#lines && { logs: this.#lines }),
      ...(this.#isTruncated && { isTruncated: true }),
    };
  }

  #wrap(log: Logger, bindings: Record<string, unknown>): Logger {
    return createLogger(
      (level, fields, message) => {
        writeLine(log, level, fields, message);
        if (typeof fields === "string") this.#record(level, bindings, fields);
        // `log.error(error)` and pino's loggers accept an error as the fields.
        else if (isInstanceOf(fields, Error)) {
          this.#record(level, { ...bindings, err: describeError(fields) }, message ?? messageOf(fields));
        } else this.#record(level, { ...bindings, ...toPlainFields(fields) }, message ?? "");
      },
      (added) => this.#wrap(log.child(added), { ...bindings, ...toPlainFields(added) }),
    );
  }

  #record(level: AttemptLog["level"], fields: Readonly<Record<string, unknown>>, message: unknown): void {
    if (this.#isFull) return;
    const { now, redact } = this.#options;
    const text = this.#cut(redact(typeof message === "string" ? message : messageOf(message)), maxMessage);
    const fieldsText =
      Object.keys(fields).length === 0 ? undefined : this.#cut(redact(JSON.stringify(fields)), maxMessage);
    const size = text.length + (fieldsText?.length ?? 0) + lineOverhead;
    if (this.#size + size > maxDetails - maxResult - maxStack) {
      // Later lines are dropped too, even if they would fit: a log with gaps would mislead.
      this.#isFull = true;
      this.#isTruncated = true;
      return;
    }
    this.#size += size;
    this.#lines ??= [];
    this.#lines.push({ at: now(), level, message: text, ...(fieldsText !== undefined && { fields: fieldsText }) });
  }

  #cut(text: string, max: number): string {
    if (text.length <= max) return text;
    this.#isTruncated = true;
    return copyStart(text, max);
  }
}

/** Returns the stack of a thrown value and its causes, reduced to the user's own files. */
function stackOf(thrown: unknown): string | undefined {
  if (thrown === undefined) return undefined;
  const texts: string[] = [];
  for (let error: ErrorDescription | undefined = describeError(thrown); error; error = error.cause) {
    const { stack, name, message } = error;
    const text = stack === undefined ? `${name}: ${message}` : stack.split("\n").filter(isOwnLine).join("\n");
    texts.push(texts.length === 0 ? text : `Caused by: ${text}`);
  }
  return texts.join("\n");
}

function isOwnLine(line: string): boolean {
  return !/^\s+at .*(?:\bnode:|[\\/]node_modules[\\/])/.test(line);
}

/** Why a delivery was refused. The sender can choose the endpoint and parts of the message. */
type Refusal = Omit<RefusedGroup, "count" | "lastAt">;

/** A flood of refused deliveries must not use more memory. */
const maxRefusedGroups = 20;
const maxEndpointLength = 200;
const maxMessageLength = 500;
const refusedMaxAgeMs = 86_400_000;

interface HistoryObserver {
  onChange: (key: DeliveryKey) => void;
  onRefused: () => void;
}

/** Records deliveries and attempts for the console, and reports changes to it. */
export class DeliveryHistory {
  readonly recent: RecentDeliveries;
  readonly recordsDetails: boolean;
  readonly #options: RecordingOptions;
  readonly #refused = new Map<string, RefusedGroup>();
  #observer: HistoryObserver | undefined;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.recent = new RecentDeliveries(options);
    this.recordsDetails = options.recordDetails;
  }

  /** Reports later changes, until the returned function is called. The console observes only while it is open. */
  observe(observer: HistoryObserver): () => void {
    this.#observer = observer;
    return () => {
      this.#observer = undefined;
    };
  }

  /** Records a delivery that was answered with an error before its handler ran. */
  refuse(refusal: Refusal): void {
    const { now, redact } = this.#options;
    // Redacts before: shortening could cut a secret, so that it is not recognized.
    const endpoint = shorten(redact(refusal.endpoint), maxEndpointLength);
    const message = shorten(redact(refusal.message), maxMessageLength);
    // Unknown endpoints are one group, because a scanner can request any number of them.
    const key = `${refusal.code === "ENDPOINT_UNKNOWN" ? "" : endpoint} ${refusal.code} ${message}`;
    const count = (this.#refused.get(key)?.count ?? 0) + 1;
    // The latest group becomes the last, so that the first is the one to drop.
    this.#refused.delete(key);
    this.#refused.set(key, { ...refusal, endpoint, message, count, lastAt: now() });
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > maxRefusedGroups && oldest !== undefined) this.#refused.delete(oldest);
    this.#observer?.onRefused();
  }

  /** Why deliveries were refused in the last 24 hours, latest reason first. */
  get refused(): readonly RefusedGroup[] {
    const now = this.#options.now();
    return [...this.#refused.values()].filter(({ lastAt }) => now - lastAt < refusedMaxAgeMs).reverse();
  }

  changed(key: DeliveryKey): void {
    this.#observer?.onChange(key);
  }

  /** Records the start of an attempt that an inbox stores. The history of edge workers returns `undefined`. */
  startStored(claimed: RecordedDelivery): Run | undefined {
    this.changed(claimed);
    return new Run(claimed, {}, this.#options);
  }

  headersToStore(entries: HeaderEntries | undefined): Readonly<Record<string, string>> | undefined {
    return this.recordsDetails && entries ? recordHeaders(entries, this.#options.redact) : undefined;
  }

  /** Records the start of a run of a delivery that no inbox stores. The history of edge workers returns `undefined`. */
  start(delivery: RecordedDelivery, source: DeliveryOrigin): Run | undefined {
    const run = new Run(delivery, source, this.#options, this.recent.failed.has(delivery));
    if (!this.recent.isFlooded(delivery.receivedAt.getTime())) {
      this.recent.add(run);
      this.#observer?.onChange(delivery);
    }
    return run;
  }

  end(run: Run, end: RunEnd): void {
    const bytes = run.end(end);
    // A failure is kept even in a flood, because failures are the reason to open the list.
    if (end.outcome.status === "failed") {
      this.recent.failed.add(run);
      if (!run.isKept) this.recent.add(run);
    }
    this.recent.grow(run, bytes);
    this.#observer?.onChange(run);
  }
}

const maxIds = 2_000;

/**
 * The latest inline deliveries that failed, at most 4,000: the Hub sends these again. Keeping the IDs of all deliveries would take 1 µs
 * for each of them. There are two generations, so that no entry must be removed alone.
 */
export class FailedIds {
  #current = new Set<string>();
  #previous: ReadonlySet<string> = new Set<string>();

  add(key: DeliveryKey): void {
    this.#current.add(keyOf(key));
    if (this.#current.size < maxIds) return;
    this.#previous = this.#current;
    this.#current = new Set();
  }

  has(key: DeliveryKey): boolean {
    if (this.#current.size + this.#previous.size === 0) return false;
    const text = keyOf(key);
    return this.#current.has(text) || this.#previous.has(text);
  }
}

const maxRuns = 500;
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
 * The latest deliveries that no inbox stores, for the console: at most 500 runs, and at most 16 MiB. The runs are in a ring of fixed size,
 * and are only grouped into deliveries when they are read: a map of deliveries took four times as long per delivery, mostly to find its
 * oldest entry after many deletions.
 */
export class RecentDeliveries {
  /** More deliveries than are kept, to recognize those that the Hub sends again. */
  readonly failed = new FailedIds();
  readonly #redact: (text: string) => string;
  /** The runs from `#first` to before `#end`, each at the remainder of its number. */
  readonly #ring: (Run | undefined)[] = new Array(maxRuns).fill(undefined);
  #first = 0;
  #end = 0;
  #bytes = 0;

  constructor({ redact }: Pick<RecordingOptions, "redact">) {
    this.#redact = redact;
  }

  /** The kept deliveries, oldest first. A delivery that was sent again has several attempts, and the position of the last. */
  values(): readonly RecentDelivery[] {
    const deliveries = Map.groupBy(this.#runs().reverse(), keyOf);
    return [...deliveries.values()].reverse().map((runs) => toDelivery(runs.reverse(), this.#redact));
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
    if (this.#end - this.#first < maxRuns) return false;
    const ageMs = now - (this.#ring[this.#first % maxRuns]?.receivedAt.getTime() ?? now);
    return ageMs >= 0 && ageMs < 1_000;
  }

  /** Adds a run, and drops the oldest runs beyond the limits. A run that is itself too large is not kept. */
  add(run: Run): void {
    if (run.bytes > maxBytes) return;
    if (this.#end - this.#first === maxRuns) this.#dropOldest();
    this.#ring[this.#end % maxRuns] = run;
    this.#end += 1;
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
    const place = this.#first % maxRuns;
    const oldest = this.#ring[place];
    this.#ring[place] = undefined;
    this.#first += 1;
    if (!oldest) return;
    oldest.isKept = false;
    this.#bytes -= oldest.bytes;
  }

  #runs(): Run[] {
    const next = this.#end % maxRuns;
    return [...this.#ring.slice(next), ...this.#ring.slice(0, next)].filter((run) => run !== undefined);
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
