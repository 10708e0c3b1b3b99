/**
 * Parses an http or https base URL, and returns the URL without a trailing slash. Returns `undefined` for any other
 * text, and for a URL with a username, password, query, or fragment. Error messages must not quote the rejected URL,
 * because it can contain a password.
 *
 * @example
 * ```ts
 * readBaseUrl("https://bot.example.com/hooks/"); // "https://bot.example.com/hooks"
 * readBaseUrl("https://me:secret@example.com"); // undefined
 * ```
 */
export function readBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== "") return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

// The URL of a webhook can contain the secret as `?secret=`.
const secretParameter = /([?&](?:secret|token|password)=)([^&#\s'"]*)/gi;
const password = /(:\/\/[^\s/?#@:]*:)([^\s/?#]*)@/g;

/** Replaces the passwords and secret parameters of every URL in a text with `***`. */
export function maskUrl(text: string): string {
  return text.replace(secretParameter, "$1***").replace(password, "$1***@");
}

/** Returns the passwords and secret parameters of every URL in a text, both as written and decoded. */
export function secretsInUrl(text: string): string[] {
  const written = [secretParameter, password].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, , secret]) => secret ?? ""),
  );
  return [...new Set(written.flatMap((secret) => [secret, decode(secret)]))].filter((secret) => secret !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
