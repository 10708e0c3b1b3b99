/*
 * A URL can hold what only its owner may know: the password before the host, and the value of `?secret=`, which is how
 * the Hub lets those receive a secret who cannot read headers.
 */

const secretParameter = /([?&](?:secret|token|password)=)([^&#\s'"]*)/gi;
const password = /(:\/\/[^\s/?#@:]*:)([^\s/?#]*)@/g;

/** A text with the secrets of every URL in it shown as `***`. */
export function maskUrl(text: string): string {
  return text.replace(secretParameter, "$1***").replace(password, "$1***@");
}

/** The secrets that stand in a text's URLs, as they are written and as they are meant. */
export function secretsInUrl(text: string): string[] {
  const written = [secretParameter, password].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, , secret]) => secret ?? ""),
  );
  return [...new Set(written.flatMap((secret) => [secret, decoded(secret)]))].filter((secret) => secret !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
