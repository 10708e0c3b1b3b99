import { describeError } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { formatDuration } from "../core/options.ts";
import { shorten } from "../core/text.ts";
import { webhooksPath } from "../core/urls.ts";
import { type Answer, errorAnswer, internalError, isResponse, isSuccess, type JsonAnswer } from "../http/answer.ts";
import type { ClaimedDelivery, NextStep } from "../inbox/inbox.ts";
import type { Outcome, ParsedDelivery } from "../payload/parse.ts";
import type { ServerContext } from "./context.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Run, RunEnd } from "./history.ts";
import { type DeliveryRequest, probeAgent } from "./request.ts";

export interface AnsweredOutcome {
  outcome: Outcome;
  answer: Answer;
}

/**
 * Converts the outcome of a handler run to an answer. The returned outcome is a failure if the handler returned an error
 * `Response`, which is still the answer, or a value that cannot be converted to JSON.
 */
export function answerOutcome(outcome: Outcome, endpoint: string): AnsweredOutcome {
  if (outcome.status === "failed") return { outcome, answer: errorAnswer(outcome.error) };
  if (outcome.status === "ignored") {
    // Uses status 200, because the Hub counts error statuses against the webhook.
    return { outcome, answer: { status: 200, content: JSON.stringify({ ignored: outcome.reason }) } };
  }
  const { result } = outcome;
  if (isResponse(result)) {
    if (isSuccess(result)) return { outcome, answer: result };
    const error = new WebhookError(
      `The handler of endpoint "${endpoint}" returned status ${result.status}, which counts as a failure. Return 200 to 299 after a success.`,
      { code: "HANDLER_FAILED", status: 500, retryable: true },
    );
    return { outcome: { status: "failed", error }, answer: result };
  }
  try {
    const text: string | undefined = JSON.stringify(result);
    return { outcome, answer: { status: 200, content: text ?? null } };
  } catch (cause) {
    const error = new WebhookError(
      "The handler returned a value that cannot be converted to JSON. Return plain data.",
      { code: "RESULT_NOT_JSON", status: 500, cause },
    );
    return { outcome: { status: "failed", error }, answer: errorAnswer(error) };
  }
}

/** Returns the handler's result as JSON text, or `null` if it returned nothing, a `Response`, or an error. */
export function resultTextOf({ outcome, answer }: AnsweredOutcome): string | null {
  return outcome.status === "succeeded" && !isResponse(answer) ? answer.content : null;
}

/**
 * Returns the answer to a delivery that arrived again while it was running: 202 after a success, as for any duplicate. After a failure,
 * the answer is the same failure, so that the Hub retries the delivery.
 */
export function answerDuplicate({ id, first }: { id: string; first: Answer }): Answer {
  if (isSuccess(first)) return answerAccepted({ id, duplicate: true });
  // The body of a `Response` can only be read once, and the first answer reads it.
  return isResponse(first) ? { status: first.status, content: null } : first;
}

export function answerAccepted({ id, duplicate }: { id: string; duplicate: boolean }): JsonAnswer {
  return { status: 202, content: JSON.stringify({ deliveryId: id, ...(duplicate && { duplicate }) }) };
}

/** A run without an inbox that has ended. Its times are those of `performance.now()`. */
interface AnsweredRun extends AnsweredOutcome {
  /** Missing for another arrival of a delivery that was running, and in edge workers. */
  run: Run | undefined;
  /** Whether the outcome belongs to an earlier arrival of the same delivery. Default `false`. */
  duplicate?: boolean;
  /** The status of the response. Missing for a delivery without a response. */
  status?: number;
  startedAt: number;
  ranAt: number;
}

/** A background attempt that has ended, and the step that the inbox has decided. */
interface EndedAttempt {
  outcome: Outcome;
  next: NextStep;
  claimed: ClaimedDelivery;
  ms: number;
  /** Why the inbox has interrupted the attempt, if it has. */
  abortReason: unknown;
  at: number;
}

/** The fields of a log line for a delivery or attempt. `hub-webhooks dev` reads them from the server's log. */
export interface DeliveryLogFields {
  endpoint: string;
  deliveryId: string;
  repo?: string | undefined;
  scope?: string | undefined;
  action?: string | undefined;
  attempt?: number;
  status?: number | undefined;
  /** Missing if the delivery was only stored. */
  outcome?: "succeeded" | "ignored" | "failed" | "retrying" | "dead" | "abandoned";
  duplicate?: boolean | undefined;
  reason?: string;
  nextAttemptInMs?: number;
  code?: string;
  /** The value that the handler threw. Missing if its stack was logged within the last ten minutes. */
  err?: unknown;
  /** How often the error has been logged since its stack was. */
  repeated?: number;
  ms?: number;
}

