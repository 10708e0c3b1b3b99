import { describeError, readField } from "./describe.ts";

/** The method of one log level of a {@link Logger}. Takes fields and an optional message, or only a message. */
export interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * The logger interface of this package. A pino logger implements it. `console` does not implement it, because `console`
 * has no `child` method.
 *
 * @example
 * ```ts
 * import { pino } from "pino";
 * const server = new WebhooksServer({ logger: pino({ level: "debug" }) });
 * ```
 */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Creates a logger that adds `bindings` to each line. */
  child(bindings: Record<string, unknown>): Logger;
}

type Level = Exclude<keyof Logger, "child">;

/** Creates a logger from one function that writes the lines of every level. */
export function createLogger(
  write: (level: Level, fields: object | string, message?: string) => void,
  child: Logger["child"],
): Logger {
  const method = (level: Level): LogMethod => {
    return (fields: object | string, message?: string) => write(level, fields, message);
  };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error"), child };
}

export function writeLine(logger: Logger, level: Level, fields: object | string, message?: string): void {
  if (typeof fields === "string") logger[level](fields);
  else logger[level](fields, message);
}

/** Creates a logger that passes each call to the logger that `current` returns at that time. */
export function createForwardingLogger(current: () => Logger): Logger {
  return createLogger(
    (level, fields, message) => writeLine(current(), level, fields, message),
    (bindings) => current().child(bindings),
  );
}

/**
 * Wraps a logger so that no call throws. A field that cannot be serialized or a failing logger must not end a request or the
 * process. If the logger throws, the wrapper logs the line again with plain fields, and then without fields. If that fails
 * too, the wrapper reports the first lost line on the console. `failure` is shared with child loggers.
 */
export function createSafeLogger(logger: Logger, failure = { isReported: false }): Logger {
  const writeAgain = (level: Level, fields: object | string, message: string) => {
    const attempts =
      typeof fields === "string"
        ? [() => logger[level](fields)]
        : [() => logger[level](toPlainFields(fields), message), () => logger[level](message)];
    let thrown: unknown;
    for (const attempt of attempts) {
      try {
        attempt();
        return;
      } catch (error) {
        thrown = error;
      }
    }
    if (failure.isReported) return;
    failure.isReported = true;
    // The error's message is omitted, because it can contain log fields.
    console.error(`The logger threw ${describeError(thrown).name}, and log lines are lost. Check the "logger" option.`);
  };
  const write = (level: Level, fields: object | string, message?: string) => {
    try {
      writeLine(logger, level, fields, message);
    } catch {
      writeAgain(level, fields, message ?? "");
    }
  };
  return createLogger(write, (bindings) => {
    for (const given of [() => bindings, () => toPlainFields(bindings)]) {
      try {
        return createSafeLogger(logger.child(given()), failure);
      } catch {}
    }
    return createSafeLogger(logger, failure);
  });
}

/** Wraps a logger so that secrets are redacted in messages, fields, errors, and the bindings of child loggers. */
export function createRedactingLogger(logger: Logger, redaction: LogRedaction): Logger {
  const write = (level: Level, fields: object | string, message?: string) => {
    if (typeof fields === "string") logger[level](redaction.text(fields));
    else logger[level](asObject(redaction.value(fields)), message && redaction.text(message));
  };
  return createLogger(write, (bindings) =>
    createRedactingLogger(logger.child({ ...asObject(redaction.value(bindings)) }), redaction),
  );
}

/** Wraps the text that redaction returns for a value that cannot be inspected. */
function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : { fields: value };
}

const notSerializable = "[cannot be serialized]";

/** Converts log fields to plain data. A placeholder replaces each field that cannot be serialized. */
export function toPlainFields(fields: object): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.keys(fields).map((name) => [name, toPlainField(fields, name)]));
  } catch {
    return { fields: notSerializable };
  }
}

function toPlainField(fields: object, name: string): unknown {
  try {
    const value: unknown = Reflect.get(fields, name);
    if (name === "err") return describeError(value);
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return notSerializable;
  }
}

/** The text that replaces a secret. */
export const redacted = "[redacted]";

/**
 * The minimum length of a secret to redact. Shorter secrets also occur in ordinary words, and redacting these words
 * would reveal the secret.
 */
export const minRedactedLength = 8;

/** Limits the memory of a process that adds a secret for each tenant. The oldest secrets are removed first. */
const maxSecrets = 1_000;

/** Matches Hub access tokens, which are always redacted. */
const hubToken = /\bhf_[A-Za-z0-9]{30,}/g;

