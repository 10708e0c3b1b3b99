import { describeError, messageOf } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import type { Outcome } from "../payload/parse.ts";
import type { DeliveryAttempt, DeliveryKey, InboxProblem } from "./inbox.ts";

const refused = { status: 503, retryable: true };

export function inboxFull(endpoint: string): WebhookError {
  const message = `Endpoint "${endpoint}" has too many queued deliveries. Send this delivery again later.`;
  return new WebhookError(message, { code: "INBOX_FULL", ...refused, retryAfterSeconds: 60 });
}

export function inboxUnavailable(cause: unknown): WebhookError {
  const message = "The delivery could not be stored. Send the delivery again.";
  return new WebhookError(message, { code: "INBOX_UNAVAILABLE", ...refused, retryAfterSeconds: 5, cause });
}

/** Returns the error for a process whose inbox was taken over by another process. */
export function inboxTakenOver(): WebhookError {
  const message = "Another process has taken over the inbox. Send the delivery again.";
  return new WebhookError(message, { code: "INBOX_TAKEN_OVER", ...refused, retryAfterSeconds: 5 });
}

export function deliveryUnknown(
  { id, endpoint }: DeliveryKey,
  action: "replayed" | "discarded" = "replayed",
): WebhookError {
  const missing = action === "replayed" ? "the delivery or its body" : "the delivery";
  return new WebhookError(
    `Delivery "${id}" of endpoint "${endpoint}" cannot be ${action}, because ${missing} is not stored. Choose a delivery from the list of deliveries.`,
    { code: "DELIVERY_UNKNOWN", status: 404 },
  );
}

export function deliveryRunning({ id, endpoint }: DeliveryKey): WebhookError {
  return new WebhookError(
    `Delivery "${id}" of endpoint "${endpoint}" cannot be discarded while it is running. Wait until the attempt ends, then try again.`,
    { code: "DELIVERY_RUNNING", status: 409 },
  );
}

export function cursorInvalid(): WebhookError {
  return optionError({ option: "cursor", expected: "the `next` field of the previous page" });
}

/** Returns the abort reason of a handler's signal when the inbox closes. */
export function inboxClosing(): WebhookError {
  return new WebhookError("The server is shutting down. Unfinished deliveries will run again after the next start.", {
    code: "CLOSING",
    retryable: true,
  });
}

/** Returns the abort reason of a handler's signal when the lease of the delivery is lost. */
export function leaseLost(): WebhookError {
  return new WebhookError("The lease of this delivery has expired. Another process may run the delivery.", {
    code: "LEASE_LOST",
    retryable: true,
  });
}

/** Returns the problem of an inbox that cannot store or cannot run any delivery. */
export function unavailable(message: string, code = "INBOX_UNAVAILABLE"): InboxProblem {
  return { code, severity: "unavailable", message };
}

type AttemptError = NonNullable<DeliveryAttempt["error"]>;

/** The stored error of an attempt that a shutdown interrupted. The attempt does not count. */
export const storedClosingError: AttemptError = {
  code: "CLOSING",
  message: "The server shut down during the attempt.",
};

/** The stored error of an attempt that a crash interrupted (see `retry.ts`). */
export const storedCrashError: AttemptError = {
  code: "ABANDONED",
  message: "The process that was running the delivery stopped or did not renew the lease of the delivery in time.",
};

const maxMessageLength = 2_000;

/**
 * Returns what is stored of the outcome of an attempt. The error has the message of the cause if there is one. That message can
 * contain private details, but only the owner can read stored attempts.
 */
export function attemptOutcome(outcome: Outcome): Pick<DeliveryAttempt, "outcome" | "error" | "reason"> {
  const { status } = outcome;
  if (status === "succeeded") return { outcome: status };
  if (status === "ignored") return { outcome: status, reason: outcome.reason.slice(0, maxMessageLength) };
  const { code, cause, message } = outcome.error;
  const text = cause === undefined ? message : describeError(cause).message;
  return { outcome: status, error: { code, message: text.slice(0, maxMessageLength) } };
}

/** The minimum time between two log lines about errors with the same message. */
const logIntervalMs = 60_000;

/** Limits the log lines about repeated errors to one per minute and message. */
export class RepeatedErrors {
  readonly #now: () => number;
  readonly #loggedAt = new Map<string, number>();

  /** @param now Returns a time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to log an error now. If `true`, the error counts as logged. */
  shouldLog(error: unknown): boolean {
    const message = messageOf(error);
    const now = this.#now();
    if (now - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < logIntervalMs) return false;
    this.#loggedAt.set(message, now);
    return true;
  }
}

/** `place`: where the inbox was expected, such as `at redis://host/0`. `example`: a URL. */
export function noInbox(place: string, example?: string): WebhookError {
  const remedy = `Set INBOX_URL to the inbox of the server${example === undefined ? "" : `, such as ${example}`}.`;
  return new WebhookError(`There is no inbox ${place}. ${remedy} The server creates the inbox when it first starts.`, {
    code: "INBOX_UNUSABLE",
  });
}

/**
 * Imports optional packages. The names are variables, because bundlers fail on `import("name")` if the package is not installed.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export async function loadPackages<const Names extends readonly string[], Packages>(
  names: Names,
  loading: (...names: Names) => Promise<Packages>,
): Promise<Packages> {
  try {
    return await loading(...names);
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && /MODULE_NOT_FOUND$/.test(String(cause.code));
    if (!isMissing) throw cause;
    throw new WebhookError(
      `The inbox at INBOX_URL needs packages that are not installed. Run \`npm install ${names.join(" ")}\`.`,
      { code: "INBOX_UNUSABLE", cause },
    );
  }
}
