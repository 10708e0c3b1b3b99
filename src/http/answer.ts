import { WebhookError } from "../core/errors.ts";
import { hopByHopHeaders } from "../core/urls.ts";

/** The result of a request: a status with a JSON or empty body, or a `Response`. */
export type Answer = JsonAnswer | Response;

export interface JsonAnswer {
  readonly status: number;
  /** The JSON text of the body, or `null` for an empty body. */
  readonly content: string | null;
  /** The error that the content describes, for an error page. */
  readonly error?: WebhookError;
  /** Headers in addition to the content type. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
}

/**
 * Converts an error to an answer that contains the message and code, but never the stack or cause. Use {@link toResponse} to
 * convert the answer to a `Response`.
 */
export function errorAnswer(error: WebhookError): JsonAnswer {
  const { code, message, status = 500, retryAfterSeconds } = error;
  const extraHeaders = {
    ...(code === "METHOD_NOT_ALLOWED" && { allow: "POST" }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  return { status, content: JSON.stringify({ error: message, code }), extraHeaders, error };
}

/** Creates the error that clients receive after an internal failure. Its cause is only logged. */
export function internalError(cause: unknown): WebhookError {
  return new WebhookError("An internal error occurred. See the server's log.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}

/** Whether the status is 2xx. The Hub counts any other status as a failure. */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}

export function headersOf({ extraHeaders }: JsonAnswer): Record<string, string> {
  return { "content-type": "application/json", ...extraHeaders };
}

/** Converts an answer to a `Response`. {@link errorBehind} returns the error of this response, for an error page. */
export function toResponse(answer: Answer): Response {
  if (isResponse(answer)) return answer;
  if (answer.content === null) return new Response(null, { status: answer.status });
  const response = new Response(answer.content, { status: answer.status, headers: headersOf(answer) });
  if (answer.error) errors.set(response, answer.error);
  return response;
}

/** The errors of responses that {@link toResponse} created. A `Response` cannot carry additional fields. */
const errors = new WeakMap<Response, WebhookError>();

/** Returns the error from which {@link toResponse} created a response, or `undefined` for other responses. */
export function errorBehind(response: Response): WebhookError | undefined {
  return errors.get(response);
}

/**
 * Whether a value is a `Response`. Does not use `instanceof`, because Hono's Node adapter replaces the global class, but
 * `fetch` returns instances of the original class. Never throws, even for values that cannot be inspected.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return Object.prototype.toString.call(value) === "[object Response]";
  } catch {
    return false;
  }
}

/**
 * Whether a page of another site sent the request. Pages cannot change the headers that this function reads. `Origin` only counts in
 * browsers without `Sec-Fetch-Site`, because a proxy may replace the `Host` with which it is compared, as nginx does by default.
 */
export function isCrossSite(request: { readonly url: string; header(name: string): string | null }): boolean {
  const site = request.header("sec-fetch-site");
  if (site !== null) return site !== "same-origin";
  const origin = request.header("origin");
  const host = request.header("host")?.toLowerCase() ?? new URL(request.url).host;
  return origin !== null && URL.parse(origin)?.host !== host;
}

/** All other characters are not valid in an HTTP header, although `Headers` accepts some of them. */
const invalidInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/** @throws when a header contains a character that is not valid in an HTTP header. */
export function assertValidHeader(name: string, value: string): void {
  if (!invalidInHeader.test(value)) return;
  throw new TypeError(
    `Header "${name}" contains a character that is not valid in an HTTP header. Remove or encode the character.`,
  );
}

/** Headers that the server sets. `connection` is not included, because a handler can set it to close the connection. */
const framingHeaders: readonly string[] = [...hopByHopHeaders(undefined), "content-length"].filter(
  (name) => name !== "connection",
);

/**
 * Returns a `Response` without framing headers, because the server derives these headers from the body. A response has framing
 * headers when a handler forwards it from another server. With `hasOwnLengths`, keeps the length.
 *
 * @throws when a header contains a character that is not valid in an HTTP header.
 */
export function withoutFraming(
  response: Response,
  method: string | undefined,
  { hasOwnLengths = false }: { hasOwnLengths?: boolean | undefined } = {},
): Response {
  const { headers, status } = response;
  for (const [name, value] of headers) assertValidHeader(name, value);
  // These responses have no body. Their length describes the response to GET or the unchanged resource.
  const keepsLength = method === "HEAD" || status === 304 || hasOwnLengths;
  const dropped = framingHeaders.filter((name) => headers.has(name) && !(keepsLength && name === "content-length"));
  if (dropped.length === 0) return response;
  const kept = new Headers(headers);
  for (const name of dropped) kept.delete(name);
  return new Response(response.body, { status, statusText: response.statusText, headers: kept });
}
