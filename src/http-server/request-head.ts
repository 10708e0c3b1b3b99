import type { IncomingMessage } from "node:http";

/**
 * Returns the problem of a request whose head a proxy in front of the server could interpret differently (request
 * smuggling), although Node's parser accepts it; `undefined` if there is none.
 */
export function headProblem({ httpVersionMajor, rawHeaders, headers }: IncomingMessage): string | undefined {
  // Node accepts "HTTP/2.0" and "HTTP/0.9" in the syntax of HTTP/1.
  if (httpVersionMajor !== 1) return "Unsupported HTTP version";
  // Node keeps the first one.
  if (hasDuplicateHeader(rawHeaders, "host")) return "Several Host headers";
  const coding = headers["transfer-encoding"];
  // Node decodes only the chunks of "gzip, chunked".
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "Unsupported Transfer-Encoding";
  return undefined;
}

/** Whether a header occurs more than once. The name is in lower case. */
export function hasDuplicateHeader(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
