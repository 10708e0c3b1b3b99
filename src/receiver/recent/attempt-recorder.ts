import { describeError, type ErrorDescription, messageOf } from "../../core/describe.ts";
import { createLogger, type Logger, toPlainFields } from "../../core/log.ts";
import { copyStart } from "../../core/text.ts";
import type { AttemptDetails } from "../../inbox/inbox.ts";
import type { Outcome } from "../../payload/parse.ts";

/** The maximum size of the details of one attempt, in characters of JSON text. */
const maxDetails = 16 * 1024;
/** The shares of the result and the stack. The rest is for the lines of the log. */
const maxResult = 6 * 1024;
const maxStack = 4 * 1024;
const maxMessage = 1_024;
/** The characters of a line without its message and fields. */
const lineOverhead = 60;

type LogLine = NonNullable<AttemptDetails["logs"]>[number];
type Level = LogLine["level"];

export interface AttemptRecorderOptions {
  now: () => number;
  /** Removes secrets from a text. */
  redact: (text: string) => string;
}

/**
 * Records what happens in one attempt for the console: the lines that the handler logs, its result, and the stack of its error, at
 * most 16 KiB in all. An attempt without any of them costs one small object.
 */
export class AttemptRecorder {
  readonly #options: AttemptRecorderOptions;
  #lines: LogLine[] | undefined;
  #size = 0;
  #isFull = false;
  #isTruncated = false;

  constructor(options: AttemptRecorderOptions) {
    this.#options = options;
  }

  /** The number of characters of the recorded lines. */
  get size(): number {
    return this.#size;
  }

  /** Returns a logger that writes to `log` and records each line. */
  wrap(log: Logger): Logger {
    return this.#wrap(log, {});
  }

  /**
   * Returns the details of the attempt, or `undefined` if there are none.
   *
   * @param resultText the result as JSON text, if the handler returned a value.
   */
  details(outcome: Outcome, resultText: string | null | undefined): AttemptDetails | undefined {
    const { redact } = this.#options;
    const result = resultText == null ? undefined : this.#cut(redact(resultText), maxResult);
    const stack = outcome.status === "failed" ? stackOf(outcome.error.cause) : undefined;
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

  #record(level: Level, fields: Readonly<Record<string, unknown>>, message: unknown): void {
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
  return isError(fields) ? { err: describeError(fields) } : toPlainFields(fields);
}

function messageIn(fields: object): string {
  return isError(fields) ? messageOf(fields) : "";
}

function isError(fields: object): boolean {
  try {
    return fields instanceof Error;
  } catch {
    // A revoked `Proxy`.
    return false;
  }
}

/** Returns the part of a result that {@link AttemptRecorder.details} can use, without keeping a large text in memory. */
export function trimResult(text: string): string {
  return text.length <= maxResult ? text : copyStart(text, maxResult + 1);
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
