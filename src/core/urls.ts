/**
 * Parses an http or https base URL, and returns the URL without a trailing slash. Returns `undefined` for any other
 * text, and for a URL with a username, password, query, or fragment. Error messages must not quote the rejected URL,
 * because it can contain a password.
 */
export function readBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== "") return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/**
 * Whether the host of a parsed URL is this machine. URL parsers convert other notations, such as `0x7f.1` or `2130706433`, to the
 * usual one. Unlike `isLoopbackHost`, also finds addresses to which no server listens.
 */
export function isOnThisMachine(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  // The unspecified address also connects to this machine. `::ffff:` starts an IPv4 address.
  return /^(?:(?:.*\.)?localhost|(?:0|127)(?:\.\d+){3}|\[::(?:1|ffff:(?:0|7f..):[^:]+)?\])$/.test(name);
}

/** Whether an IP address is a loopback address, to which only this machine can connect. */
export function isLoopbackAddress(address: string): boolean {
  if (/^127(?:\.\d+){3}$/.test(address)) return URL.parse(`http://${address}`)?.hostname === address;
  // The parser shortens an IPv6 address, and converts an IPv4 address in it to hexadecimal.
  const host = /^[\da-f:.]+$/i.test(address) ? URL.parse(`http://[${address}]`)?.hostname : undefined;
  return host !== undefined && /^\[::(?:1|ffff:7f..:[^:]+)\]$/.test(host);
}

/** Whether the host of a URL or `Host` header, without the port, is a loopback address or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
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
  return [...new Set(written.flatMap((secret) => [secret, decodeQueryPart(secret)]))].filter((secret) => secret !== "");
}

/** Decodes a part of a query. Returns a text that is not encoded correctly unchanged. */
export function decodeQueryPart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
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

/** The hop-by-hop headers of RFC 9110, section 7.6.1. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const headerName = /^[!#$%&'*+.^`|~\w-]+$/;

/**
 * Returns the names, in lowercase, of the headers that a proxy must not forward: the standard hop-by-hop headers and those that
 * the `Connection` header of the message lists.
 */
export function hopByHopHeaders(connection: string | null | undefined): ReadonlySet<string> {
  if (!connection) return hopByHop;
  const listed = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set([...hopByHop, ...listed.filter((name) => headerName.test(name))]);
}

/** Whether a request is a page navigation in a browser. Browsers list HTML in `Accept`, unlike the Hub and HTTP libraries. */
export function wantsHtml({ method, accept }: { method: string; accept: string | null | undefined }): boolean {
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(accept ?? "");
}

/** The path prefix of every endpoint. The Hub's Python library uses the same prefix. */
export const webhooksPath = "/webhooks/";

/** The Hub page where users add webhooks. `HF_ENDPOINT` does not change this URL. */
export const webhookSettingsUrl = "https://huggingface.co/settings/webhooks";

/** The path of the console, without a trailing slash. */
export const consolePath = "/_console";

/** The default port of a launched server. Spaces use the same port. */
export const defaultPort = 7860;

export const defaultHubPort = 5050;

export const defaultLocalHubUrl = `http://127.0.0.1:${defaultHubPort}`;

/** The default inbox of a launched server. The path is relative to the working directory. */
export const defaultInboxUrl = "sqlite:./.hub-webhooks/inbox.db";