/** For this long, further errors of an endpoint with the same stack are logged without it. */
const stackIntervalMs = 600_000;

/** The maximum length of a logged path, because clients choose it. */
const maxLoggedPath = 200;

/** Longer messages are only in `err`. They are not cut, because a part of a secret would not be redacted. */
const maxReasonChars = 500;

/**
 * Records the outcome of each delivery and attempt: writes one log line and updates the activity. An inbox logs what it
 * finds after a crash.
 *
 * | end | `outcome` in the log | counted as | status in the inbox |
 * |---|---|---|---|
 * | the handler returned a result | `succeeded` | `succeeded` | `succeeded` |
 * | the filter or a condition did not match | `ignored` | `ignored` | `ignored`, or not stored |
 * | failed before the response | `failed` | `failed` | not stored |
 * | failed in the background, to be retried | `retrying` | `retrying` | `queued` |
 * | failed in the background, not retried | `dead` | `dead` | `dead` |
 * | interrupted in the background | `abandoned` | not counted | `queued` |
 */
export class DeliveryRecorder {
  readonly #context: ServerContext;
  readonly #stacks = new Map<string, { stack: string; at: number; repeated: number }>();

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Records a delivery whose handler ran before the response, or that the filter ignored. */
  recordAnswered(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    { outcome, answer, run, duplicate = false, status, startedAt, ranAt }: AnsweredRun,
  ): void {
    const endedAt = performance.now();
    const handlerMs = endedAt - ranAt;
    this.recordRun(run, { outcome, answer }, { durationMs: handlerMs, responseStatus: status });
    const { activity, log } = this.#context;
    // A run is counted only for the first arrival of its delivery.
    if (!duplicate) {
      const isRepeat = run?.isRepeat;
      if (!isRepeat) endpoint.activity.addArrival(parsed.delivery.receivedAt.getTime());
      activity.ended(endpoint.activity, outcome.status, isRepeat);
      if (outcome.status !== "ignored") activity.ran(endpoint, handlerMs);
    }
    const fields: DeliveryLogFields = {
      ...fieldsOf(endpoint, parsed),
      outcome: outcome.status,
      duplicate: duplicate || undefined,
      status,
      ms: roundTime(endedAt - startedAt),
    };
    if (outcome.status === "failed") {
      const { reason, ...failure } = this.#failureOf(endpoint, outcome.error, parsed.delivery.receivedAt.getTime());
      log.error({ ...fields, ...failure }, `delivery failed: ${reason}`);
    } else this.#logProcessed(fields, outcome);
  }

  recordRun(run: Run | undefined, answered: AnsweredOutcome, end: Pick<RunEnd, "durationMs" | "responseStatus">): void {
    if (!run) return;
    this.#context.history.end(run, { outcome: answered.outcome, resultText: resultTextOf(answered), ...end });
  }

  /** Records that a delivery of a background endpoint was stored and answered, after `ms` milliseconds. */
  recordAccepted(endpoint: Endpoint, parsed: ParsedDelivery, end: { duplicate: boolean; ms: number }): void {
    const { duplicate, ms } = end;
    if (!duplicate) endpoint.activity.addArrival(parsed.delivery.receivedAt.getTime());
    const fields: DeliveryLogFields = {
      ...fieldsOf(endpoint, parsed),
      duplicate: duplicate || undefined,
      status: 202,
      ms: roundTime(ms),
    };
    this.#context.log.info(fields, "delivery accepted");
  }

