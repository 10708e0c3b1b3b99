import { WebhookError } from "../core/errors.ts";
import { type Answer, errorAnswer, isResponse, isSuccess, type JsonAnswer } from "../http-server/answer.ts";
import type { Outcome } from "../payload/delivery.ts";

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
      return { outcome, answer: errorAnswer(outcome.error) };
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
    return { outcome: { status: "failed", error }, answer: errorAnswer(error) };
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

/** The error that clients get for an internal failure. Its cause is only logged. */
export function internalError(cause: unknown): WebhookError {
  return new WebhookError("Internal error of the receiver. See its log.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}
