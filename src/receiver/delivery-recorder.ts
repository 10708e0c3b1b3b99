import { formatDuration } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { ClaimedDelivery } from "../inbox/inbox.ts";
import { nextAttemptAt } from "../inbox/retry-policy.ts";
import type { Outcome } from "../payload/delivery.ts";
import type { Activity } from "./activity.ts";
import type { Endpoint, ParsedDelivery } from "./endpoint.ts";

/** Records what happens to deliveries: one log line each, and the activity. */
export class DeliveryRecorder {
  readonly #activity: Activity;
  readonly #log: () => Logger;
  readonly #now: () => number;

  /** @param options `now` is in milliseconds since the epoch. */
  constructor({ activity, log, now }: { activity: Activity; log: () => Logger; now: () => number }) {
    this.#activity = activity;
    this.#log = log;
    this.#now = now;
  }

  /** Records a delivery that was run at once, or ignored. */
  recordAnswered(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    {
      outcome,
      duplicate,
      status,
      ms,
      handlerMs,
    }: {
      outcome: Outcome;
      /** Whether the outcome is that of a run already in progress. */
      duplicate: boolean;
      /** Status of the response; `undefined` without one. */
      status: number | undefined;
      /** From the request to the response. */
      ms: number;
      /** The handler alone. */
      handlerMs: number;
    },
  ): void {
    // The Hub counts every status but 2xx as a failure, even when the handler chose it.
    const refused = outcome.status === "succeeded" && status !== undefined && (status < 200 || status > 299);
    // The first arrival of a duplicate records the run.
    if (!duplicate) {
      this.#activity.arrived(endpoint.activity, parsed.delivery.receivedAt.getTime());
      this.#activity.ended(endpoint.activity, refused ? "failed" : outcome.status);
      if (outcome.status !== "ignored") this.#activity.ran(endpoint.name, handlerMs);
    }
    const fields = {
      ...fieldsOf(endpoint, parsed),
      outcome: outcome.status,
      ...(duplicate && { duplicate }),
      status,
      ms: roundTime(ms),
    };
    const log = this.#log();
    if (outcome.status === "failed") {
      log.error({ ...fields, code: outcome.error.code, err: outcome.error.cause }, outcome.error.message);
    } else if (refused) log.warn(fields, "delivery failed: its handler returned an error response");
    else if (outcome.status === "ignored") log.info({ ...fields, reason: outcome.reason }, "delivery ignored");
    else log.info(fields, "delivery succeeded");
  }

  /** Records that a delivery of a background endpoint was stored and answered, after `ms` milliseconds. */
  recordAccepted(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    { duplicate, ms }: { duplicate: boolean; ms: number },
  ): void {
    if (!duplicate) this.#activity.arrived(endpoint.activity, parsed.delivery.receivedAt.getTime());
    const fields = {
      ...fieldsOf(endpoint, parsed),
      duplicate: duplicate || undefined,
      status: 202,
      ms: roundTime(ms),
    };
    this.#log().info(fields, "delivery accepted");
  }

  /** Records an attempt in the background, which took `ms` milliseconds. `signal` is the one that the inbox passed. */
  recordAttempt(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    { outcome, ms, claimed, signal }: { outcome: Outcome; ms: number; claimed: ClaimedDelivery; signal: AbortSignal },
  ): void {
    if (outcome.status !== "ignored") this.#activity.ran(endpoint.name, ms);
    const fields = { ...fieldsOf(endpoint, parsed), attempt: claimed.attempt, ms: roundTime(ms) };
    if (outcome.status !== "failed") {
      this.#activity.ended(endpoint.activity, outcome.status);
      this.#log().info({ ...fields, outcome: outcome.status }, `delivery ${outcome.status}`);
      return;
    }
    const { error } = outcome;
    if (signal.aborted) {
      // Neither a success nor a failure: the inbox runs it again, or another process does. The handler's error is only a
      // consequence of the abort.
      const { code, message } = WebhookError.isInstance(signal.reason) ? signal.reason : error;
      this.#log().warn(
        { ...fields, outcome: "abandoned", code },
        `delivery was interrupted and will run again: ${message}`,
      );
    } else this.#recordFailure(endpoint, fields, { claimed, error, retryAt: outcome.retryAt });
  }

  /** Records a claimed delivery whose body no longer fits its endpoint, so that it was not run. */
  recordRejected(endpoint: Endpoint, claimed: ClaimedDelivery, error: WebhookError): void {
    const fields = { endpoint: endpoint.name, deliveryId: claimed.id, attempt: claimed.attempt };
    this.#recordFailure(endpoint, fields, { claimed, error, retryAt: undefined });
  }

  #recordFailure(
    endpoint: Endpoint,
    fields: object,
    { claimed, error, retryAt }: { claimed: ClaimedDelivery; error: WebhookError; retryAt: Date | undefined },
  ): void {
    if (!error.retryable || claimed.isLastAttempt) {
      this.#activity.ended(endpoint.activity, "failed");
      this.#log().error(
        { ...fields, outcome: "dead", code: error.code, err: error.cause },
        `delivery is dead: ${error.message} Replay it on the dashboard or with hub-webhooks deliveries replay.`,
      );
      return;
    }
    this.#activity.ended(endpoint.activity, "retrying");
    const now = this.#now();
    const nextAttemptInMs = Math.max(0, nextAttemptAt({ retryDelayMs: claimed.retryDelayMs, retryAt, now }) - now);
    this.#log().warn(
      { ...fields, outcome: "retrying", nextAttemptInMs, code: error.code, err: error.cause },
      `delivery will be retried in ${formatDuration(nextAttemptInMs)}: ${error.message}`,
    );
  }
}

function fieldsOf(endpoint: Endpoint, { delivery, hubPayload }: ParsedDelivery) {
  return {
    endpoint: endpoint.name,
    deliveryId: delivery.id,
    repo: hubPayload && `${hubPayload.repo.type}:${hubPayload.repo.name}`,
    scope: hubPayload?.event.scope,
    action: hubPayload?.event.action,
  };
}

/** Rounds to a tenth of a millisecond. */
function roundTime(ms: number): number {
  return Math.round(ms * 10) / 10;
}