  /** Records an attempt after it was stored. Without `parsed`, the endpoint no longer accepts the body, and its handler did not run. */
  recordAttempt(
    endpoint: Endpoint,
    parsed: ParsedDelivery | undefined,
    { outcome, next, claimed, ms, abortReason, at }: EndedAttempt,
  ): void {
    const { activity, log } = this.#context;
    if (parsed && outcome.status !== "ignored") activity.ran(endpoint, ms);
    const fields: DeliveryLogFields = parsed
      ? { ...fieldsOf(endpoint, parsed), attempt: claimed.attempt, ms: roundTime(ms) }
      : { endpoint: endpoint.name, deliveryId: claimed.id, attempt: claimed.attempt };
    if (outcome.status !== "failed") {
      activity.ended(endpoint.activity, outcome.status);
      this.#logProcessed({ ...fields, outcome: outcome.status }, outcome);
    } else if (next.status === "queued" && !next.counts) {
      // The error is only a consequence of the abort, so the abort reason is logged instead.
      const { code, message } = WebhookError.isInstance(abortReason) ? abortReason : outcome.error;
      const abandoned: DeliveryLogFields = { ...fields, outcome: "abandoned", code };
      log.warn(abandoned, `delivery was interrupted and will run again: ${message}`);
    } else {
      const { reason, ...failure } = this.#failureOf(endpoint, outcome.error, at);
      if (next.status === "queued") {
        activity.ended(endpoint.activity, "retrying");
        const nextAttemptInMs = Math.max(0, next.dueAt - at);
        const retrying: DeliveryLogFields = { ...fields, outcome: "retrying", nextAttemptInMs, ...failure };
        log.warn(retrying, `delivery will be retried in ${formatDuration(nextAttemptInMs)}: ${reason}`);
      } else {
        activity.ended(endpoint.activity, "dead");
        const dead: DeliveryLogFields = { ...fields, outcome: "dead", ...failure };
        const remedy = "Replay the delivery in the console or with hub-webhooks deliveries replay.";
        log.error(dead, `delivery is dead: ${reason} ${remedy}`);
      }
    }
  }

  #logProcessed(fields: DeliveryLogFields, outcome: Exclude<Outcome, { status: "failed" }>): void {
    const { log } = this.#context;
    if (outcome.status === "ignored") log.info({ ...fields, reason: outcome.reason }, "delivery ignored");
    else log.info(fields, "delivery succeeded");
  }

  /** Records a request whose handler did not run, and returns its answer. `endpoint`: `undefined` if it is unknown. */
  recordRefused(error: unknown, endpoint: Endpoint | undefined, request: DeliveryRequest): Answer {
    const { log, refusalLog, history, secretCheck } = this.#context;
    // A user's schema may throw a `WebhookError` with any status.
    const hasErrorStatus =
      WebhookError.isInstance(error) && error.status !== undefined && error.status >= 400 && error.status <= 599;
    const sent = hasErrorStatus ? error : internalError(error);
    const { code, status, message, cause } = sent;
    const subject = endpoint
      ? { endpoint: endpoint.name }
      : { path: shorten(`${webhooksPath}${request.endpointName}`, maxLoggedPath) };
    const fields = { ...subject, code, status, err: cause };
    if (status === 500) log.error(fields, message);
    else refusalLog.warn(fields, `delivery refused: ${message}`);
    // A test delivery proves the secret by its refusal. Any client can send its name, so it only counts together with the secret.
    const isProof =
      request.header("user-agent") === probeAgent &&
      secretCheck.isSet(request.bindings) &&
      secretCheck.accepts(request.header("x-webhook-secret"));
    // Browsers and scanners use other methods.
    if (request.method === "POST" && !isProof)
      history.refuse({ endpoint: request.endpointName, code, status, message });
    return errorAnswer(sent);
  }

  /** Returns the fields of a failure, and its reason in one sentence. A stack that was just logged is left out. */
  #failureOf(
    { name: endpoint }: Endpoint,
    { code, cause, message }: WebhookError,
    at: number,
  ): Pick<DeliveryLogFields, "code" | "err" | "repeated"> & { reason: string } {
    if (cause === undefined) return { code, reason: message };
    const thrown = describeError(cause);
    const { stack } = thrown;
    const reason = reasonOf(thrown);
    if (stack === undefined || reason === undefined) return { code, err: cause, reason: reason ?? message };
    const last = this.#stacks.get(endpoint);
    if (last?.stack !== stack || Math.abs(at - last.at) > stackIntervalMs) {
      this.#stacks.set(endpoint, { stack, at, repeated: 0 });
      return { code, err: cause, reason };
    }
    last.repeated += 1;
    return { code, repeated: last.repeated, reason };
  }
}

/** Returns the first line of an error's message as a sentence. */
function reasonOf({ name, message }: { name: string; message: string }): string | undefined {
  const line = message.split(/\r?\n/, 1)[0]?.trim() ?? "";
  if (line === "" || line.length > maxReasonChars) return undefined;
  const isNamed = /Error$/.test(name) && name !== "Error";
  return `${isNamed ? `${name}: ` : ""}${line}${/[.!?…]$/.test(line) ? "" : "."}`;
}

function fieldsOf(endpoint: Endpoint, { delivery, hubPayload }: ParsedDelivery): DeliveryLogFields {
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
