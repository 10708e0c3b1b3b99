import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { readEnvironment } from "./environment.ts";
import { isOnThisMachine } from "./urls.ts";

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/**
 * Like `fetch`, but sends requests to this machine without a proxy. With `NODE_USE_ENV_PROXY=1`, `fetch` sends them to `HTTP_PROXY`,
 * which would receive their tokens and connect to another machine. Runtimes without Node's modules use `fetch` for all requests.
 *
 * Does not follow redirects of this machine if a proxy is set, so pass `redirect: "manual"` if the server can redirect.
 */
export async function directFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  if (proxyVariables.every((name) => readEnvironment(name) === undefined)) return fetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const http = process.getBuiltinModule?.(url.protocol === "https:" ? "node:https" : "node:http");
  if (!http || !isOnThisMachine(url.hostname)) return fetch(input, init);
  const request = new Request(input, init);
  const body = new Uint8Array(await request.arrayBuffer());
  const { signal } = init;
  signal?.throwIfAborted();
  const { method } = request;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = Object.fromEntries(request.headers);
    // Only the agent that requests use by default has a proxy.
    const outgoing = http.request(url, { method, headers, agent: false, ...(signal && { signal }) });
    outgoing.on("error", (cause) => reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause })));
    outgoing.on("response", resolve);
    outgoing.end(body);
  });
  const { statusCode: status = 502, rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  const isEmpty = method === "HEAD" || [204, 205, 304].includes(status);
  try {
    const response = new Response(isEmpty ? null : streamOf(incoming), { status, headers });
    if (isEmpty) incoming.resume();
    return response;
  } catch (cause) {
    // A `Response` cannot have a status above 599.
    incoming.destroy();
    throw new TypeError("fetch failed", { cause });
  }
}

/** Converts a stream of Node. The source is closed when the reader cancels. */
export function streamOf(source: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // Not `chunks.return()`, which waits for the next chunk.
    cancel: () => void source.destroy(),
  });
}
