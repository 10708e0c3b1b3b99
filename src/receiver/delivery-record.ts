import { formatDuration } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Task } from "../inbox/inbox.ts";
import { nextAttemptAt } from "../inbox/retry-policy.ts";
import type { Delivery, Outcome } from "../payload/delivery.ts";
import type { Activity } from "./activity.ts";
import type { Admission, Endpoint } from "./endpoint.ts";

/** A delivery that was let in, before and after its handler ran. */
export interface Handling {
  endpoint: Endpoint;
  delivery: Delivery<unknown>;
  admission: Admission;
}

/** What a {@link DeliveryRecord} is made from. */
export interface DeliveryRecordOptions {
  activity: Activity;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What became of a delivery that was answered with its outcome. */
export interface Answered {
  outcome: Outcome;
  /** Whether the same delivery was being worked on already, and this is the outcome of that run. */
  duplicate: boolean;
  /** The status that was answered; absent where nobody waited for one. */
  status?: number;
  /** From the request to the answer, in milliseconds. */
  ms: number;
  /** The handler alone. */
  handlerMs: number;
}

/** What a failed attempt is logged with. */
interface Failure {
  task: Task;
  error: WebhookError;
  /** When the handler asked to be retried. */
  retryAt: Date | undefined;
}

/** Keeps what is told of deliveries: one line of the log each, and the activity. */
export class DeliveryRecord {
  readonly #activity: Activity;
  readonly #log: () => Logger;
  readonly #now: () => number;

  constructor({ activity, log, now }: DeliveryRecordOptions) {
    this.#activity = activity;
    this.#log = log;
    this.#now = now;
  }

  /** A delivery was answered with what its handler made of it, or ignored. */
  answered(handling: Handling, { outcome, duplicate, status, ms, handlerMs }: Answered): void {
    const { endpoint, delivery } = handling;
    // To the Hub, whatever is not 2xx has failed, also where the handler meant to answer it.
    const refused = outcome.status === "succeeded" && status !== undefined && (status < 200 || status > 299);
    // The run that a duplicate waited for is told by the delivery that began it.
    if (!duplicate) {
      this.#activity.arrived(endpoint.activity, delivery.receivedAt.getTime());
      this.#activity.ended(endpoint.activity, refused ? "failed" : outcome.status);
      if (outcome.status !== "ignored") this.#activity.ran(endpoint.name, handlerMs);
    }
    const fields = {
      ...fieldsOf(handling),
      outcome: outcome.status,
      ...(duplicate && { duplicate }),
      status,
      ms: roundTime(ms),
    };
    const log = this.#log();
    if (outcome.status === "failed") {
      log.error({ ...fields, code: outcome.error.code, err: outcome.error.cause }, outcome.error.message);
    } else if (refused) log.warn(fields, "delivery answered with an error by its handler");
    else if (outcome.status === "ignored") log.info({ ...fields, reason: outcome.reason }, "delivery ignored");
    else log.info(fields, "delivery succeeded");
  }

  /** A delivery of a background endpoint was answered and kept, in `ms` milliseconds. */
  accepted(handling: Handling, { duplicate, ms }: { duplicate: boolean; ms: number }): void {
    const { endpoint, delivery } = handling;
    if (!duplicate) this.#activity.arrived(endpoint.activity, delivery.receivedAt.getTime());
    const fields = { ...fieldsOf(handling), duplicate: duplicate || undefined, status: 202, ms: roundTime(ms) };
    this.#log().info(fields, "delivery accepted");
  }

  /** An attempt in the background came to its end after `ms` milliseconds; `signal` is the one that the inbox gave. */
  attempted(
    handling: Handling,
    { outcome, ms, task, signal }: { outcome: Outcome; ms: number; task: Task; signal: AbortSignal },
  ): void {
    const { endpoint } = handling;
    if (outcome.status !== "ignored") this.#activity.ran(endpoint.name, ms);
    const fields = { ...fieldsOf(handling), attempt: task.attempt, ms: roundTime(ms) };
    if (outcome.status !== "failed") {
      this.#activity.ended(endpoint.activity, outcome.status);
      this.#log().info({ ...fields, outcome: outcome.status }, `delivery ${outcome.status}`);
      return;
    }
    const { error } = outcome;
    if (signal.aborted) {
      // Neither an end nor a failure: the inbox hands it back, or somebody else has it. What the handler threw because
      // of it says nothing.
      const { code, message } = WebhookError.isInstance(signal.reason) ? signal.reason : error;
      this.#log().warn(
        { ...fields, outcome: "abandoned", code },
        `delivery was interrupted and will be run again: ${message}`,
      );
    } else this.#failed(endpoint, fields, { task, error, retryAt: outcome.retryAt });
  }

  /** A delivery out of the inbox does not fit any more what its endpoint asks for, and was not run. */
  misfitted(endpoint: Endpoint, task: Task, error: WebhookError): void {
    this.#failed(
      endpoint,
      { endpoint: endpoint.name, deliveryId: task.id, attempt: task.attempt },
      { task, error, retryAt: undefined },
    );
  }

  #failed(endpoint: Endpoint, fields: object, { task, error, retryAt }: Failure): void {
    if (!error.retryable || task.isLast) {
      this.#died(endpoint, fields, error);
      return;
    }
    this.#activity.ended(endpoint.activity, "retrying");
    const now = this.#now();
    const nextAttemptInMs = Math.max(0, nextAttemptAt({ retryWaitMs: task.retryWaitMs, retryAt, now }) - now);
    this.#log().warn(
      { ...fields, outcome: "retrying", nextAttemptInMs, code: error.code, err: error.cause },
      `delivery will be tried again in ${formatDuration(nextAttemptInMs)}: ${error.message}`,
    );
  }

  #died(endpoint: Endpoint, fields: object, error: WebhookError): void {
    this.#activity.ended(endpoint.activity, "failed");
    this.#log().error(
      { ...fields, outcome: "dead", code: error.code, err: error.cause },
      `delivery is dead: ${error.message} Replay it on the dashboard or with hub-webhooks deliveries replay.`,
    );
  }
}

function fieldsOf({ endpoint, delivery, admission: { hubPayload } }: Handling) {
  return {
    endpoint: endpoint.name,
    deliveryId: delivery.id,
    repo: hubPayload && `${hubPayload.repo.type}:${hubPayload.repo.name}`,
    scope: hubPayload?.event.scope,
    action: hubPayload?.event.action,
  };
}

/** To a tenth of a millisecond: more is noise. */
function roundTime(ms: number): number {
  return Math.round(ms * 10) / 10;
}
