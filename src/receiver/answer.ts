import { WebhookError } from "../core/errors.ts";
import { type Answer, errorAnswer, isResponse, isSuccess, type JsonAnswer } from "../http/answer.ts";
import type { Outcome } from "../payload/parse.ts";

/** The outcome of a delivery, and the answer to its request. */
export interface AnsweredOutcome {
  outcome: Outcome;
  answer: Answer;
}

/**
 * Converts the outcome of a handler run to an answer. The returned outcome is a failure if the handler returned an error
 * `Response`, which is still the answer, or a value that cannot be converted to JSON. The Hub counts any answer but 2xx as a
 * failure.
 */
export function answerOutcome(outcome: Outcome, endpoint: string): AnsweredOutcome {
  switch (outcome.status) {
    case "succeeded":
      return answerResult(outcome, endpoint);
    case "ignored":
      // Uses status 200, because the Hub counts error statuses against the webhook.
      return { outcome, answer: { status: 200, content: JSON.stringify({ ignored: outcome.reason }) } };
    case "failed":
      return { outcome, answer: errorAnswer(outcome.error) };
  }
}

function answerResult(outcome: Outcome & { status: "succeeded" }, endpoint: string): AnsweredOutcome {
  const { result } = outcome;
  if (isResponse(result)) {
    if (isSuccess(result)) return { outcome, answer: result };
    return { outcome: { status: "failed", error: handlerReturnedError(endpoint, result.status) }, answer: result };
  }
  try {
    const text: string | undefined = JSON.stringify(result);
    return { outcome, answer: { status: 200, content: text ?? null } };
  } catch (cause) {
    const error = new WebhookError(
      "The handler returned a value that cannot be converted to JSON. Return plain data.",
      {
        code: "RESULT_NOT_JSON",
        status: 500,
        cause,
      },
    );
    return { outcome: { status: "failed", error }, answer: errorAnswer(error) };
  }
}

/** Returns the handler's result as JSON text, or `null` if it returned nothing, a `Response`, or an error. */
export function resultTextOf({ outcome, answer }: AnsweredOutcome): string | null {
  return outcome.status === "succeeded" && !isResponse(answer) ? answer.content : null;
}

/**
 * Returns the answer to a delivery that arrived again while the same delivery was running. After a success, the answer is
 * 202, as for any duplicate. After a failure, the answer is the same failure, so that the Hub retries the delivery.
 */
export function answerDuplicate({ id, first }: { id: string; first: Answer }): Answer {
  if (isSuccess(first)) return answerAccepted({ id, duplicate: true });
  // The body of a `Response` can only be read once, and the first answer reads it.
  return isResponse(first) ? { status: first.status, content: null } : first;
}

/** Returns the answer to a delivery that was stored to run later. */
export function answerAccepted({ id, duplicate }: { id: string; duplicate: boolean }): JsonAnswer {
  return { status: 202, content: JSON.stringify({ deliveryId: id, ...(duplicate && { duplicate }) }) };
}

function handlerReturnedError(endpoint: string, status: number): WebhookError {
  return new WebhookError(
    `The handler of endpoint "${endpoint}" returned status ${status}, which counts as a failure. Return 200 to 299 after a success.`,
    {
      code: "HANDLER_FAILED",
      status: 500,
      retryable: true,
    },
  );
}

/** Creates the error that clients receive after an internal failure. Its cause is only logged. */
export function internalError(cause: unknown): WebhookError {
  return new WebhookError("An internal error occurred. See the server's log.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}
