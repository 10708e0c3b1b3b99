import { maskUrl, secretsInUrl } from "./urls.ts";

/** One encoding in which a text can contain a secret. */
export interface SecretForm {
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
export function base64Forms(secret: string): SecretForm[] {
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

/** The minimum length of a form that {@link SecretMatcher} supports. */
export const minFormLength = 8;

/** The number of characters in each table lookup. */
const blockLength = 3;
const maxShift = minFormLength - blockLength + 1;
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
export class SecretMatcher {
  readonly #shifts = new Uint8Array(tableSize).fill(maxShift);
  readonly #byStart = new Map<string, SecretForm[]>();

  constructor(forms: Iterable<SecretForm>) {
    for (const form of forms) {
      for (let last = blockLength - 1; last < minFormLength; last += 1) {
        const block = blockAt(form.text, last);
        this.#shifts[block] = Math.min(this.#shifts[block] ?? 0, minFormLength - 1 - last);
      }
      const start = form.text.slice(0, minFormLength);
      const others = this.#byStart.get(start);
      if (others) others.push(form);
      else this.#byStart.set(start, [form]);
    }
    for (const sameStart of this.#byStart.values())
      sameStart.sort((left, right) => right.text.length - left.text.length);
  }

  /** Replaces every form in a text. Overlapping forms are replaced together. */
  replace(text: string, replacement: string): string {
    const spans = this.#spansIn(text);
    if (spans.length === 0) return text;
    let replaced = "";
    let end = 0;
    for (const span of spans) {
      replaced += text.slice(end, span.start) + replacement;
      end = span.end;
    }
    return replaced + text.slice(end);
  }

  #spansIn(text: string): Span[] {
    const spans: Span[] = [];
    for (let last = minFormLength - 1; last < text.length; ) {
      const shift = this.#shifts[blockAt(text, last)] ?? 0;
      const span = shift === 0 ? this.#spanAt(text, last - minFormLength + 1) : undefined;
      const before = spans.at(-1);
      if (span && before && span.start < before.end) before.end = Math.max(before.end, span.end);
      else if (span) spans.push(span);
      last += Math.max(shift, 1);
    }
    return spans;
  }

  /** Returns the span of the longest form at `start`, including characters at the edges that encode parts of the secret. */
  #spanAt(text: string, start: number): Span | undefined {
    const sameStart = this.#byStart.get(text.slice(start, start + minFormLength));
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

/** Shorter secrets can be common words such as "postgres", so they are only masked inside a URL. */
const minUniqueLength = 12;

/**
 * Replaces the username, the password, and the secret parameters of a URL with `***` in a text, such as the message of a database
 * driver. Also masks the passwords of other URLs in the text.
 */
export function maskSecretsOf(url: string, text: string): string {
  // An unescaped slash in a password makes the URL invalid, but the password must still be masked.
  const [, username = "", password = ""] = /:\/\/([^:@/]*)(?::(.*))?@/s.exec(url) ?? [];
  return [...secretsInUrl(url), username, password]
    .filter((secret) => secret !== "")
    .sort((left, right) => right.length - left.length)
    .reduce((masked, secret) => {
      const inPlace = masked.replaceAll(`:${secret}@`, ":***@");
      return secret.length < minUniqueLength ? inPlace : inPlace.replaceAll(secret, "***");
    }, maskUrl(text));
}
