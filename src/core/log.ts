import { describeError, readField } from "./describe.ts";
import { base64Forms, minFormLength, type SecretForm, SecretMatcher, secretForms } from "./secrets.ts";

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

function writeLine(logger: Logger, level: Level, fields: object | string, message?: string): void {
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
export const minRedactedLength = minFormLength;

/** Limits the memory of a process that adds a secret for each tenant. The oldest secrets are removed first. */
const maxSecrets = 1_000;

/** Matches Hub access tokens, which are always redacted. */
const hubToken = /\bhf_[A-Za-z0-9]{30,}/g;

/** Replaces known secrets in logs and stored texts. */
export class LogRedaction {
  /** The encoded forms of each secret, oldest secret first. */
  readonly #forms = new Map<string, readonly SecretForm[]>();
  /** Created on first use after each change of the secrets. */
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
    const rest = this.#forms.size > 0 ? this.#matching().replace(text, redacted) : text;
    return rest.includes("hf_") ? rest.replace(hubToken, redacted) : rest;
  }

  #matching(): SecretMatcher {
    this.#matcher ??= new SecretMatcher([...this.#forms.values()].flat());
    return this.#matcher;
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
