import { argumentInvalid } from "./arguments.ts";
import type { CallOptions } from "./operation.ts";
import { createRedact, secretsIn } from "./redaction.ts";
import type { HubRequest } from "./request.ts";

/** What `new Headers()` takes. Its usual name, `HeadersInit`, is in the types of the DOM and not in those of Node. */
type HeadersSource = ConstructorParameters<typeof Headers>[0];

/** What `hub.fetch` can be given: the part of what `fetch` takes that can be sent a second time. */
export interface HubFetchInit extends CallOptions {
  /** Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** Headers beside the token's. A body without a `content-type` is sent as JSON. */
  headers?: HeadersSource;
  /**
   * What stands in the path for each `{name}`, encoded here: nothing in it can end the path or begin a query. Slashes
   * stay, as in the name of a repository. What comes from a payload belongs here.
   */
  params?: Readonly<Record<string, string | number>> | undefined;
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
  template: string,
  { method = "GET", headers: given, params, body }: HubFetchInit,
  { endpoint, readToken }: PrepareFetchOptions,
): Promise<HubRequest> {
  const path = fillParams(template, params);
  const url = resolveUrl(path, endpoint);
  if (!methods.has(method)) throw invalid("method", `expected one of ${[...methods].join(", ")}`);
  if (body !== undefined && typeof body !== "string") throw invalid("body", "expected a text, as of JSON.stringify()");
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw invalid("body", `a ${method} has none`);
  const headers = readHeaders(given);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const token = await readToken();
  headers.set("authorization", `Bearer ${token}`);
  const redact = createRedact([token, ...secretHeaderValues(headers), ...secretsIn(path), ...secretsIn(parsed(body))]);
  return {
    // Without the query, which may hold secrets and is not needed to recognize the call.
    operation: redact(`${method} ${url.pathname}`),
    action: redact(`${method} ${url.pathname}`),
    url: url.href,
    init: { method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) },
    redact,
    newer: [],
  };
}

function fillParams(template: string, params: HubFetchInit["params"]): string {
  if (typeof template !== "string" || params === undefined) return template;
  return template.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    if (!Object.hasOwn(params, name)) throw invalid(`params.${name}`, "expected what the path asks for");
    const segments = String(params[name]).split("/");
    if (segments.includes("")) throw invalid(`params.${name}`, "expected a name without empty parts");
    try {
      return segments.map(encodeURIComponent).join("/");
    } catch {
      throw invalid(`params.${name}`, "expected whole characters");
    }
  });
}

/** The token goes along: what a URL parser makes of the path must lie below the address of the Hub, and nowhere else. */
function resolveUrl(path: string, endpoint: string): URL {
  const base = new URL(endpoint);
  const [pathname = ""] = typeof path === "string" ? path.split("?") : [];
  const url = /^\/(?!\/)[^#]*$/.test(path) ? URL.parse(`${endpoint}${path}`) : null;
  // Whatever is left out, stepped over or encoded on the way makes a difference.
  if (url?.origin === base.origin && url.pathname === `${base.pathname.replace(/\/$/, "")}${pathname}`) return url;
  throw invalid(
    "path",
    'expected one that begins with a single "/" and goes on as an address does, with names put into it by params or encodeURIComponent() and without ".." and "#"',
  );
}

/** Of the connection and not of the call: `fetch` would fail as if the network did. */
const connectionHeaders = [
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "transfer-encoding",
  "upgrade",
];

function readHeaders(given: HeadersSource): Headers {
  const headers = copyHeaders(given);
  if (headers.has("authorization")) throw invalid("headers", 'the token is sent by itself: leave out "authorization"');
  const [name] = connectionHeaders.filter((name) => headers.has(name));
  if (name !== undefined) throw invalid("headers", `"${name}" is not for a call to set: leave it out`);
  return headers;
}

function copyHeaders(given: HeadersSource): Headers {
  try {
    return new Headers(given);
  } catch {
    // Without the reason, which quotes the value.
    throw invalid("headers", "expected names and values that HTTP can carry");
  }
}

const ordinaryHeader = /^(?:(?:accept|content|if|user)-.*|accept|authorization|range)$/;

/** What a header of the caller's own says may be a key; what is too short for one stands in ordinary words. */
function secretHeaderValues(headers: Headers): string[] {
  return [...headers].flatMap(([name, value]) => (ordinaryHeader.test(name) || value.length < 8 ? [] : [value]));
}

/** A body as what it may have secrets in: the fields of JSON, or of a form. */
function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "null");
  } catch {
    return [body, Object.fromEntries(new URLSearchParams(body))];
  }
}

function invalid(field: string, problem: string) {
  return argumentInvalid([{ field, problem }]);
}
