import type { Outcome } from "../delivery.ts";
import { WebhookError } from "../errors.ts";

/** The answer to a delivery, and its outcome once more: a result that is no JSON makes a success a failure. */
export interface Answer {
  response: Response;
  outcome: Outcome;
}

/** Turns an outcome into the answer that the Hub gets. Only 2xx is success to it; anything else it sends again. */
export function answerOutcome(outcome: Outcome): Answer {
  switch (outcome.status) {
    case "succeeded":
      return answerResult(outcome);
    case "ignored":
      // Not an error: the Hub would count that against the webhook.
      return { outcome, response: json(JSON.stringify({ ignored: outcome.reason }), 200) };
    case "failed":
      return { outcome, response: answerError(outcome.error) };
  }
}

function answerResult(outcome: Outcome & { status: "succeeded" }): Answer {
  const { result } = outcome;
  if (isResponse(result)) return { outcome, response: result };
  try {
    const text: string | undefined = JSON.stringify(result);
    return { outcome, response: text === undefined ? new Response(null, { status: 200 }) : json(text, 200) };
  } catch (cause) {
    const error = new WebhookError("The handler returned something that is not JSON.", {
      code: "RESULT_NOT_JSON",
      status: 500,
      cause,
    });
    return { outcome: { status: "failed", error }, response: answerError(error) };
  }
}

/**
 * The answer to a delivery whose first arrival was still being worked on: a success is told as the duplicate it is, and
 * anything else as that, or the Hub would never send it again.
 */
export function answerDuplicate({ id, answer }: { id: string; answer: Answer }): Response {
  const { outcome, response } = answer;
  if (response.ok) return answerAccepted({ id, duplicate: true });
  // A body can be sent only once, and the first answer has it.
  return outcome.status === "succeeded" ? new Response(null, { status: response.status }) : response;
}

/** The answer to a delivery that is kept, to be worked on later. */
export function answerAccepted({ id, duplicate }: { id: string; duplicate: boolean }): Response {
  return json(JSON.stringify({ deliveryId: id, ...(duplicate && { duplicate }) }), 202);
}

/** The answer to a stranger: a message and a code, never a stack or a cause. */
export function answerError(error: WebhookError): Response {
  const headers: Record<string, string> = {};
  if (error.code === "METHOD_NOT_ALLOWED") headers.allow = "POST";
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  return json(JSON.stringify({ error: error.message, code: error.code }), error.status ?? 500, headers);
}

function json(text: string, status: number, headers?: Record<string, string>): Response {
  return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
}

/** Not by `instanceof`: Node's adapter replaces the global class, and what `fetch` returns is not of the new one. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}
