import type { DeliveryPart } from "../catch-up/cursor.ts";
import { WebhookError } from "../core/errors.ts";
import { type Answer, internalError } from "../http/answer.ts";
import { readBodyLimit } from "../http/body.ts";
import type { ClaimedDelivery, FinishedRun } from "../inbox/inbox.ts";
import { derivedIdPrefix, keyOf, type Outcome, type ParsedDelivery } from "../payload/parse.ts";
import { unknownNames, type WebhookPayload } from "../payload/schema.ts";
import { type ConditionParts, checkConditions } from "./conditions.ts";
import type { ServerContext } from "./context.ts";
import type { JobDelivery } from "./control.ts";
import {
  type AnsweredOutcome,
  answerAccepted,
  answerDuplicate,
  answerOutcome,
  DeliveryRecorder,
  resultTextOf,
} from "./end.ts";
import type { Endpoint } from "./endpoint.ts";
import { dropInvalidRetryTime, type RunOptions, type RunSource, runHandler } from "./handler.ts";
import type { Run } from "./history.ts";
import type { BackgroundWork } from "./inbox.ts";
import { checkRequest, type DeliveryRequest } from "./request.ts";

interface PipelineParts extends ConditionParts {
  background: BackgroundWork;
}

/** The maximum number of unknown names that are logged, because senders can invent any number of names. */
const maxUnknownNames = 100;

/**
 * Parses and runs deliveries in the same way for every source. Each source has one method: `handle` for HTTP requests, `runClaimed` for
 * the inbox, `runJob` for jobs, `receive` for `server.receive()`, `submit` for the console, and `acceptDerived` for catch-up.
 *
 * A request passes `checkRequest` (`request.ts`), `readBody`, `parse` (`payload/parse.ts`), `runHandler` (`handler.ts`), and
 * `DeliveryRecorder` (`end.ts`: answers, log lines, and counts). For a background endpoint, `handle` stores the delivery with
 * `BackgroundWork.store` (`inbox.ts`), and `Inbox.accept` wakes the worker of the endpoint (`inbox/sqlite/endpoint-worker.ts`). The worker
 * claims the delivery and calls `runClaimed`, which parses the stored body again and runs the handler. Then the worker decides the next
 * step, stores the attempt, and calls `onStored`, which logs and counts the attempt.
 */
export class DeliveryPipeline {
  readonly #context: ServerContext;
  readonly #parts: PipelineParts;
  readonly #bodyLimit: number;
  readonly #createId: () => string;
  readonly #recorder: DeliveryRecorder;
  readonly #loggedNames = new Set<string>();
  /** The runs in progress, by endpoint and delivery ID. */
  readonly #running = new Map<string, Promise<Outcome>>();
  /** The deliveries being stored, by endpoint and delivery ID, until they were accepted and logged, or could not be stored. */
  readonly #storing = new Map<string, Promise<void>>();

  /** @throws `OPTION_INVALID` if the `bodyLimit` of the server is invalid. */
  constructor(context: ServerContext, parts: PipelineParts) {
    this.#context = context;
    this.#parts = parts;
    this.#bodyLimit = readBodyLimit(context.options.bodyLimit);
    this.#createId = context.options.createId ?? (() => crypto.randomUUID());
    this.#recorder = new DeliveryRecorder(context);
  }

