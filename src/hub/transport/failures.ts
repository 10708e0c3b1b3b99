import { readOwnField } from "../../core/describe.ts";
import { HubError, type WebhookErrorCode } from "../../core/errors.ts";
import { readJson } from "../../core/text.ts";
import { exponentialBackoff, untilAborted } from "../../core/time.ts";
import type { Redact } from "./request-secrets.ts";
import { isWebPage, readText } from "./response-body.ts";

/** The maximum size of an error response in bytes, which is much larger than the Hub's error responses. */
const maxErrorBytes = 65_536;

/** Details for the error message. */
export interface ErrorResponseContext {
  /** The action that failed, such as `create a webhook`. */
  action: string;
  hubUrl: string;
  redact: Redact;
  signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now: number;
  /** A warning to append to the message, or an empty string. */
  retryWarning: string;
}

/** Reads an error response in all formats that the Hub uses (docs/reference/hub-api.md, Errors). Returns the error to throw. */
export async function readErrorResponse(response: Response, context: ErrorResponseContext): Promise<HubError> {
  const { status, headers } = response;
  const { action, redact } = context;
  const read = readText(response, { limit: maxErrorBytes, signal: context.signal });
  const body = (await read.catch(() => undefined)) ?? "";
  const reason = redact(reasonOf(readJson(body)) || (headers.get("x-error-message") ?? "") || plainText(body));
  const name = redact(headers.get("x-error-code") ?? "");
  const requestId = redact(headers.get("x-request-id") ?? "") || undefined;
  const retryAfterSeconds = readRetryAfterSeconds(headers, context.now);

  const head = `Could not ${action}: the Hub returned status ${status}${name && ` (${name})`}`;
  const remedy = remedyFor({ status, hubUrl: context.hubUrl, retryAfterSeconds, requestId, hasReason: reason !== "" });
  return new HubError(`${reason ? `${head}: ${endSentence(reason)}` : `${head}.`} ${remedy}${context.retryWarning}`, {
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
  412: "HUB_CONFLICT",
  429: "HUB_RATE_LIMITED",
};

function codeOf(status: number): WebhookErrorCode {
  return codes[status] ?? (status >= 500 ? "HUB_FAILED" : "HUB_REFUSED");
}

interface Situation {
  status: number;
  hubUrl: string;
  retryAfterSeconds: number | undefined;
  requestId: string | undefined;
  /** Whether the response contains a reason. */
  hasReason: boolean;
}

function remedyFor({ status, hubUrl, retryAfterSeconds, requestId, hasReason }: Situation): string {
  const tokens = `${hubUrl}/settings/tokens`;
  if (isRetryable(status) && retryAfterSeconds !== undefined) {
    return `Try again in ${retryAfterSeconds} s.`;
  }
  if (status === 429) return "Try again later, and send fewer requests.";
  if (status >= 500) {
    return `Try again later${requestId ? `, or contact the Hub's support with the request ID ${requestId}` : ""}.`;
  }
  if (status === 400 || status === 422) return "Fix the request.";
  if (status === 402) return "Upgrade the plan, or add credits.";
  if (status === 401) return `Set HF_TOKEN or pass a token (--token, or "token" in code). Create a token at ${tokens}.`;
  if (status === 403 && hasReason)
    return `If the token lacks permission, use a token with write permission. Manage tokens at ${tokens}.`;
  if (status === 403)
    return `Use a token with write permission from a user who has the required role. Manage tokens at ${tokens}.`;
  if (status === 404) {
    return `Check the name or ID, and the URL of the Hub (HF_ENDPOINT, currently ${hubUrl}).`;
  }
  if (status === 412) return "Read the current state, then try again.";
  if (status < 400) {
    return `The client does not follow redirects, because another server could receive the token. Check the URL of the Hub (HF_ENDPOINT, currently ${hubUrl}).`;
  }
  return `Check the request and the URL of the Hub (HF_ENDPOINT, currently ${hubUrl}).`;
}

/** Returns the reason in a parsed body, or an empty string if the body contains no reason. */
function reasonOf(parsed: unknown): string {
  if (typeof parsed === "string") return parsed;
  const error = joinTexts(readOwnField(parsed, "error"));
  const description = joinTexts(readOwnField(parsed, "error_description"));
  const errors = joinTexts(readOwnField(parsed, "errors"));
  const reasons = [error, description, errors].filter((reason) => reason !== "");
  return reasons.length > 0 ? reasons.join(": ") : joinTexts(readOwnField(parsed, "message"));
}

/** Returns the text of a string, of an object with a message, or of a list of such values, joined with semicolons. */
function joinTexts(value: unknown): string {
  const items: unknown[] = Array.isArray(value) ? value.slice(0, 20) : [value];
  return items
    .map((item) => (typeof item === "string" ? item : readOwnField(item, "message")))
    .filter((text) => typeof text === "string" && text.trim() !== "")
    .join("; ");
}

/** Returns the reason in a body that is not JSON: the text, or the title of an HTML page. Returns an empty string for JSON. */
function plainText(body: string): string {
  if (/^\s*[[{]/.test(body)) return "";
  if (!isWebPage(body)) return body;
  return /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? "";
}

function endSentence(text: string): string {
  const trimmed = text.replace(/[.\s]+$/, "");
  return /[?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

const backoff = { firstMs: 500, maxMs: 20_000 };
/**
 * The maximum delay that the client waits for, in seconds. If the Hub requests a longer delay, the call fails instead of blocking
 * the caller.
 */
export const maxRetryAfterSeconds = 60;

/**
 * Returns the delay that the Hub requests, in seconds. The delay is the longer one of `Retry-After` (seconds or a date) and an
 * exhausted `RateLimit`, such as `"api";r=0;t=55` (no requests remain, reset in 55 s). Returns `undefined` if neither header is
 * present.
 */
function readRetryAfterSeconds(headers: Headers, now: number): number | undefined {
  const requested = [retryAfter(headers.get("retry-after"), now), ...exhaustedLimits(headers.get("ratelimit"))];
  const known = requested.filter((seconds) => seconds !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = value.endsWith("GMT") ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Returns the time until each exhausted limit is reset, in seconds. */
function exhaustedLimits(value: string | null): number[] {
  return (value ?? "")
    .split(",")
    .filter((limit) => /;\s*r=0(?:\s*;|\s*$)/.test(limit))
    .flatMap((limit) => /;\s*t=(\d{1,9})(?:\s*;|\s*$)/.exec(limit)?.[1] ?? [])
    .map(Number);
}

/**
 * Returns the delay before the next attempt, in milliseconds. `attempt` is the number of the failed attempt. Uses exponential
 * backoff with full jitter, so that many clients do not retry at the same time. The delay is at least as long as the Hub requests.
 */
export function retryDelayMs({
  attempt,
  random,
  requestedSeconds = 0,
}: {
  attempt: number;
  random: number;
  requestedSeconds: number | undefined;
}): number {
  return Math.max(requestedSeconds * 1000, Math.floor(random * exponentialBackoff(attempt, backoff)));
}

const connectFailureCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether `fetch` failed before a connection was open, so that the Hub received no part of the request. */
export function isConnectFailure(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const failed = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors : [cause];
  return failed.every(
    (failure: unknown) =>
      connectFailureCodes.has(readOwnField(failure, "code")) || readOwnField(failure, "syscall") === "connect",
  );
}

/** Resolves after a delay. @throws the signal's abort reason as soon as the signal is aborted. */
export async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const elapsed = Promise.withResolvers<void>();
  const timer = setTimeout(elapsed.resolve, milliseconds);
  try {
    await (signal ? untilAborted(elapsed.promise, signal) : elapsed.promise);
  } finally {
    clearTimeout(timer);
  }
}
