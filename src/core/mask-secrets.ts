import { maskUrl, secretsInUrl } from "./urls.ts";

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
