import { redacted, secretForms } from "../../core/log.ts";
import { secretsInUrl } from "../../core/urls.ts";

/**
 * The minimum length of a secret that is replaced. A text with a shorter secret is removed completely, because a
 * replacement within ordinary words would reveal the secret.
 */
const minRedactedChars = 4;
/** The maximum length of a redacted text, in characters. Longer texts are truncated. */
const maxShownChars = 500;

/** Fields and query parameters whose values must not appear in errors. `value`: the secret of a Space. */
const secretName = /^(?:secrets?|token|password|value)$/i;

/**
 * Makes a text from the Hub or from `fetch` safe to print: removes secrets, line breaks, and control characters, and truncates the
 * text.
 */
export type Redact = (text: string) => string;

/** Creates a {@link Redact} function that removes these secrets in all encodings that a response can contain. */
export function createRedact(secrets: readonly string[]): Redact {
  // Longer secrets are replaced first, because a secret can contain another secret.
  const ordered = [...new Set(secrets.flatMap(secretForms).map(toOneLine))]
    .filter((form) => form !== "")
    .sort((left, right) => right.length - left.length);

  function redactSecrets(text: string): string {
    let rest = text;
    for (const secret of ordered) {
      if (!rest.includes(secret)) continue;
      if (secret.length < minRedactedChars) return "(removed: contains a secret)";
      rest = rest.replaceAll(secret, redacted);
    }
    return rest;
  }
  // The order matters: control characters can hide a secret, and truncation can cut a secret in two.
  return (text) => shorten(redactSecrets(toOneLine(text)));
}

function toOneLine(text: string): string {
  return text
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "") // Removes whole escape sequences.
    .replace(/\s+/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "")
    .trim();
}

function shorten(text: string): string {
  return text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text;
}

/**
 * Finds the secrets in a request body: the values of fields such as `secret` and `secrets`, and the passwords and secret query
 * parameters in URLs.
 */
export function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === "string") return isSecret ? [value] : secretsInUrl(value);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => secretsIn(part, isSecret || secretName.test(name)));
}

/** Copies the message and code of a `fetch` error. The original error can contain the headers of the request, including the token. */
export function sanitizeError(error: unknown, redact: Redact): Error {
  const chain = [error, error instanceof Error ? error.cause : undefined].filter((part) => part instanceof Error);
  const message = chain.map((part) => part.message || codeOf(part)).filter((part) => part !== "");
  const code = chain.map(codeOf).find((part) => part !== "");
  const copy = new Error(redact(message.join(": ")) || "unknown reason");
  return code ? Object.assign(copy, { code: redact(code) }) : copy;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
