import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { webhooksPath } from "../../core/paths.ts";
import { shorten } from "../../core/shorten.ts";
import { type Answer, errorAnswer } from "../../http/answer.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { DeliveryRequest } from "./delivery-request.ts";
import { internalError } from "./outcome-answer.ts";

/** The maximum length of a logged path, because clients choose it. */
const maxLoggedPath = 200;

/** Logs a request whose handler did not run, and returns the answer. `endpoint`: `undefined` if it is unknown. */
export function answerRefusal(
  error: unknown,
  { endpoint, request }: { endpoint: Endpoint | undefined; request: DeliveryRequest },
  logs: { log: Logger; refusalLog: Logger },
): Answer {
  // A user's schema may throw a `WebhookError` with any status.
  const hasErrorStatus =
    WebhookError.isInstance(error) && error.status !== undefined && error.status >= 400 && error.status <= 599;
  const sent = hasErrorStatus ? error : internalError(error);
  const { code, status, message, cause } = sent;
  const subject = endpoint
    ? { endpoint: endpoint.name }
    : { path: shorten(`${webhooksPath}${request.endpointName}`, maxLoggedPath) };
  const fields = { ...subject, code, status, err: cause };
  if (status === 500) logs.log.error(fields, message);
  else logs.refusalLog.warn(fields, `delivery refused: ${message}`);
  return errorAnswer(sent);
}
