import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { readJson } from "../../core/text.ts";
import type { CallOptions, Operation } from "../operation.ts";
import { argumentInvalid, checkArgument, fieldInvalid, fieldProblems } from "../validation/arguments.ts";
import { acceptUnknown } from "../validation/lenient.ts";
import { findUnknownParts, type UnknownPart } from "../validation/unknown-parts.ts";
import { createRedact, type Redact, secretsIn } from "./request-secrets.ts";

/** A request that can be sent any number of times. */
export interface HubRequest {
  /** The operation ID, such as `createWebhook`, for logs. */
  operationId: string;
  /** The action, such as `create a webhook`. Error messages contain the action after "Could not". */
  action: string;
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string | Blob };
  redact: Redact;
  /** The fields and values of the arguments that are unknown to this release. */
  unknownParts: readonly UnknownPart[];
}

/** A request body in another format than JSON. */
export interface EncodedBody {
  /** The media type, such as `application/x-ndjson`. */
  type: string;
  text: string;
  /** The media type of the response. Default `application/json`. */
  accept?: string;
}

/** The arguments of an operation, before validation. */
export interface OperationInput {
  params?: unknown;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

export interface OperationOptions extends CallOptions {
  /**
   * Whether the call can be repeated safely. Default `false` for POST, otherwise `true`. PATCH is included, unlike in
   * `hub.fetch`, because every PATCH operation of this client sets fields.
   */
  idempotent?: boolean;
  /** Whether to skip the validation of the body. Use this option for values that the Hub returned. Default `false`. */
  skipBodyValidation?: boolean;
  /** A body in another format than JSON, which replaces the body of the input. */
  encodedBody?: EncodedBody;
}

interface PrepareOptions extends Omit<OperationOptions, "idempotent"> {
  input: OperationInput;
  /** A query from the Hub, such as the query of the next page. This query replaces the query of the input. */
  query?: URLSearchParams | undefined;
}

/** The server that receives the requests. */
interface Target {
  /** The Hub's base URL, without a trailing slash. */
  hubUrl: string;
  readToken: () => Promise<string>;
}

/** Validates the arguments of an operation and creates the request. @throws `ARGUMENT_INVALID`, and errors from `readToken`. */
export async function prepareRequest(
  operation: Operation,
  { input, query: givenQuery, skipBodyValidation = false, encodedBody }: PrepareOptions,
  { hubUrl, readToken }: Target,
): Promise<HubRequest> {
  const { params: pathSchema, query: querySchema, body: bodyType } = operation.request ?? {};
  const bodySchema = bodyType?.content["application/json"].schema;
  const [method = "", template = ""] = operation.requestLine.split(" ");
  const path = pathSchema
    ? fillPath(template, checkArgument(pathSchema, { name: "params", value: input.params }))
    : template;
  const query = givenQuery ?? encodeQuery(querySchema, input.query);
  let { body } = input;
  if (!skipBodyValidation && !encodedBody) {
    const isSent = bodySchema && (body !== undefined || bodyType?.required);
    body = isSent ? checkArgument(bodySchema, { name: "request", value: body }) : undefined;
  }
  const encoded =
    encodedBody ?? (body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) });
  const unknownParts = [
    ...(!givenQuery && querySchema ? findUnknownParts(querySchema, input.query) : []),
    ...(!skipBodyValidation && bodySchema ? findUnknownParts(bodySchema, input.body) : []),
  ];
  const token = await readToken();
  return {
    operationId: operation.operationId,
    action: actionOf(operation),
    url: `${hubUrl}${path}${query.size > 0 ? `?${query}` : ""}`,
    init: {
      method,
      headers: {
        accept: encodedBody?.accept ?? "application/json",
        authorization: `Bearer ${token}`,
        ...(encoded && { "content-type": encoded.type }),
      },
      ...(encoded && { body: encoded.text }),
    },
    redact: createRedact([token, ...secretsIn(body)]),
    unknownParts,
  };
}

/** Returns the action of an operation, such as `list your webhooks`. Error messages contain the action after "Could not". */
export function actionOf({ summary }: Operation): string {
  return `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`;
}

/**
 * Inserts the parameters into the path. Each value remains a single path segment, regardless of the characters in the value. Only the
 * parameter `path`, the path of a file, can have several segments, or none for the root folder. An empty `namespace` or `repoType` has no segment.
 */
