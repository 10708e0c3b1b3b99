import { formatDuration } from "../../core/duration.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { ClaimedDelivery } from "../../inbox/inbox.ts";
import { nextAttemptAt } from "../../inbox/retry-policy.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { Activity } from "../endpoint/activity.ts";
import type { Endpoint, ParsedDelivery } from "../endpoint/endpoint.ts";

/** Records the outcome of each delivery and attempt: writes one log line and updates the activity. */
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

  /** Records a delivery whose handler ran before the response, or that the filter ignored. */
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
      /** Whether the outcome belongs to an earlier arrival of the same delivery. */
      duplicate: boolean;
      /** The status of the response, or `undefined` for a delivery without a response. */
      status: number | undefined;
      /** The time from the request to the response. */
      ms: number;
      /** The duration of the handler run. */
      handlerMs: number;
    },
  ): void {
    // The Hub counts every status but 2xx as a failure, even when the handler chose it.
    const hasErrorResponse = outcome.status === "succeeded" && status !== undefined && (status < 200 || status > 299);
    // A run is counted only for the first arrival of its delivery.
    if (!duplicate) {
      this.#activity.arrived(endpoint.activity, parsed.delivery.receivedAt.getTime());
      this.#activity.ended(endpoint.activity, hasErrorResponse ? "failed" : outcome.status);
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
    } else if (hasErrorResponse) log.warn(fields, "delivery failed: the handler returned an error response");
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

  /**
   * Records a background attempt, which took `ms` milliseconds. The inbox aborts `signal` when it interrupts the attempt.
   */
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
      // An interrupted attempt is neither a success nor a failure, because this or another process will run the delivery
      // again. The handler's error is only a consequence of the abort, so the abort reason is logged instead.
      const { code, message } = WebhookError.isInstance(signal.reason) ? signal.reason : error;
      this.#log().warn(
        { ...fields, outcome: "abandoned", code },
        `delivery was interrupted and will run again: ${message}`,
      );
    } else this.#recordFailure(endpoint, fields, { claimed, error, retryAt: outcome.retryAt });
  }

  /** Records a claimed delivery that was not run, because the endpoint no longer accepts its body. */
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
        `delivery is dead: ${error.message} Replay the delivery on the dashboard or with hub-webhooks deliveries replay.`,
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
