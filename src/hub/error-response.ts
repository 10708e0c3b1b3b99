import { HubError, type WebhookErrorCode } from "../core/errors.ts";
import { readOwnField } from "../core/read-field.ts";
import type { Redact } from "./redaction.ts";
import { isWebPage, readText } from "./response-body.ts";
import { maxRetryAfterSeconds, readRetryAfterSeconds } from "./retry.ts";

/** Error responses of the Hub are much smaller. */
const maxErrorBytes = 65_536;

/** What the message of the error contains. */
export interface ErrorResponseContext {
  /** What failed, such as `create a webhook`. */
  action: string;
  endpoint: string;
  redact: Redact;
  signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now: number;
  /** A warning to append to the message; may be empty. */
  retryWarning: string;
}

/**
 * Reads an error response in any of the formats that the Hub uses (hub-api.md, Errors), and returns the error to throw.
 */
export async function readErrorResponse(response: Response, context: ErrorResponseContext): Promise<HubError> {
  const { status, headers } = response;
  const { action, redact } = context;
  const answer = await readText(response, { limit: maxErrorBytes, signal: context.signal }).catch(() => undefined);
  const body = answer !== undefined && "text" in answer ? answer.text : "";
  const reason = redact(reasonIn(body) || (headers.get("x-error-message") ?? "") || plainText(body));
  const name = redact(headers.get("x-error-code") ?? "");
  const requestId = redact(headers.get("x-request-id") ?? "") || undefined;
  const retryAfterSeconds = readRetryAfterSeconds(headers, context.now);

  const head = `Could not ${action}: the Hub answered with status ${status}${name && ` (${name})`}`;
  const next = nextStep({ status, endpoint: context.endpoint, retryAfterSeconds, requestId, hasReason: reason !== "" });
  return new HubError(`${reason ? `${head}: ${endSentence(reason)}` : `${head}.`} ${next}${context.retryWarning}`, {
    code: codeOf(status),
    status,
    requestId,
    retryable: isRetryable(status),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

function isRetryable(status: number): boolean {
  return status === 429 || status >= 500;
}

const codes: Readonly<Record<number, WebhookErrorCode>> = {
  400: "HUB_REQUEST_INVALID",
  422: "HUB_REQUEST_INVALID",
  401: "HUB_UNAUTHORIZED",
  403: "HUB_FORBIDDEN",
  404: "HUB_NOT_FOUND",
  429: "HUB_RATE_LIMITED",
};

function codeOf(status: number): WebhookErrorCode {
  return codes[status] ?? (status >= 500 ? "HUB_FAILED" : "HUB_REFUSED");
}

interface Situation {
  status: number;
  endpoint: string;
  retryAfterSeconds: number | undefined;
  requestId: string | undefined;
  /** Whether the Hub has said why. */
  hasReason: boolean;
}

function nextStep({ status, endpoint, retryAfterSeconds, requestId, hasReason }: Situation): string {
  const tokens = `${endpoint}/settings/tokens`;
  if (isRetryable(status) && retryAfterSeconds !== undefined) {
    const tooLong = retryAfterSeconds > maxRetryAfterSeconds ? ", which is too long to wait for here" : "";
    return `It asks to wait for ${retryAfterSeconds} seconds${tooLong}: try again then.`;
  }
  if (status === 429) return "Try again in a while, and less often.";
  if (status >= 500) {
    return `Try again later${requestId ? `; if it lasts, quote the request id ${requestId} to the Hub's support` : ""}.`;
  }
  if (status === 400 || status === 422) return "Correct what it names and call again.";
  if (status === 401) return `Set HF_TOKEN or give one (--token, or "token" in code); create one at ${tokens}.`;
  if (status === 403 && hasReason) return `If it is for the token, use one with write permission: see ${tokens}.`;
  if (status === 403) return `It needs a token with write permission, of a user who may do this: see ${tokens}.`;
  if (status === 404) {
    return `Check the name or the id, and that the Hub is the right one (HF_ENDPOINT, now ${endpoint}).`;
  }
  if (status < 400) {
    return `It sends us elsewhere, where no token must go: check the address of the Hub (HF_ENDPOINT, now ${endpoint}).`;
  }
  return `Check the request and the address of the Hub (HF_ENDPOINT, now ${endpoint}).`;
}

/** What a JSON body gives as the reason; empty when it is no JSON or has none. */
function reasonIn(body: string): string {
  try {
    return reasonOf(JSON.parse(body));
  } catch {
    return "";
  }
}

function reasonOf(parsed: unknown): string {
  if (typeof parsed === "string") return parsed;
  const error = joinTexts(readOwnField(parsed, "error"));
  const description = joinTexts(readOwnField(parsed, "error_description"));
  const errors = joinTexts(readOwnField(parsed, "errors"));
  const reasons = [error, description, errors].filter((reason) => reason !== "");
  return reasons.length > 0 ? reasons.join(": ") : joinTexts(readOwnField(parsed, "message"));
}

/** A text, a list of texts, an object with a message, or a list of those. */
function joinTexts(value: unknown): string {
  const items: unknown[] = Array.isArray(value) ? value.slice(0, 20) : [value];
  return items
    .map((item) => (typeof item === "string" ? item : readOwnField(item, "message")))
    .filter((text) => typeof text === "string" && text.trim() !== "")
    .join("; ");
}

/** Plain text as it is; of a web page its title; of JSON that gives no reason, nothing. */
function plainText(body: string): string {
  if (/^\s*[[{]/.test(body)) return "";
  if (!isWebPage(body)) return body;
  return /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? "";
}

function endSentence(text: string): string {
  const trimmed = text.replace(/[.\s]+$/, "");
  return /[?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
