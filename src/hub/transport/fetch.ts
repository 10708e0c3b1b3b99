import { isOnThisMachine } from "../../core/urls.ts";
import type { CallOptions } from "../operation.ts";
import { argumentInvalid } from "../validation/arguments.ts";
import type { HubRequest } from "./request.ts";
import { createRedact, secretsIn } from "./request-secrets.ts";

/** Equivalent to `HeadersInit`, which Node's type definitions do not include. */
type HeadersSource = ConstructorParameters<typeof Headers>[0];

/** The options of `hub.fetch`. Only the options of `fetch` that allow retries are supported. */
export interface HubFetchInit extends CallOptions {
  /** The HTTP method. Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** The headers, without `authorization`. If there is a body, the default `content-type` is `application/json`. */
  headers?: HeadersSource;
  /**
   * Values for the `{name}` placeholders in the path. All characters except slashes are encoded, so that a value cannot leave the
   * path or start a query. Use `params` for values from payloads.
   */
  params?: Readonly<Record<string, string | number>> | undefined;
  /** The body as a string, such as the result of `JSON.stringify()`. */
  body?: string | undefined;
}

export interface PrepareFetchOptions {
  /** The Hub's base URL, without a trailing slash. */
  hubUrl: string;
  readToken: () => Promise<string>;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Whether a request can be repeated safely. */
export function isIdempotent(method: string): boolean {
  return method !== "POST" && method !== "PATCH";
}

/**
 * Validates the arguments of `hub.fetch` and creates the request.
 *
 * @throws `ARGUMENT_INVALID`, and errors from `readToken`.
 */
export async function prepareFetch(
  template: string,
  { method = "GET", headers: customHeaders, params, body }: HubFetchInit,
  { hubUrl, readToken }: PrepareFetchOptions,
): Promise<HubRequest> {
  const path = fillParams(template, params);
  const url = resolveUrl(path, hubUrl);
  if (!methods.has(method)) throw invalid("method", `expected one of ${[...methods].join(", ")}`);
  if (body !== undefined && typeof body !== "string")
    throw invalid("body", "expected a string, such as the result of JSON.stringify()");
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw invalid("body", `not allowed for ${method}`);
  const headers = readHeaders(customHeaders);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const token = await readToken();
  headers.set("authorization", `Bearer ${token}`);
  const redact = createRedact([
    token,
    ...secretHeaderValues(headers),
    ...secretsIn(path),
    ...secretsIn(parseBody(body)),
  ]);
  // The query is omitted, because it can contain secrets.
  const description = redact(`${method} ${url.pathname}`);
  return {
    operationId: description,
    action: description,
    url: url.href,
    init: { method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) },
    redact,
    unknownParts: [],
  };
}

function fillParams(template: string, params: HubFetchInit["params"]): string {
  if (typeof template !== "string" || params === undefined) return template;
  return template.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    if (!Object.hasOwn(params, name)) throw invalid(`params.${name}`, "required by the path");
    const segments = String(params[name]).split("/");
    if (segments.includes("")) throw invalid(`params.${name}`, "expected a name without empty segments");
    try {
      return segments.map(encodeURIComponent).join("/");
    } catch {
      throw invalid(`params.${name}`, "expected well-formed Unicode");
    }
  });
}

/** Returns the URL of a path. Rejects URLs that are not below the Hub's URL, because the request contains the token. */
function resolveUrl(path: string, hubUrl: string): URL {
  const base = new URL(hubUrl);
  const [pathname = ""] = typeof path === "string" ? path.split("?") : [];
  const url = /^\/(?!\/)[^#]*$/.test(path) ? URL.parse(`${hubUrl}${path}`) : null;
  // The two paths differ if the parser removed, resolved, or encoded a part of the path.
  if (url?.origin === base.origin && url.pathname === `${base.pathname.replace(/\/$/, "")}${pathname}`) return url;
  throw invalid(
    "path",
    'expected a path that starts with a single "/", without ".." or "#". Insert names with params or encodeURIComponent()',
  );
}

/** Headers that the runtime sets. With one of these headers, `fetch` fails with an error that looks like a network failure. */
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
  if (headers.has("authorization")) throw invalid("headers", 'omit "authorization": the client sends the token');
  const [name] = connectionHeaders.filter((name) => headers.has(name));
  if (name !== undefined) throw invalid("headers", `omit "${name}": the runtime sets it`);
  return headers;
}

