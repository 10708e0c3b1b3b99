import type { WebhookError } from "../core/errors.ts";

/** The response to a request: JSON or an empty body, or a `Response` that the handler returned. */
export type Answer = JsonAnswer | Response;

/** A status with a JSON body. */
export interface JsonAnswer {
  readonly status: number;
  /** JSON text; `null` for an empty body. */
  readonly content: string | null;
  /** The error behind the content, for an error page. */
  readonly error?: WebhookError;
  /** In addition to the content type. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
}

/**
 * The answer for an error: its message and its code, never a stack or a cause. Use {@link toResponse} for a `Response`.
 */
export function errorAnswer(error: WebhookError): JsonAnswer {
  const { code, message, status = 500, retryAfterSeconds } = error;
  const extraHeaders = {
    ...(code === "METHOD_NOT_ALLOWED" && { allow: "POST" }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  return { status, content: JSON.stringify({ error: message, code }), extraHeaders, error };
}

/** Whether the status is 2xx: the Hub counts any other one as a failure. */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}

/** The headers of an answer that has a body. */
export function headersOf({ extraHeaders }: JsonAnswer): Record<string, string> {
  return { "content-type": "application/json", ...extraHeaders };
}

/** Converts an answer to a `Response`. */
export function toResponse(answer: Answer): Response {
  if (isResponse(answer)) return answer;
  if (answer.content === null) return new Response(null, { status: answer.status });
  const response = new Response(answer.content, { status: answer.status, headers: headersOf(answer) });
  if (answer.error) errors.set(response, answer.error);
  return response;
}

/** The errors behind the responses of {@link toResponse}. */
const errors = new WeakMap<Response, WebhookError>();

/** Returns the error behind a response of {@link toResponse}; `undefined` for other responses. */
export function errorBehind(response: Response): WebhookError | undefined {
  return errors.get(response);
}

/**
 * Whether a value is a `Response`. Not by `instanceof`: Hono's Node adapter replaces the global class, and `fetch` returns
 * the original one. Never throws, whatever a handler returned.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return Object.prototype.toString.call(value) === "[object Response]";
  } catch {
    return false;
  }
}
