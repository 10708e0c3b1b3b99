import { WebhookError } from "../../core/errors.ts";
import type { Answer } from "../../http/answer.ts";
import type { AttemptDetails, ClaimedDelivery } from "../../inbox/inbox.ts";
import type { Outcome } from "../../payload/delivery.ts";
import { unknownNames } from "../../payload/schema.ts";
import type { Endpoint, ParsedDelivery } from "../endpoint/endpoint.ts";
import type { CheckedDelivery } from "../hub/condition-check.ts";
import type { JobDelivery } from "../lifecycle/server-control.ts";
import type { RecentRun } from "../recent/recent-run.ts";
import { DeliveryRecorder } from "./delivery-recorder.ts";
import type { DeliveryRequest } from "./delivery-request.ts";
import { dropInvalidRetryTime, notChecked } from "./handler-errors.ts";
import {
  type AnsweredOutcome,
  answerAccepted,
  answerDuplicate,
  answerOutcome,
  internalError,
  resultTextOf,
} from "./outcome-answer.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import { answerRefusal } from "./refusal.ts";
import { checkRequest, endpointNotFound } from "./request-checks.ts";
import { type RunSource, runHandler } from "./run-handler.ts";

/** The outcome of an attempt, and what was recorded of it. */
type RecordedOutcome = Outcome & { readonly details?: AttemptDetails };

/** The maximum number of unknown names that are logged, because senders can invent any number of names. */
const maxUnknownNames = 100;

/**
 * Parses, runs, and records deliveries in the same way for every source. Each source has one method: `handle` for HTTP
 * requests, `runClaimed` for the inbox, `runJob` for jobs, and `receive` for `server.receive()`.
 *
 * A background delivery takes this path: `handle` stores it with `BackgroundWork.store`, and `Inbox.accept` wakes the
 * `EndpointWorker`. The worker claims the delivery and calls `EndpointQueue.run`, which is `runClaimed` with the endpoint.
 * `runClaimed` parses the stored body again, runs the handler, and records the attempt. Then the worker calls `nextStep`, as
 * the recorder does for the log, and stores the result.
 */
