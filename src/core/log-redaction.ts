import { describeError } from "./describe-error.ts";
import { readField } from "./read-field.ts";
import { base64Forms, minFormLength, type SecretForm, SecretMatcher, secretForms } from "./secret-matcher.ts";

/** The text that replaces a secret. */
export const redacted = "[redacted]";

/**
 * The minimum length of a secret to redact. Shorter secrets also occur in ordinary words, and redacting these words
 * would reveal the secret.
 */
export const minRedactedLength = minFormLength;

/**
 * The maximum number of secrets. The maximum limits the memory of a process that adds a secret for each tenant. The
 * oldest secrets are removed first.
 */
const maxSecrets = 1_000;

/** Matches Hub access tokens, which are always redacted. */
const hubToken = /\bhf_[A-Za-z0-9]{30,}/g;

/**
 * Replaces known secrets in logs and stored texts.
 *
 * @example
 * ```ts
 * const redaction = new LogRedaction();
 * redaction.add([secret]);
 * redaction.text(`The secret is ${secret}.`); // "The secret is [redacted]."
 * ```
 */
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

  /** Redacts a text. */
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