/** Replaces known secrets in logs and stored texts. */
export class LogRedaction {
  /** The encoded forms of each secret, oldest secret first. */
  readonly #forms = new Map<string, readonly SecretForm[]>();
  #matcher: SecretMatcher | undefined;

  /** Adds secrets to redact. Ignores `undefined` and secrets that are too short. */
  add(secrets: Iterable<string | undefined>): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < minRedactedLength || this.#forms.has(secret)) continue;
      this.#forms.set(secret, [...secretForms(secret).map((text) => ({ text })), ...base64Forms(secret)]);
      this.#matcher = undefined;
    }
    for (const oldest of this.#forms.keys()) {
      if (this.#forms.size <= maxSecrets) break;
      this.#forms.delete(oldest);
    }
  }

  text(text: string): string {
    // Most field names and values are too short to contain a secret.
    if (text.length < minRedactedLength) return text;
    let rest = text;
    if (this.#forms.size > 0) {
      this.#matcher ??= new SecretMatcher([...this.#forms.values()].flat());
      rest = this.#matcher.redact(text);
    }
    return rest.includes("hf_") ? rest.replace(hubToken, redacted) : rest;
  }

  /** Redacts the strings in a log line that is a JSON object. */
  line(line: string): string {
    if (this.text(line) === line) return line;
    try {
      // Redacting the raw line would break the JSON if a number contained a secret that consists of digits.
      const copy = JSON.stringify(this.#copy(JSON.parse(line), new Map()));
      return line.endsWith("\n") ? `${copy}\n` : copy;
    } catch {
      return this.text(line);
    }
  }

  /**
   * Redacts the strings in a value before it is logged. Returns the same object if it contains no secret, otherwise a
   * copy that keeps errors as `Error` objects. Never throws.
   */
  value(value: unknown): unknown {
    try {
      return this.#hasSecret(value, new Set()) ? this.#copy(value, new Map()) : value;
    } catch {
      return this.text(describeError(value).message);
    }
  }

  #hasSecret(value: unknown, seen: Set<object>): boolean {
    if (typeof value === "string") return this.text(value) !== value;
    if (typeof value !== "object" || value === null || seen.has(value)) return false;
    seen.add(value);
    if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value) {
      return partsOf(value).some(([name, part]) => this.text(name) !== name || this.#hasSecret(part, seen));
    }
    // Most log fields are plain objects. Iterating over their fields takes half the time of calling `partsOf`.
    for (const name in value) {
      if (this.text(name) !== name || this.#hasSecret(readField(value, name), seen)) return true;
    }
    return false;
  }

  #copy(value: unknown, copies: Map<object, unknown>): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (copies.has(value)) return copies.get(value);
    const copy = emptyCopy(value);
    copies.set(value, copy);
    for (const [name, part] of partsOf(value)) {
      const isHidden = value instanceof Error && hiddenFields.includes(name);
      const copied = { value: this.#copy(part, copies), enumerable: !isHidden, writable: true, configurable: true };
      Object.defineProperty(copy, this.text(name), copied);
    }
    return copy;
  }
}

const hiddenFields: readonly string[] = ["message", "stack", "cause", "errors"];

/** Returns the parts of an object that a logger can write: own fields, and the contents of errors and collections. */
function partsOf(value: object): [name: string, part: unknown][] {
  if (value instanceof URL) return [["href", value.href]];
  if (value instanceof Map || value instanceof Set || isHeaders(value)) {
    return Array.from(value, (entry, index): [string, unknown] => [String(index), entry]);
  }
  // Loggers do not write bytes as text.
  if (ArrayBuffer.isView(value) || value instanceof Date) return [];
  if (!(value instanceof Error) && "toJSON" in value && typeof value.toJSON === "function") {
    return partsOf({ json: value.toJSON() });
  }
  const hidden = value instanceof Error ? hiddenFields.filter((name) => readField(value, name) !== undefined) : [];
  return [...new Set([...hidden, ...Object.keys(value)])].map((name) => [name, readField(value, name)]);
}

function isHeaders(value: object): value is Headers {
  return Object.prototype.toString.call(value) === "[object Headers]";
}

function emptyCopy(value: object): object {
  if (value instanceof Error) return Object.setPrototypeOf(new Error(), Object.getPrototypeOf(value));
  return Array.isArray(value) || value instanceof Map || value instanceof Set || isHeaders(value) ? [] : {};
}

/** One encoding in which a text can contain a secret. */
interface SecretForm {
  text: string;
  /** Whether the character before `text` also encodes bits of the secret. */
  hasHead?: boolean;
  /** Whether the character after `text` also encodes bits of the secret. */
  hasTail?: boolean;
}