export class DeliveryPipeline {
  readonly #options: PipelineOptions;
  readonly #recorder: DeliveryRecorder;
  readonly #loggedNames = new Set<string>();
  /** The runs in progress, by endpoint and delivery ID. */
  readonly #running = new Map<string, Promise<Outcome>>();
  /**
   * The deliveries being stored, by endpoint and delivery ID. Each promise resolves when the accepted delivery is logged.
   */
  readonly #storing = new Map<string, Promise<void>>();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#recorder = new DeliveryRecorder(options);
  }

  /** Answers an HTTP request. Never rejects. */
  async handle(request: DeliveryRequest): Promise<Answer> {
    const startedAt = performance.now();
    const { endpoints, secretCheck, bodyLimit } = this.#options;
    let endpoint: Endpoint | undefined;
    try {
      endpoint = endpoints.get(request.endpointName);
      if (!endpoint) throw endpointNotFound();
      checkRequest(request, endpoint, secretCheck);
      const body = await request.readBody(bodyLimit);
      // Most bodies are parsed synchronously, and `await` would take as long as several steps of a delivery.
      const id = usableId(request.header("webhook-id"));
      const parsing = this.#parse(endpoint, { body, id });
      let parsed = parsing instanceof Promise ? await parsing : parsing;
      // Only a Hub sends an ID. The command on the landing page does not.
      if (id !== undefined && parsed.hubPayload) endpoint.activity.registration = "registered";
      if (endpoint.queue && parsed.ignored === undefined) {
        if (!this.#isFromInbox(parsed)) {
          return await this.#store(endpoint, parsed, { startedAt, request });
        }
        parsed = { ...parsed, ignored: "The event comes from the bucket that stores the inbox of this server." };
      }
      const ranAt = performance.now();
      const { running, duplicate, recorded } = this.#runOnce(endpoint, parsed, request);
      const answered = answerOutcome(await running, endpoint.name);
      const answer = duplicate ? answerDuplicate({ id: parsed.delivery.id, first: answered.answer }) : answered.answer;
      const endedAt = performance.now();
      if (recorded) this.#endRun(recorded, answered, endedAt - ranAt, answer.status);
      this.#recorder.recordAnswered(endpoint, parsed, {
        outcome: answered.outcome,
        duplicate,
        isRepeat: recorded?.isRepeat,
        status: answer.status,
        ms: endedAt - startedAt,
        handlerMs: endedAt - ranAt,
      });
      return answer;
    } catch (error) {
      return answerRefusal(error, { endpoint, request }, this.#options);
    }
  }

  /** Whether an event comes from the bucket of the inbox. Storing the event would cause the next one. */
  #isFromInbox({ hubPayload }: ParsedDelivery): boolean {
    const repo = hubPayload?.repo;
    return repo?.type === "bucket" && repo.name === this.#options.bucket();
  }

  /** Runs a delivery that the inbox has claimed. Never rejects. */
  async runClaimed(endpoint: Endpoint, claimed: ClaimedDelivery, signal: AbortSignal): Promise<RecordedOutcome> {
    const { details, ...outcome } = await this.#runAndRecord(endpoint, claimed, signal);
    const redacted = this.#options.redactOutcome(outcome);
    return details ? { ...redacted, details } : redacted;
  }

  async #runAndRecord(endpoint: Endpoint, claimed: ClaimedDelivery, signal: AbortSignal): Promise<RecordedOutcome> {
    // Waits, so that "delivery accepted" is logged before the outcome of a fast handler.
    await this.#storing.get(keyOf(claimed));
    const startedAt = performance.now();
    try {
      const parsed = await endpoint.parse(claimed);
      this.#options.history.changed(claimed);
      const recorder = this.#options.history.createRecorder();
      const answered = await this.#runUnanswered(endpoint, parsed, { signal, recorder });
      const isInterrupted = signal.aborted;
      const outcome = dropInvalidRetryTime(answered.outcome, {
        endpoint,
        claimed,
        isInterrupted,
        now: this.#options.now,
      });
      this.#recorder.recordAttempt(endpoint, parsed, { outcome, ms: performance.now() - startedAt, claimed, signal });
      const details = recorder?.details(outcome, resultTextOf(answered));
      return details ? { ...outcome, details } : outcome;
    } catch (cause) {
      // The endpoint's schema may have changed since the delivery was stored.
      const error = WebhookError.isInstance(cause) ? cause : internalError(cause);
      this.#recorder.recordRejected(endpoint, { error, claimed, signal });
      return { status: "failed", error };
    }
  }

  /**
   * Runs the delivery that started a job. The handler of a background endpoint also runs immediately.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   */
  async runJob(endpoint: Endpoint, { body, id, signal }: Omit<JobDelivery, "endpoint">): Promise<Outcome> {
    const startedAt = performance.now();
    const parsed = await this.#parse(endpoint, { body, id: usableId(id) });
    const ranAt = performance.now();
    const { outcome } = await this.#runUnanswered(endpoint, parsed, { signal });
    const endedAt = performance.now();
    this.#recorder.recordAnswered(endpoint, parsed, {
      outcome,
      ms: endedAt - startedAt,
      handlerMs: endedAt - ranAt,
    });
    return outcome;
  }

  /**
   * Runs a delivery from `server.receive()`, which is not logged or counted.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   */
  async receive(endpoint: Endpoint, delivery: Pick<JobDelivery, "body" | "id">): Promise<Outcome> {
    const startedAt = performance.now();
    const { running, recorded } = this.#runOnce(endpoint, await this.#parse(endpoint, delivery));
    const answered = answerOutcome(await running, endpoint.name);
    if (recorded) this.#endRun(recorded, answered, performance.now() - startedAt);
    return answered.outcome;
  }

  /**
   * Accepts a delivery from the console: stores it for a background endpoint, or starts its handler. Resolves before the handler
   * has finished, which `done` reports.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`, `INBOX_FULL`, `INBOX_UNAVAILABLE`.
   */
  async submit(
    endpoint: Endpoint,
    { body, replayOf }: { body: string; replayOf?: string },
  ): Promise<{ id: string; done?: Promise<void> }> {
    const startedAt = performance.now();
    const parsed = await this.#parse(endpoint, { body, id: undefined });
    const { id } = parsed.delivery;
    if (endpoint.queue && parsed.ignored === undefined) {
      await this.#store(endpoint, parsed, { startedAt, replayOf });
      return { id };
    }
    const { history } = this.#options;
    const recorded = history.start(parsed, { replayOf });
    const done = this.#runUnanswered(endpoint, parsed, { recorder: recorded }).then((answered) => {
      const ms = performance.now() - startedAt;
      if (recorded) this.#endRun(recorded, answered, ms);
      const { outcome } = answered;
      this.#recorder.recordAnswered(endpoint, parsed, {
        outcome,
        ms,
        handlerMs: ms,
      });
    });
    return { id, done };
  }

  #endRun(run: RecentRun, { outcome, answer }: AnsweredOutcome, durationMs: number, responseStatus?: number): void {
    const resultText = resultTextOf({ outcome, answer });
    this.#options.history.end(run, { outcome, durationMs, responseStatus }, resultText);
  }

  /** Returns a promise only if the endpoint's schema is asynchronous. */
  #parse(endpoint: Endpoint, { body, id }: Pick<JobDelivery, "body" | "id">): ParsedDelivery | Promise<ParsedDelivery> {
    const parsing = endpoint.parse({
      id: id ?? this.#options.createId(),
      endpoint: endpoint.name,
      body,
      receivedAt: new Date(this.#options.now()),
      attempt: 1,
    });
    return parsing instanceof Promise
      ? parsing.then((parsed) => this.#logUnknownNames(parsed))
      : this.#logUnknownNames(parsing);
  }

  /** Stores a delivery and returns the answer. The handler runs later. */
  async #store(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    { startedAt, request, replayOf }: { startedAt: number; request?: DeliveryRequest; replayOf?: string | undefined },
  ): Promise<Answer> {
    const { delivery } = parsed;
    const { history, store } = this.#options;
    const headers = request && history.headersToStore(request.captureHeaders()());
    const logged = Promise.withResolvers<void>();
    const key = keyOf(delivery);
    this.#storing.set(key, logged.promise);
    try {
      const { duplicate } = await store({ ...delivery, headers, replayOf });
      history.changed(delivery);
      this.#recorder.recordAccepted(endpoint, parsed, { duplicate, ms: performance.now() - startedAt });
      return answerAccepted({ id: delivery.id, duplicate });
    } finally {
      this.#storing.delete(key);
      logged.resolve();
    }
  }

  /** Runs the handler, unless the filter ignores the delivery. */
  #run(endpoint: Endpoint, parsed: ParsedDelivery, source: RunSource): Outcome | Promise<Outcome> {
    const { delivery, hubPayload, ignored } = parsed;
    if (ignored !== undefined) return { status: "ignored", reason: ignored };
    const { log, hub } = this.#options;
    const run = () => runHandler({ endpoint, delivery, log, hub, ...source });
    if (!endpoint.conditions || !hubPayload) return run();
    return this.#runOnConditions(run, { endpoint, delivery, payload: hubPayload, source });
  }

  async #runOnConditions(
    run: () => Outcome | Promise<Outcome>,
    { source: { request, signal }, ...checked }: Omit<CheckedDelivery, "signal"> & { source: RunSource },
  ): Promise<Outcome> {
    try {
      const checking = { ...checked, signal: request?.signal ?? signal };
      const reason = await this.#options.conditionCheck.reasonToIgnore(checking);
      return reason === undefined ? await run() : { status: "ignored", reason };
    } catch (cause) {
      return { status: "failed", error: notChecked(cause) };
    }
  }

  /**
   * Runs a delivery, or waits for the same delivery if it is already running. The Hub resends a delivery if it receives
   * no response.
   */
  #runOnce(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    request?: DeliveryRequest,
  ): { running: Outcome | Promise<Outcome>; duplicate: boolean; recorded?: RecentRun | undefined } {
    const key = keyOf(parsed.delivery);
    const inProgress = this.#running.get(key);
    if (inProgress) return { running: inProgress, duplicate: true };
    const recorded = this.#options.history.start(parsed, { headers: request?.captureHeaders() });
    const running = this.#run(endpoint, parsed, { request, recorder: recorded });
    if (running instanceof Promise) {
      this.#running.set(key, running);
      void running.then(() => this.#running.delete(key));
    }
    return { running, duplicate: false, recorded };
  }

  /** Runs a delivery for which no client waits. */
  async #runUnanswered(endpoint: Endpoint, parsed: ParsedDelivery, source: RunSource): Promise<AnsweredOutcome> {
    // The answer is not sent, but its creation turns an error `Response` or an invalid result into a failure.
    return answerOutcome(await this.#run(endpoint, parsed, source), endpoint.name);
  }

  #logUnknownNames(parsed: ParsedDelivery): ParsedDelivery {
    for (const name of parsed.hubPayload ? unknownNames(parsed.hubPayload) : []) {
      if (this.#loggedNames.has(name) || this.#loggedNames.size >= maxUnknownNames) continue;
      this.#loggedNames.add(name);
      this.#options.log.info(
        { unknown: name },
        "The Hub sent a value that is unknown to this release. Handlers receive it unchanged.",
      );
    }
    return parsed;
  }
}

/** Returns a delivery ID if it can be used in logs and paths. The Hub sends UUIDs, and other senders may send other IDs. */
function usableId(id: string | null | undefined): string | undefined {
  return id != null && /^[!-~]{1,200}$/.test(id) ? id : undefined;
}

function keyOf({ endpoint, id }: { endpoint: string; id: string }): string {
  return `${endpoint} ${id}`;
}
