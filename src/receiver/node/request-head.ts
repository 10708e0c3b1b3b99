import type { IncomingMessage } from "node:http";

/**
 * What is wrong with a request whose head Node's parser accepts, though a proxy in front could read it another way;
 * `undefined` where nothing is.
 */
export function headProblem({ httpVersionMajor, rawHeaders, headers }: IncomingMessage): string | undefined {
  // Node accepts "HTTP/2.0" and "HTTP/0.9" in the syntax of HTTP/1.
  if (httpVersionMajor !== 1) return "Unsupported HTTP version";
  // Of several it keeps the first.
  if (hasDuplicateHeader(rawHeaders, "host")) return "Several Host headers";
  const coding = headers["transfer-encoding"];
  // Of "gzip, chunked" it removes the chunks only.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "Unsupported Transfer-Encoding";
  return undefined;
}

/** Whether a header, given in lower case, occurs more than once. */
export function hasDuplicateHeader(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