/**
 * Returns a secret in all encodings in which a text can contain it: plain, in JSON, in JSON within JSON,
 * percent-encoded, and as a form field. For base64, see {@link base64Forms}.
 */
export function secretForms(secret: string): string[] {
  return [...new Set([secret, inJson(secret), inJson(inJson(secret)), ...percentForms(secret.toWellFormed())])];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Returns the percent-encoded forms of a secret. Libraries differ in the characters that they escape, the case of
 * hexadecimal digits, and the encoding of a space.
 */
function percentForms(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const field = new URLSearchParams([["", secret]]).toString().slice(1);
  return [component, strict, component.replaceAll("%20", "+"), strict.replaceAll("%20", "+"), field].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()),
  ]);
}

/**
 * Returns the base64 characters of a secret that do not depend on the text around the secret, as in `Basic <user:secret>`.
 * There is one form for each of the three offsets at which the secret can start in a group of three bytes, in the standard
 * and in the URL-safe alphabet.
 */
function base64Forms(secret: string): SecretForm[] {
  const bytes = Array.from(new TextEncoder().encode(secret), (byte) => String.fromCharCode(byte)).join("");
  return [0, 1, 2].flatMap((before) => {
    const bits = (before + bytes.length) * 8;
    const encoded = btoa("\0".repeat(before) + bytes);
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_");
    const edges = { hasHead: before > 0, hasTail: bits % 6 > 0 };
    return text === urlSafe ? [{ text, ...edges }] : [text, urlSafe].map((form) => ({ text: form, ...edges }));
  });
}

const blockLength = 3;
const maxShift = minRedactedLength - blockLength + 1;
const tableSize = 2 ** 16;

const inBase64 = /[\w+/-]/;

interface Span {
  start: number;
  end: number;
}

/**
 * Finds all forms in one pass with the Wu-Manber algorithm. A table contains the distance that the search can skip for
 * every three characters. Unlike a regular expression with alternatives, it skips most characters of the text and is
 * cheap to rebuild when a secret is added, even with a thousand secrets.
 */
class SecretMatcher {
  readonly #shifts = new Uint8Array(tableSize).fill(maxShift);
  readonly #byStart = new Map<string, SecretForm[]>();

  constructor(forms: Iterable<SecretForm>) {
    for (const form of forms) {
      for (let last = blockLength - 1; last < minRedactedLength; last += 1) {
        const block = blockAt(form.text, last);
        this.#shifts[block] = Math.min(this.#shifts[block] ?? 0, minRedactedLength - 1 - last);
      }
      const start = form.text.slice(0, minRedactedLength);
      const others = this.#byStart.get(start);
      if (others) others.push(form);
      else this.#byStart.set(start, [form]);
    }
    for (const sameStart of this.#byStart.values())
      sameStart.sort((left, right) => right.text.length - left.text.length);
  }

  /** Overlapping forms are replaced together. */
  redact(text: string): string {
    const spans: Span[] = [];
    for (let last = minRedactedLength - 1; last < text.length; ) {
      const shift = this.#shifts[blockAt(text, last)] ?? 0;
      const span = shift === 0 ? this.#spanAt(text, last - minRedactedLength + 1) : undefined;
      const before = spans.at(-1);
      if (span && before && span.start < before.end) before.end = Math.max(before.end, span.end);
      else if (span) spans.push(span);
      last += Math.max(shift, 1);
    }
    if (spans.length === 0) return text;
    let rest = "";
    let end = 0;
    for (const span of spans) {
      rest += text.slice(end, span.start) + redacted;
      end = span.end;
    }
    return rest + text.slice(end);
  }

  /** Returns the span of the longest form at `start`, including characters at the edges that encode parts of the secret. */
  #spanAt(text: string, start: number): Span | undefined {
    const sameStart = this.#byStart.get(text.slice(start, start + minRedactedLength));
    const form = sameStart?.find((candidate) => text.startsWith(candidate.text, start));
    if (!form) return undefined;
    const end = start + form.text.length;
    const head = form.hasHead && inBase64.test(text.charAt(start - 1)) ? 1 : 0;
    const tail = form.hasTail ? (/^[\w+/-]?={0,2}/.exec(text.slice(end, end + 3))?.[0].length ?? 0) : 0;
    return { start: start - head, end: end + tail };
  }
}

function blockAt(text: string, last: number): number {
  const bits = (text.charCodeAt(last - 2) << 10) ^ (text.charCodeAt(last - 1) << 5) ^ text.charCodeAt(last);
  return bits & (tableSize - 1);
}
