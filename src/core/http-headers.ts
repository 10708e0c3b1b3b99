// The hop-by-hop headers of RFC 9110, section 7.6.1.
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
 * Returns the names, in lowercase, of the headers that a proxy must not forward: the standard hop-by-hop headers and the
 * headers that the `Connection` header of the message lists.
 *
 * @param connection the value of the `Connection` header.
 */
export function hopByHopHeaders(connection: string | null | undefined): ReadonlySet<string> {
  if (!connection) return hopByHopNames;
  const listed = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set([...hopByHop, ...listed.filter((name) => headerName.test(name))]);
}

/**
 * Whether a request is a page navigation in a browser. Browsers list HTML in `Accept`. The Hub and HTTP libraries do
 * not.
 */
export function wantsHtml({ method, accept }: { method: string; accept: string | null | undefined }): boolean {
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(accept ?? "");
}