  /** Answers an HTTP request. Never rejects. */
  async handle(request: DeliveryRequest): Promise<Answer> {
    const startedAt = performance.now();
    const { endpoints, secretCheck } = this.#context;
    let endpoint: Endpoint | undefined;
    try {
      endpoint = endpoints.byName.get(request.endpointName);
      if (!endpoint) throw endpointNotFound();
      checkRequest(request, endpoint, secretCheck);
      const body = await request.readBody(this.#bodyLimit);
      // Most bodies are parsed synchronously, and `await` would take as long as several steps of a delivery.
      const id = usableId(request.header("webhook-id"));
      const parsing = this.#parse(endpoint, { body, id });
      const parsed = this.#ignoreOwnInbox(endpoint, parsing instanceof Promise ? await parsing : parsing);
      // Only a Hub sends an ID. The command on the landing page does not.
      if (id !== undefined && parsed.hubPayload) endpoint.activity.registration = "registered";
      if (endpoint.queue && parsed.ignored === undefined) {
        const { duplicate } = await this.#store(endpoint, parsed, { startedAt, request });
        return answerAccepted({ id: parsed.delivery.id, duplicate });
      }
      // An ignored delivery of a background endpoint is not stored, and is answered like an inline one.
      const ranAt = performance.now();
      const { running, duplicate, run } = this.#runOnce(endpoint, parsed, request);
      const { outcome, answer: first } = answerOutcome(await running, endpoint.name);
      const answer = duplicate ? answerDuplicate({ id: parsed.delivery.id, first }) : first;
      const { status } = answer;
      this.#recorder.recordAnswered(endpoint, parsed, { outcome, answer, run, duplicate, status, startedAt, ranAt });
      return answer;
    } catch (error) {
      return this.#recorder.recordRefused(error, endpoint, request);
    }
  }

  /**
   * Ignores an event from the bucket of the inbox, because storing it would cause the next one. Catch-up does not compare this bucket, and
   * a delivery from the console is sent once.
   */
  #ignoreOwnInbox(endpoint: Endpoint, parsed: ParsedDelivery): ParsedDelivery {
    if (!endpoint.queue || parsed.ignored !== undefined) return parsed;
    const repo = parsed.hubPayload?.repo;
    if (repo?.type !== "bucket" || repo.name !== this.#parts.background.bucket) return parsed;
    return { ...parsed, ignored: "The event comes from the bucket that stores the inbox of this server." };
  }

  /** Returns a promise only if the endpoint's schema is asynchronous. */
  #parse(endpoint: Endpoint, { body, id }: Pick<JobDelivery, "body" | "id">): ParsedDelivery | Promise<ParsedDelivery> {
    const parsing = endpoint.parse({
      id: id ?? this.#createId(),
      endpoint: endpoint.name,
      body,
      receivedAt: new Date(this.#context.now()),
      attempt: 1,
    });
    return parsing instanceof Promise
      ? parsing.then((parsed) => this.#logUnknownNames(parsed))
      : this.#logUnknownNames(parsing);
  }

  #logUnknownNames(parsed: ParsedDelivery): ParsedDelivery {
    for (const name of parsed.hubPayload ? unknownNames(parsed.hubPayload) : []) {
      if (this.#loggedNames.has(name) || this.#loggedNames.size >= maxUnknownNames) continue;
      this.#loggedNames.add(name);
      this.#context.log.info(
        { unknown: name },
        "The Hub sent a value unknown to this release. Handlers receive it unchanged.",
      );
    }
    return parsed;
  }

  /** Stores a delivery. The handler runs later. */
  async #store(
    endpoint: Endpoint,
    parsed: ParsedDelivery,
    { startedAt, request, replayOf }: { startedAt: number; request?: DeliveryRequest; replayOf?: string | undefined },
  ): Promise<{ duplicate: boolean }> {
    const { delivery } = parsed;
    const { history } = this.#context;
    const headers = request && history.headersToStore(request.captureHeaders()());
    const logged = Promise.withResolvers<void>();
    const key = keyOf(delivery);
    this.#storing.set(key, logged.promise);
    try {
      const { duplicate } = await this.#parts.background.store({ ...delivery, headers, replayOf });
      history.changed(delivery);
      this.#recorder.recordAccepted(endpoint, parsed, { duplicate, ms: performance.now() - startedAt });
      return { duplicate };
    } finally {
      this.#storing.delete(key);
      logged.resolve();
    }
  }

  /** Runs a delivery, or waits for the same one if it is already running: the Hub resends a delivery if it receives no response. */
  #runOnce(endpoint: Endpoint, parsed: ParsedDelivery, request?: DeliveryRequest) {
    const key = keyOf(parsed.delivery);
    const inProgress = this.#running.get(key);
    if (inProgress) return { running: inProgress, duplicate: true, run: undefined };
    const run = this.#context.history.start(parsed.delivery, { headers: request?.captureHeaders() });
    const running = this.#run(endpoint, parsed, { request, run });
    if (running instanceof Promise) {
      this.#running.set(key, running);
      void running.then(() => this.#running.delete(key));
    }
    return { running, duplicate: false, run };
  }

  #run(endpoint: Endpoint, parsed: ParsedDelivery, source: RunSource): Outcome | Promise<Outcome> {
    const { delivery, hubPayload, ignored } = parsed;
    if (ignored !== undefined) return { status: "ignored", reason: ignored };
    const { hub, catchUp } = this.#parts;
    const options = { endpoint, delivery, log: this.#context.log, hub, catchUp, ...source };
    return endpoint.conditions && hubPayload ? runOnConditions(options, hubPayload) : runHandler(options);
  }

  /** Runs a delivery that the inbox has claimed. Never rejects. */
  async runClaimed(endpoint: Endpoint, claimed: ClaimedDelivery, signal: AbortSignal): Promise<FinishedRun> {
    const { history, now, redaction } = this.#context;
    // Waits, so that "delivery accepted" is logged before the outcome of a fast handler.
    await this.#storing.get(keyOf(claimed));
    const startedAt = performance.now();
    let parsed: ParsedDelivery | undefined;
    let outcome: Outcome;
    let run: Run | undefined;
    try {
      parsed = await endpoint.parse(claimed);
      run = history.startStored(claimed);
      const answered = await this.#runUnanswered(endpoint, parsed, { signal, run });
      const isInterrupted = signal.aborted;
      outcome = dropInvalidRetryTime(answered.outcome, endpoint, { claimed, isInterrupted, now: now() });
      run?.end({ outcome, resultText: resultTextOf(answered), durationMs: performance.now() - startedAt });
    } catch (cause) {
      // The endpoint's schema may have changed since the delivery was stored.
      outcome = { status: "failed", error: WebhookError.isInstance(cause) ? cause : internalError(cause) };
    }
    const ended = { outcome, ms: performance.now() - startedAt, claimed, abortReason: signal.reason, at: now() };
    const onStored: FinishedRun["onStored"] = (next) =>
      this.#recorder.recordAttempt(endpoint, parsed, { ...ended, next });
    const redacted = redaction.outcome(outcome);
    const details = run?.details;
    return details ? { ...redacted, details, onStored } : { ...redacted, onStored };
  }

