import { argumentInvalid } from "./arguments.ts";
import { createRedact, secretsIn } from "./redaction.ts";
import type { HubRequest } from "./request.ts";
import type { CallOptions } from "./transport.ts";

/** What `hub.fetch` can be given: the part of what `fetch` takes that can be sent a second time. */
export interface HubFetchInit extends CallOptions {
  /** Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** Headers beside the token's. A body without a `content-type` is sent as JSON. */
  headers?: HeadersInit | undefined;
  /** The body as text: `JSON.stringify(…)`. */
  body?: string | undefined;
}

/** What {@link prepareFetch} needs to know. */
export interface PrepareFetchOptions {
  /** The Hub's base address, without a trailing slash. */
  endpoint: string;
  readToken: () => Promise<string>;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Whether doing it twice is the same as doing it once. */
export function isIdempotent(method: string): boolean {
  return method !== "POST" && method !== "PATCH";
}

/**
 * Checks what a call without an operation is given, and makes its request.
 *
 * @throws `ARGUMENT_INVALID`; what `readToken` throws.
 */
export async function prepareFetch(
  path: string,
  { method = "GET", headers: given, body }: HubFetchInit,
  { endpoint, readToken }: PrepareFetchOptions,
): Promise<HubRequest> {
  const url = urlOf(path, endpoint);
  if (!methods.has(method)) throw invalid("method", `expected one of ${[...methods].join(", ")}`);
  if (body !== undefined && typeof body !== "string") throw invalid("body", "expected a text, as of JSON.stringify()");
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw invalid("body", `a ${method} has none`);
  const headers = headersOf(given);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const token = await readToken();
  headers.set("authorization", `Bearer ${token}`);
  const redact = createRedact([token, ...secretsIn(path), ...secretsIn(parsed(body))]);
  return {
    // Without the query: nobody needs it to know which call it was, and more than a path it holds secrets.
    operation: redact(`${method} ${url.pathname}`),
    url: url.href,
    init: { method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) },
    redact,
  };
}

/** The token goes along: what a URL parser makes of the path must lie below the address of the Hub, and nowhere else. */
function urlOf(path: string, endpoint: string): URL {
  const base = new URL(endpoint);
  const [pathname = ""] = typeof path === "string" ? path.split("?") : [];
  const url = /^\/(?!\/)[^#]*$/.test(path) ? URL.parse(`${endpoint}${path}`) : null;
  // Whatever is left out, stepped over or encoded on the way makes a difference.
  if (url?.origin === base.origin && url.pathname === `${base.pathname.replace(/\/$/, "")}${pathname}`) return url;
  throw invalid(
    "path",
    'expected one that begins with a single "/" and goes on as an address does, with names put into it by encodeURIComponent() and without ".." and "#"',
  );
}

function headersOf(given: HeadersInit | undefined): Headers {
  const headers = new Headers();
  try {
    for (const [name, value] of new Headers(given)) headers.set(name, value);
  } catch {
    // Without the reason, which quotes the value.
    throw invalid("headers", "expected names and values that HTTP can carry");
  }
  if (headers.has("authorization")) throw invalid("headers", 'the token is sent by itself: leave out "authorization"');
  return headers;
}

/** A body as what it may have secrets in. */
function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "null");
  } catch {
    return body;
  }
}

function invalid(field: string, problem: string) {
  return argumentInvalid([{ field, problem }]);
}