function fillPath(template: string, params: Readonly<Record<string, string>>): string {
  const unusable = Object.entries(params).filter(
    // URL parsers resolve dot segments.
    ([name, value]) => segmentsOf(name, value).some((part) => /^\.{0,2}$/.test(part) || !part.isWellFormed()),
  );
  if (unusable.length > 0) {
    throw argumentInvalid(unusable.map(([field]) => ({ field, problem: "expected an ID or a name from the Hub" })));
  }
  return template.replace(/\/\{(\w+)\}/g, (_, name: string) =>
    segmentsOf(name, params[name] ?? "")
      .map((segment) => `/${encodeURIComponent(segment)}`)
      .join(""),
  );
}

function segmentsOf(name: string, value: string): string[] {
  if (value === "" && /^(?:path|namespace|repoType)$/.test(name)) return [];
  return name === "path" ? value.split("/") : [value];
}

/** Encodes the query. Omitted parameters are not sent, because the Hub applies the defaults. */
function encodeQuery(schema: z.ZodMiniObject | undefined, value: Record<string, unknown> | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (!schema || value === undefined) return query;
  const parts = Object.entries(schema.shape).map(([name, part]) => [name, z.optional(part)]);
  const { data, error } = z.safeEncode(acceptUnknown(z.object(Object.fromEntries(parts))), value, {
    error: describeIssue,
  });
  if (error) throw argumentInvalid(fieldProblems(error, { name: "search" }));
  for (const [name, part] of Object.entries(data)) {
    // The schema has no codec for unknown parameters.
    for (const value of [part].flat()) {
      if (["string", "number", "boolean"].includes(typeof value)) query.append(name, String(value));
    }
  }
  return query;
}

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
  /**
   * Whether the request can be repeated safely, even if the Hub has already processed it. Default `false` for POST and PATCH, otherwise
   * `true`.
   */
  idempotent?: boolean | undefined;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Validates the arguments of `hub.fetch` and creates the request. @throws `ARGUMENT_INVALID`, and errors from `readToken`. */
export async function prepareFetch(
  template: string,
  { method = "GET", headers: customHeaders, params, body }: HubFetchInit,
  { hubUrl, readToken }: Target,
): Promise<HubRequest> {
  const path = fillParams(template, params);
  const url = resolveUrl(path, hubUrl);
  if (!methods.has(method)) throw fieldInvalid("method", `expected one of ${[...methods].join(", ")}`);
  if (body !== undefined && typeof body !== "string")
    throw fieldInvalid("body", "expected a string, such as the result of JSON.stringify()");
  if (body !== undefined && (method === "GET" || method === "HEAD"))
    throw fieldInvalid("body", `not allowed for ${method}`);
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
    if (!Object.hasOwn(params, name)) throw fieldInvalid(`params.${name}`, "required by the path");
    const segments = String(params[name]).split("/");
    if (segments.includes("")) throw fieldInvalid(`params.${name}`, "expected a name without empty segments");
    try {
      return segments.map(encodeURIComponent).join("/");
    } catch {
      throw fieldInvalid(`params.${name}`, "expected well-formed Unicode");
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
  throw fieldInvalid(
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
  if (headers.has("authorization")) throw fieldInvalid("headers", 'omit "authorization": the client sends the token');
  const [name] = connectionHeaders.filter((name) => headers.has(name));
  if (name !== undefined) throw fieldInvalid("headers", `omit "${name}": the runtime sets it`);
  return headers;
}

function copyHeaders(given: HeadersSource): Headers {
  try {
    return new Headers(given);
  } catch {
    // The original message is omitted, because it quotes the value.
    throw fieldInvalid("headers", "expected valid names and values for HTTP headers");
  }
}

const ordinaryHeader = /^(?:(?:accept|content|if|user)-.*|accept|authorization|range)$/;

/** Returns the values of custom headers, which can contain secrets. Skips short values, because they occur in ordinary words. */
function secretHeaderValues(headers: Headers): string[] {
  return [...headers].flatMap(([name, value]) => (ordinaryHeader.test(name) || value.length < 8 ? [] : [value]));
}

/** Parses a body as JSON or as a form, so that secrets in the body can be found. */
function parseBody(body = "null"): unknown {
  const json = readJson(body);
  return json === undefined ? [body, Object.fromEntries(new URLSearchParams(body))] : json;
}
