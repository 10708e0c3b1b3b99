import { describeError, type ErrorDescription, isInstanceOf, messageOf } from "../core/describe.ts";
import { createLogger, type Logger, toPlainFields } from "../core/log.ts";
import { copyStart } from "../core/text.ts";
import type { AttemptDetails, AttemptLog, DeliveryAttempt } from "../inbox/inbox.ts";
import type { Delivery, Outcome } from "../payload/parse.ts";

/** The maximum size of the details of one attempt, in characters of JSON text. */
const maxDetails = 16 * 1024;
/** The shares of the result and the stack. The rest is for the lines of the log. */
const maxResult = 6 * 1024;
const maxStack = 4 * 1024;
const maxMessage = 1_024;
/** The characters of a line without its message and fields. */
const lineOverhead = 60;

/** The memory of a run without its body and details, in bytes: objects, headers, and keys. */
const bytesPerRun = 2_048;

export interface RecordingOptions {
  /** Whether to record results, stacks, logs, and request headers. */
  recordDetails: boolean;
  now: () => number;
  /** Removes secrets from a text. */
  redact: (text: string) => string;
}

/** What a run keeps of its delivery. */
export type RecordedDelivery = Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt">;

/** Where a delivery comes from: the headers of its request, or the delivery of which it is a copy. */
export interface DeliveryOrigin {
  headers?: (() => HeaderEntries) | undefined;
  replayOf?: string | undefined;
}

/** The end of a run. */
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
  /** The status of the response. Missing if no client waited for one. */
  responseStatus?: number;
  /** Created when they are read. */
  readonly details: AttemptDetails | undefined;
}

type EndedRun = Omit<RecentAttempt, "number" | "details">;

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
  /** The number of characters of the recorded lines. */
  #size = 0;
  #isFull = false;
  #isTruncated = false;
  #ended: EndedRun | undefined = undefined;
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
    const ended: EndedRun = { startedAt: this.receivedAt, durationMs: ms, outcome: outcome.status };
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

  /** Restores a run of another process, which has ended. */
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
        if (typeof fields === "string") log[level](fields);
        else log[level](fields, message);
        if (typeof fields === "string") this.#record(level, bindings, fields);
        else this.#record(level, { ...bindings, ...fieldsOf(fields) }, message ?? messageIn(fields));
      },
      (added) => this.#wrap(log.child(added), { ...bindings, ...toPlainFields(added) }),
    );
  }

  #record(level: AttemptLog["level"], fields: Readonly<Record<string, unknown>>, message: unknown): void {
    if (this.#isFull) return;
    const { now, redact } = this.#options;
    const text = this.#cut(redact(typeof message === "string" ? message : messageOf(message)), maxMessage);
    const fieldsText = Object.keys(fields).length === 0 ? undefined : this.#cut(redact(toJson(fields)), maxMessage);
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

/** Returns the fields of a line. `log.error(error)` and pino's loggers accept an error as the fields. */
function fieldsOf(fields: object): Record<string, unknown> {
  return isInstanceOf(fields, Error) ? { err: describeError(fields) } : toPlainFields(fields);
}

function messageIn(fields: object): string {
  return isInstanceOf(fields, Error) ? messageOf(fields) : "";
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

/** Whether a line is not a frame of Node or of a package. */
function isOwnLine(line: string): boolean {
  return !/^\s+at .*(?:\bnode:|[\\/]node_modules[\\/])/.test(line);
}

function toJson(fields: object): string {
  try {
    return JSON.stringify(fields);
  } catch {
    return "{}";
  }
}

/** The headers of a request, as they arrived. */
export type HeaderEntries = Iterable<readonly [name: string, value: string]>;

const redacted = "[redacted]";
/** The maximum size of the stored headers, in characters. */
const maxSize = 4_096;

/** The headers that every delivery has, and that never contain a secret. */
const plain: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-length",
  "content-type",
  "date",
  "host",
  "traceparent",
  "user-agent",
  "webhook-id",
]);

/** Names that can have a secret as their value. */
const sensitive = /secret|token|auth|cookie|key|signature|pass|credential|session|jwt|oidc|principal|assertion/;

/**
 * Returns the headers of a request as the console shows them and the inbox stores them. Values that can be secrets are redacted by
 * name, before anything is stored. `redact` removes known secrets from the others, such as a path with `?secret=` that a proxy
 * forwards.
 */
export function recordHeaders(
  entries: HeaderEntries,
  redact: (text: string) => string,
): Readonly<Record<string, string>> {
  // Creating an object without a prototype and converting it to JSON takes twice as long.
  const recorded: Record<string, string> = {};
  let size = 0;
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    const shown = plain.has(name) ? value : sensitive.test(name) ? redacted : redact(value);
    size += name.length + shown.length;
    if (size > maxSize) break;
    const all = Object.hasOwn(recorded, name) ? `${recorded[name]}, ${shown}` : shown;
    // An assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(recorded, name, { value: all, enumerable: true, writable: true });
    else recorded[name] = all;
  }
  return recorded;
}
