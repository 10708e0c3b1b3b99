import { describeError, readField } from "./describe-error.ts";
import { base64Forms, type SecretForm, secretForms } from "./secret-forms.ts";
import { minFormLength, SecretMatcher } from "./secret-matcher.ts";

/** What is written in the place of a secret. */
export const redacted = "[redacted]";

/**
 * Shorter secrets are not redacted in logs: they stand inside ordinary words, and the gaps would give them away. Choose
 * longer ones.
 */
export const minRedactedLength = minFormLength;

/** Secrets come and go in a process that serves many tenants; the oldest are forgotten first. */
const maxSecrets = 1_000;

/** An access token of the Hub, whether or not it is known here. */
const hubToken = /\bhf_[A-Za-z0-9]{30,}/g;

/**
 * Replaces known secrets in what is logged and stored.
 *
 * @example
 * ```ts
 * const redaction = new Redaction();
 * redaction.add([secret]);
 * redaction.text(`The secret is ${secret}.`); // "The secret is [redacted]."
 * ```
 */
export class Redaction {
  /** The forms of each secret, by the time it was added. */
  readonly #forms = new Map<string, readonly SecretForm[]>();
  /** Made when it is first needed after a change. */
  #matcher: SecretMatcher | undefined;

  /** Redacts these from now on, too. What is not set or too short is left out. */
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

  /** The text without secrets. */
  text(text: string): string {
    // Too short for any of them, as most names and values of fields are.
    if (text.length < minRedactedLength) return text;
    const rest = this.#forms.size > 0 ? this.#matching().replace(text, redacted) : text;
    return rest.includes("hf_") ? rest.replace(hubToken, redacted) : rest;
  }

  #matching(): SecretMatcher {
    this.#matcher ??= new SecretMatcher([...this.#forms.values()].flat());
    return this.#matcher;
  }

  /** A log line that is a JSON object, without secrets in its texts. */
  line(line: string): string {
    if (this.text(line) === line) return line;
    try {
      // Not in the line as it stands: a secret of digits may be a part of a number.
      const copy = JSON.stringify(this.#copy(JSON.parse(line), new Map()));
      return line.endsWith("\n") ? `${copy}\n` : copy;
    } catch {
      return this.text(line);
    }
  }

  /**
   * A value without secrets, for a logger that serializes it in its own way. The same object where it holds none; else a
   * copy of which errors are errors. Never throws.
   */
  value(value: unknown): unknown {
    try {
      return this.#holdsSecret(value, new Set()) ? this.#copy(value, new Map()) : value;
    } catch {
      return this.text(describeError(value).message);
    }
  }

  #holdsSecret(value: unknown, seen: Set<object>): boolean {
    if (typeof value === "string") return this.text(value) !== value;
    if (typeof value !== "object" || value === null || seen.has(value)) return false;
    seen.add(value);
    if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value) {
      return partsOf(value).some(([name, part]) => this.text(name) !== name || this.#holdsSecret(part, seen));
    }
    // The fields of every line are such an object: without a list of its parts it takes half as long.
    for (const name in value) {
      if (this.text(name) !== name || this.#holdsSecret(readField(value, name), seen)) return true;
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

/** What a logger could write of an object: its own fields, and what errors and collections keep elsewhere. */
function partsOf(value: object): [name: string, part: unknown][] {
  if (value instanceof URL) return [["href", value.href]];
  if (value instanceof Map || value instanceof Set || isHeaders(value)) {
    return Array.from(value, (entry, index): [string, unknown] => [String(index), entry]);
  }
  // Bytes: nothing that a logger writes as text.
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
