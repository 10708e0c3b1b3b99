import { WebhookError } from "../core/errors.ts";
import type { Outcome } from "../payload/delivery.ts";

/** What is answered: JSON or nothing, or a `Response` of the handler's own. */
export type Answer = JsonAnswer | Response;

/** A status, and JSON as text; `null` for no body. */
export interface JsonAnswer {
  readonly status: number;
  /** The error behind the content, for an error page. */
  readonly error?: WebhookError;
  readonly content: string | null;
  /** Beside the content type. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
}

/** The answer to a delivery, and its outcome once more: a result that is no JSON makes a success a failure. */
export interface AnsweredOutcome {
  answer: Answer;
  outcome: Outcome;
}

/** Turns an outcome into the answer that the Hub gets. Only 2xx is success to it; anything else it sends again. */
export function answerOutcome(outcome: Outcome): AnsweredOutcome {
  switch (outcome.status) {
    case "succeeded":
      return answerResult(outcome);
    case "ignored":
      // Not an error: the Hub would count that against the webhook.
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
    const error = new WebhookError("The handler returned something that is not JSON.", {
      code: "RESULT_NOT_JSON",
      status: 500,
      cause,
    });
    return { outcome: { status: "failed", error }, answer: refusal(error) };
  }
}

/**
 * The answer to a delivery whose first arrival was still being worked on: a success is told as the duplicate it is, and
 * anything else as that, or the Hub would never send it again.
 */
export function answerDuplicate({ id, first }: { id: string; first: AnsweredOutcome }): Answer {
  const { outcome, answer } = first;
  if (isSuccess(answer)) return answerAccepted({ id, duplicate: true });
  // A body can be sent only once, and the first answer has it.
  return outcome.status === "succeeded" ? { status: answer.status, content: null } : answer;
}

/** The answer to a delivery that is kept, to be worked on later. */
export function answerAccepted({ id, duplicate }: { id: string; duplicate: boolean }): JsonAnswer {
  return { status: 202, content: JSON.stringify({ deliveryId: id, ...(duplicate && { duplicate }) }) };
}

/** The answer to a stranger: a message and a code, never a stack or a cause. */
export function refusal(error: WebhookError): JsonAnswer {
  const { code, message, status = 500, retryAfterSeconds } = error;
  const extraHeaders = {
    ...(code === "METHOD_NOT_ALLOWED" && { allow: "POST" }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  return { status, content: JSON.stringify({ error: message, code }), extraHeaders, error };
}

/** The same as a response, for pages. */
export function answerError(error: WebhookError): Response {
  return toResponse(refusal(error));
}

/** What is told of a failure of our own: that there was one. The log has the cause. */
export function internalError(cause: unknown): WebhookError {
  return new WebhookError("Something went wrong in the receiver; its log says what.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}

/** Whether it is a success to the Hub. */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}

/** The headers of an answer that has a body. */
export function headersOf({ extraHeaders }: JsonAnswer): Record<string, string> {
  return { "content-type": "application/json", ...extraHeaders };
}

/** An answer for whoever takes a `Response`. */
export function toResponse(answer: Answer): Response {
  if (isResponse(answer)) return answer;
  if (answer.content === null) return new Response(null, { status: answer.status });
  const response = new Response(answer.content, { status: answer.status, headers: headersOf(answer) });
  if (answer.error) errors.set(response, answer.error);
  return response;
}

const errors = new WeakMap<Response, WebhookError>();

/** The error behind a response that this module made; `undefined` for any other response. */
export function errorOf(response: Response): WebhookError | undefined {
  return errors.get(response);
}

/**
 * Not by `instanceof`: Node's adapter replaces the global class, and what `fetch` returns is not of the new one. Never
 * throws, whatever a handler returned.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return Object.prototype.toString.call(value) === "[object Response]";
  } catch {
    return false;
  }
}
