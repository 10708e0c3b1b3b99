// RFC 9110, 7.6.1.
const hopByHop: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

const headerName = /^[!#$%&'*+.^`|~\w-]+$/;

const hopByHopNames: ReadonlySet<string> = new Set(hopByHop);

/**
 * The headers of a message that a proxy must not forward, in lower case: the standard ones and those that its `Connection`
 * header lists.
 *
 * @param connection the value of its `Connection` header.
 */
export function hopByHopHeaders(connection: string | null | undefined): ReadonlySet<string> {
  if (!connection) return hopByHopNames;
  const listed = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set([...hopByHop, ...listed.filter((name) => headerName.test(name))]);
}

/** Whether a browser navigates to a page: it accepts HTML explicitly, which neither the Hub nor programs do by default. */
export function wantsHtml({ method, accept }: { method: string; accept: string | null | undefined }): boolean {
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(accept ?? "");
}
