import { WebhookError } from "../core/errors.ts";
import { wantsHtml } from "../core/http-headers.ts";
import type { Outcome } from "../payload/delivery.ts";

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

/** An answer, and the outcome it stands for: a result that JSON cannot represent turns a success into a failure. */
export interface AnsweredOutcome {
  answer: Answer;
  outcome: Outcome;
}

/** Turns an outcome into an answer. The Hub retries a delivery unless the status is 2xx. */
export function answerOutcome(outcome: Outcome): AnsweredOutcome {
  switch (outcome.status) {
    case "succeeded":
      return answerResult(outcome);
    case "ignored":
      // The Hub counts error statuses against the webhook.
      return { outcome, answer: { status: 200, content: JSON.stringify({ ignored: outcome.reason }) } };
    case "failed":
      return { outcome, answer: refusal(outcome.error) };
  }
}

function answerResult(outcome: Outcome & { status: "succeeded" }): AnsweredOutcome {
  const { result } = outcome;
  if (isResponse(result)) return { outcome, answer: result };
  try {
    const text: string | undefined = JSON.stringify(result);
    return { outcome, answer: { status: 200, content: text ?? null } };
  } catch (cause) {
    const error = new WebhookError("The handler returned a value that JSON cannot represent.", {
      code: "RESULT_NOT_JSON",
      status: 500,
      cause,
    });
    return { outcome: { status: "failed", error }, answer: refusal(error) };
  }
}

/**
 * The answer to a delivery that arrived again while its first arrival was running. A success is answered 202, as a
 * duplicate. A failure is repeated, so that the Hub retries the delivery.
 */
export function answerDuplicate({ id, first }: { id: string; first: AnsweredOutcome }): Answer {
  const { outcome, answer } = first;
  if (isSuccess(answer)) return answerAccepted({ id, duplicate: true });
  // A body can be read only once, for the first answer.
  return outcome.status === "succeeded" ? { status: answer.status, content: null } : answer;
}

/** The answer to a delivery that was stored, to run later. */
export function answerAccepted({ id, duplicate }: { id: string; duplicate: boolean }): JsonAnswer {
  return { status: 202, content: JSON.stringify({ deliveryId: id, ...(duplicate && { duplicate }) }) };
}

/** The answer for an error: its message and its code, never a stack or a cause. */
export function refusal(error: WebhookError): JsonAnswer {
  const { code, message, status = 500, retryAfterSeconds } = error;
  const extraHeaders = {
    ...(code === "METHOD_NOT_ALLOWED" && { allow: "POST" }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  return { status, content: JSON.stringify({ error: message, code }), extraHeaders, error };
}

/** Like {@link refusal}, as a `Response`. */
export function answerError(error: WebhookError): Response {
  return toResponse(refusal(error));
}

/** The error that clients get for an internal failure. Its cause is only logged. */
export function internalError(cause: unknown): WebhookError {
  return new WebhookError("Internal error of the receiver. See its log.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}

/** Whether the Hub counts the answer as a success. */
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

/** Replaces the JSON of an error response with an HTML page when a browser sent the request. */
export async function showErrorPage(
  response: Response,
  request: {
    method: string;
    accept: string | null | undefined;
    /** Path of a page that the error page links to. */
    home?: string | undefined;
  },
): Promise<Response> {
  const error = errors.get(response);
  if (error === undefined || !wantsHtml(request)) return response;
  const { renderErrorPage } = await import("../console/error-page.ts");
  const { code, message } = error;
  const { status } = response;
  const page = renderErrorPage({ status, code, message, home: request.home });
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(page.headers)) headers.set(name, value);
  return new Response(page.html, { status, headers });
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
