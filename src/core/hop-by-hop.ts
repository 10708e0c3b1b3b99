/** Headers about one connection, which must not be passed on to another (RFC 9110, 7.6.1). */
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
 * The hop-by-hop headers of a message, in lower case: the standard ones and those that its `Connection` header names.
 *
 * @param connection the value of its `Connection` header.
 */
export function hopByHopHeaders(connection: string | null | undefined): ReadonlySet<string> {
  if (!connection) return hopByHopNames;
  const named = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set([...hopByHop, ...named.filter((name) => headerName.test(name))]);
}
