import type { ServerResponse } from "node:http";
import { hopByHopHeaders } from "../../core/http-headers.ts";
import { headersOf, type JsonAnswer } from "../answer.ts";

/** What Hono's adapter sends where a `Response` names no type. */
const defaultType = "text/plain; charset=UTF-8";

/** Sends an answer. */
export function sendJson(outgoing: ServerResponse, answer: JsonAnswer): void {
  const { status, content } = answer;
  if (content === null) outgoing.writeHead(status, { "content-length": 0 }).end();
  else outgoing.writeHead(status, { ...headersOf(answer), "content-length": Buffer.byteLength(content) }).end(content);
}

/**
 * Sends the `Response` of a handler, whose body is in memory by then.
 *
 * @throws when a header holds what HTTP cannot carry; nothing is sent then.
 */
export async function sendResponse(outgoing: ServerResponse, response: Response): Promise<void> {
  const hasBody = response.body !== null;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const headers = new Map<string, string | string[]>(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers.set("set-cookie", cookies);
  if (hasBody && !headers.has("content-type")) headers.set("content-type", defaultType);
  // Neither may have a length (RFC 9110, 8.6).
  if (response.status !== 204 && response.status !== 304) headers.set("content-length", String(bytes.length));
  outgoing.writeHead(response.status, Object.fromEntries(headers)).end(bytes);
}

/** Headers that Node sets itself. `connection` stays, which may close it. */
const framing: readonly string[] = [...hopByHopHeaders(undefined), "content-length"].filter(
  (name) => name !== "connection",
);

/**
 * A `Response` without headers that break the framing: Node frames it by its body. Such headers come from the answer of
 * another server that is passed on.
 *
 * @throws when a header holds what HTTP cannot carry.
 */
export function withoutFraming(response: Response, method: string | undefined): Response {
  const { headers, status } = response;
  for (const [name, value] of headers) {
    if (notCarried.test(value)) throw new TypeError(`Header "${name}" holds a character that HTTP cannot carry.`);
  }
  // The length is that of another answer: the one to GET, or the one that has not changed.
  const keepsLength = method === "HEAD" || status === 304;
  const dropped = framing.filter((name) => headers.has(name) && !(keepsLength && name === "content-length"));
  if (dropped.length === 0) return response;
  const kept = new Headers(headers);
  for (const name of dropped) kept.delete(name);
  return new Response(response.body, { status, statusText: response.statusText, headers: kept });
}

/** What `Headers` allows and Node does not. */
const notCarried = /[\x00-\x08\x0a-\x1f\x7f]/;
