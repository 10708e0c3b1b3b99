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
  // The object has no prototype, because a header may be named "__proto__".
  const recorded: Record<string, string> = Object.create(null);
  let size = 0;
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    const shown = plain.has(name) ? value : sensitive.test(name) ? redacted : redact(value);
    size += name.length + shown.length;
    if (size > maxSize) break;
    recorded[name] = name in recorded ? `${recorded[name]}, ${shown}` : shown;
  }
  return recorded;
}