function copyHeaders(given: HeadersSource): Headers {
  try {
    return new Headers(given);
  } catch {
    // The original message is omitted, because it quotes the value.
    throw invalid("headers", "expected valid names and values for HTTP headers");
  }
}

const ordinaryHeader = /^(?:(?:accept|content|if|user)-.*|accept|authorization|range)$/;

/** Returns the values of custom headers, which can contain secrets. Skips short values, because they occur in ordinary words. */
function secretHeaderValues(headers: Headers): string[] {
  return [...headers].flatMap(([name, value]) => (ordinaryHeader.test(name) || value.length < 8 ? [] : [value]));
}

/** Parses a body as JSON or as a form, so that secrets in the body can be found. */
function parseBody(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "null");
  } catch {
    return [body, Object.fromEntries(new URLSearchParams(body))];
  }
}

function invalid(field: string, problem: string) {
  return argumentInvalid([{ field, problem }]);
}

/** The Hub needs at most two redirects: to the new name of a repository, and to the server that stores the file. */
const maxRedirects = 5;

export interface RedirectedRequest {
  url: string;
  init: HubRequest["init"];
  /** The Hub's base URL. */
  hubUrl: string;
}

/**
 * Sends a GET request and follows its redirects. Sends the token to the Hub only: requests to other servers have no headers except
 * `accept`. Returns the redirect itself if the target is not allowed, or after too many redirects.
 */
export async function followRedirects(
  send: (url: string, init: RequestInit) => Promise<Response>,
  { url, init, hubUrl }: RedirectedRequest,
): Promise<Response> {
  const { method, headers } = init;
  const { accept = "*/*" } = headers;
  let from = url;
  let isOnHub = true;
  for (let count = 0; ; count += 1) {
    const request = isOnHub ? init : { method, headers: { accept } };
    const response = await send(from, request);
    // Browsers hide the target. They follow the redirect themselves, and remove the token for other servers (Fetch standard).
    if (response.type === "opaqueredirect") return send(from, { ...request, redirect: "follow" });
    const target = targetOf(response, { from, hubUrl });
    if (target === undefined || count === maxRedirects) return response;
    response.body?.cancel().catch(() => {});
    // After another server, the Hub is another server too: that server could choose a path for the token.
    isOnHub &&= target.origin === new URL(hubUrl).origin;
    from = target.href;
  }
}

function targetOf({ status, headers }: Response, { from, hubUrl }: { from: string; hubUrl: string }): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.get("location") : null;
  const target = location === null ? null : URL.parse(location, from);
  return target !== null && isAllowed(target, new URL(hubUrl)) ? target : undefined;
}

/** Whether to send a request to this URL: not over connections that others can read, and only {@link isWithinReach}. */
function isAllowed(target: URL, hub: URL): boolean {
  if (target.username !== "" || target.password !== "") return false;
  if (target.origin === hub.origin) return true;
  const isReadable = target.protocol !== "https:" && reachOf(target.hostname) !== "machine";
  return !isReadable && isWithinReach(target, hub);
}

const reaches = ["machine", "network", "internet"] as const;

/**
 * Whether a server may choose the target of a request: a server on the internet must not choose targets in this network, such as the
 * metadata service of a cloud, and a server on another machine must not choose targets on this machine.
 *
 * Names are not resolved. A public name can have a private address, but with HTTPS, only a server with a certificate for the name
 * receives the request.
 */
export function isWithinReach(target: URL, server: URL): boolean {
  return reaches.indexOf(reachOf(target.hostname)) >= reaches.indexOf(reachOf(server.hostname));
}

/** Returns from where a host can be reached. Public servers redirect to names, so every IP address counts as one of this network. */
function reachOf(hostname: string): (typeof reaches)[number] {
  const name = hostname.replace(/\.$/, "");
  if (isOnThisMachine(name)) return "machine";
  const isAddress = name.startsWith("[") || /(?:^|\.)\d+$/.test(name);
  const isPublicName = name.includes(".") && !/\.(?:local|internal|home\.arpa)$/.test(name);
  return isPublicName && !isAddress ? "internet" : "network";
}
