import type { IncomingMessage } from "node:http";

/**
 * Returns the reason why a request that Node's parser accepts must be refused: a proxy in front of the server could
 * interpret its headers differently, which enables request smuggling. Returns `undefined` for unambiguous requests.
 */
export function headProblem({ httpVersionMajor, rawHeaders, headers }: IncomingMessage): string | undefined {
  // Node accepts the versions "HTTP/2.0" and "HTTP/0.9" in HTTP/1 syntax.
  if (httpVersionMajor !== 1) return "Unsupported HTTP version";
  // Node uses the first Host header, but a proxy can use another one.
  if (hasDuplicateHeader(rawHeaders, "host")) return "Multiple Host headers";
  const coding = headers["transfer-encoding"];
  // For "gzip, chunked", Node decodes the chunks but does not decompress the body.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "Unsupported Transfer-Encoding";
  return undefined;
}

/** Whether a header occurs more than once. Pass the name in lowercase. */
export function hasDuplicateHeader(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