  async #runUnanswered(endpoint: Endpoint, parsed: ParsedDelivery, source: RunSource): Promise<AnsweredOutcome> {
    // The answer is not sent, but its creation turns an error `Response` or an invalid result into a failure.
    return answerOutcome(await this.#run(endpoint, parsed, source), endpoint.name);
  }

  /** Runs the delivery that started a job, also of a background endpoint. @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`. */
  async runJob(endpoint: Endpoint, { body, id, signal }: Omit<JobDelivery, "endpoint">): Promise<Outcome> {
    const startedAt = performance.now();
    const parsed = await this.#parse(endpoint, { body, id: usableId(id) });
    const ranAt = performance.now();
    const answered = await this.#runUnanswered(endpoint, parsed, { signal });
    this.#recorder.recordAnswered(endpoint, parsed, { ...answered, run: undefined, startedAt, ranAt });
    return answered.outcome;
  }

  /** Runs a delivery from `server.receive()`, which the console shows, but which is not logged or counted. @throws like {@link runJob}. */
  async receive(endpoint: Endpoint, delivery: Pick<JobDelivery, "body" | "id">): Promise<Outcome> {
    const parsed = await this.#parse(endpoint, delivery);
    const ranAt = performance.now();
    const { running, run } = this.#runOnce(endpoint, parsed);
    const answered = answerOutcome(await running, endpoint.name);
    this.#recorder.recordRun(run, answered, { durationMs: performance.now() - ranAt });
    return answered.outcome;
  }

  /** Accepts a derived delivery, unless the filter of its endpoint ignores it. @throws `INBOX_FULL`, `INBOX_UNAVAILABLE`. */
  async acceptDerived(
    endpoint: Endpoint,
    { dryRun, ...delivery }: { id: string; body: string; dryRun: boolean },
  ): Promise<"accepted" | "duplicate" | "ignored"> {
    const startedAt = performance.now();
    const parsed = await this.#parse(endpoint, delivery);
    if (parsed.ignored !== undefined) return "ignored";
    if (dryRun) return "accepted";
    const { duplicate } = await this.#store(endpoint, parsed, { startedAt });
    return duplicate ? "duplicate" : "accepted";
  }

  /**
   * Accepts a delivery from the console: stores it for a background endpoint, or starts its handler, whose end `done` reports.
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
    const ranAt = performance.now();
    const run = this.#context.history.start(parsed.delivery, { replayOf });
    const done = this.#runUnanswered(endpoint, parsed, { run }).then((answered) =>
      this.#recorder.recordAnswered(endpoint, parsed, { ...answered, run, startedAt, ranAt }),
    );
    return { id, done };
  }
}

/**
 * Runs the handler unless a condition of the endpoint ignores the delivery. If the Hub does not answer in time, the handler runs, because
 * an event that is handled once too often is better than a lost event.
 */
async function runOnConditions(options: RunOptions & ConditionParts, payload: WebhookPayload): Promise<Outcome> {
  const { endpoint, delivery, log, request } = options;
  const { id, receivedAt } = delivery;
  // Without a request or signal, the delivery is never aborted.
  const signal = request?.signal ?? options.signal ?? AbortSignal.any([]);
  let part: DeliveryPart | undefined;
  try {
    const decided = { id, receivedAt, endpoint: endpoint.name, payload };
    const checked = await checkConditions(endpoint, decided, options, signal);
    if (checked.ignored !== undefined) return { status: "ignored", reason: checked.ignored };
    part = checked.part;
  } catch (thrown) {
    if (signal.aborted) {
      const error = new WebhookError("The delivery was interrupted before its handler ran.", {
        code: "CLOSING",
        status: 503,
        retryable: true,
        cause: signal.reason,
      });
      return { status: "failed", error };
    }
    log.warn(
      { endpoint: endpoint.name, deliveryId: id, err: thrown },
      "The Hub did not answer whether the conditions of the endpoint (catchUp, ignoreSelf, paths) are met. The handler runs.",
    );
  }
  // An endpoint with its own schema receives all changes.
  if (part === undefined || delivery.payload !== payload) return runHandler(options);
  return runHandler({ ...options, delivery: { ...delivery, payload: { ...payload, ...part } } });
}

function endpointNotFound(): WebhookError {
  return new WebhookError("The server has no endpoint at this URL. Check the URL of the webhook.", {
    code: "ENDPOINT_UNKNOWN",
    status: 404,
  });
}

/** Returns a delivery ID if it can be used in logs and paths. The Hub sends UUIDs, and other senders may send other IDs. */
function usableId(id: string | null | undefined): string | undefined {
  return id != null && /^[!-~]{1,200}$/.test(id) && !id.startsWith(derivedIdPrefix) ? id : undefined;
}
