import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Arrival, Task } from "../inbox/inbox.ts";
import type { Outcome } from "../payload/delivery.ts";
import { unknownNames, type WebhookPayload } from "../payload/schema.ts";
import type { Activity } from "./activity.ts";
import {
  type Answer,
  answerAccepted,
  answerDuplicate,
  answerOutcome,
  internalError,
  isSuccess,
  refusal,
} from "./answer.ts";
import { parseJson } from "./body.ts";
import { DeliveryRecord, type Handling } from "./delivery-record.ts";
import type { DeliveryRequest } from "./delivery-request.ts";
import type { Admission, Endpoint } from "./endpoint.ts";
import { isFromOtherSite } from "./other-site.ts";
import { processDelivery } from "./process.ts";
import { refuseLateRetry } from "./retry-time.ts";
import type { SecretCheck } from "./secret.ts";
import type { JobDelivery } from "./server-details.ts";

/** What the way of a delivery needs of the server it runs in. */
export interface ReceiverOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secret: SecretCheck;
  /** In bytes. */
  bodyLimit: number;
  log: () => Logger;
  /** Where refusals are logged, of which there may be many. */
  refusals: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Makes the id of a delivery that came without one. */
  createId: () => string;
  /** Keeps a delivery of a background endpoint. */
  accept: (arrival: Arrival) => Promise<{ duplicate: boolean }>;
  /** Where what came is counted. */
  activity: Activity;
}

/** The outcome of a delivery, or the promise of one. */
interface Running {
  outcome: Outcome | Promise<Outcome>;
  /** Whether the same delivery was being worked on already, so that this is the outcome of that run. */
  duplicate: boolean;
}

/** How many names that this release does not know are told in the log; then it has been said often enough. */
const unknownNamesTold = 100;

/**
 * The way of a delivery: endpoint, secret, body, JSON, schema, filter, handler, answer, and one log line. The secret
 * comes before the body: a stranger cannot make the server read anything.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #record: DeliveryRecord;
  readonly #toldNames = new Set<string>();
  /** The deliveries whose handler is running, by endpoint and id. */
  readonly #running = new Map<string, Promise<Outcome>>();

  /** The deliveries that are being stored, by endpoint and id: each promise resolves once the acceptance is logged. */
  readonly #accepting = new Map<string, Promise<void>>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#record = new DeliveryRecord(options);
  }

  /** Answers one request. Never rejects. */
  async handle(request: DeliveryRequest): Promise<Answer> {
    const startedAt = performance.now();
    const { endpoints, secret, bodyLimit } = this.#options;
    let endpoint: Endpoint | undefined;
    try {
      endpoint = endpoints.get(request.endpointName);
      if (!endpoint) throw endpointUnknown();
      if (request.method !== "POST") throw methodNotAllowed();
      secret.check(request);
      if (endpoint.wantsJson) requireJson(request);
      else if (!secret.isSet(request.bindings)) refuseOtherSites(request);
      const body = await request.readBody(bodyLimit);
      const admitted = this.#admit(endpoint, body);
      const admission = admitted instanceof Promise ? await admitted : admitted;
      const delivery = this.#delivery({ endpoint, body, admission, id: usableId(request.header("webhook-id")) });
      const handling = { endpoint, delivery, admission };
      if (endpoint.background && admission.ignored === undefined) return await this.#accept(handling, startedAt);
      const ranAt = performance.now();
      const { outcome, duplicate } = this.#run(handling, request);
      const first = answerOutcome(await outcome);
      const answer = duplicate ? answerDuplicate({ id: delivery.id, first }) : first.answer;
      const endedAt = performance.now();
      this.#record.answered(handling, {
        outcome: first.outcome,
        duplicate,
        status: answer.status,
        ms: endedAt - startedAt,
        handlerMs: endedAt - ranAt,
      });
      return answer;
    } catch (error) {
      return this.#refuse(error, endpoint);
    }
  }

  /**
   * Takes a body through schema, filter and handler, without HTTP.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   */
  async deliver({
    endpoint,
    body,
    id,
  }: {
    endpoint: Endpoint;
    body: string;
    id: string | undefined;
  }): Promise<Outcome> {
    const admission = await this.#admit(endpoint, body);
    const delivery = this.#delivery({ endpoint, body, admission, id });
    return this.#run({ endpoint, delivery, admission }).outcome;
  }

  /** Runs the handler of a background endpoint on a delivery out of the inbox. Never rejects. */
  async work(endpoint: Endpoint, task: Task, signal: AbortSignal): Promise<Outcome> {
    // Its handler may end before the line of its acceptance is logged.
    await this.#accepting.get(keyOf(task));
    const startedAt = performance.now();
    try {
      const admission = await this.#admit(endpoint, task.body);
      const { id, body, receivedAt, attempt } = task;
      const delivery = { id, endpoint: endpoint.name, body, payload: admission.payload, receivedAt, attempt };
      // The filter is another by now, and the handler must not get what it does not let through.
      if (admission.ignored !== undefined) {
        const outcome: Outcome = { status: "ignored", reason: admission.ignored };
        this.#record.attempted({ endpoint, delivery, admission }, { outcome, ms: 0, task, signal });
        return outcome;
      }
      const ran = await this.#attempt({ endpoint, delivery, signal });
      const outcome = refuseLateRetry(ran, { endpoint, task, now: this.#options.now });
      const ms = performance.now() - startedAt;
      this.#record.attempted({ endpoint, delivery, admission }, { outcome, ms, task, signal });
      return outcome;
    } catch (cause) {
      // What was accepted once does not fit any more: the schema is another by now.
      const error = WebhookError.isInstance(cause) ? cause : internalError(cause);
      this.#record.misfitted(endpoint, task, error);
      return { status: "failed", error };
    }
  }

  /**
   * Takes a body through schema, filter and handler where nobody waits for an answer, also that of a background
   * endpoint, and writes the log line.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   */
  async runOnce({
    endpoint,
    body,
    id,
    signal,
  }: Omit<JobDelivery, "endpoint"> & { endpoint: Endpoint }): Promise<Outcome> {
    const startedAt = performance.now();
    const admission = await this.#admit(endpoint, body);
    const delivery = this.#delivery({ endpoint, body, admission, id: usableId(id) });
    const ranAt = performance.now();
    const outcome: Outcome =
      admission.ignored === undefined
        ? await this.#attempt({ endpoint, delivery, signal })
        : { status: "ignored", reason: admission.ignored };
    const endedAt = performance.now();
    this.#record.answered(
      { endpoint, delivery, admission },
      { outcome, duplicate: false, ms: endedAt - startedAt, handlerMs: endedAt - ranAt },
    );
    return outcome;
  }

  /** Answers once the delivery is kept; the handler runs later. */
  async #accept(handling: Handling, startedAt: number): Promise<Answer> {
    const { delivery } = handling;
    const logged = Promise.withResolvers<void>();
    const key = keyOf(delivery);
    this.#accepting.set(key, logged.promise);
    try {
      const { duplicate } = await this.#options.accept(delivery);
      this.#record.accepted(handling, { duplicate, ms: performance.now() - startedAt });
      return answerAccepted({ id: delivery.id, duplicate });
    } finally {
      this.#accepting.delete(key);
      logged.resolve();
    }
  }

  #admit(endpoint: Endpoint, body: string): Admission | Promise<Admission> {
    return endpoint.admit(endpoint.wantsJson ? parseJson(body) : undefined);
  }

  #delivery({ endpoint, body, admission, id }: Omit<Handling, "delivery"> & { body: string; id: string | undefined }) {
    if (admission.hubPayload) this.#tellUnknownNames(admission.hubPayload);
    return {
      id: id ?? this.#options.createId(),
      endpoint: endpoint.name,
      body,
      payload: admission.payload,
      receivedAt: new Date(this.#options.now()),
      attempt: 1,
    };
  }

  /**
   * Runs the handler, unless the filter does not want the delivery. Where a run of the same delivery is still going on,
   * its outcome is shared instead: the Hub repeats what it believes lost.
   */
  #run({ endpoint, delivery, admission }: Handling, request?: DeliveryRequest): Running {
    if (admission.ignored !== undefined) {
      return { outcome: { status: "ignored", reason: admission.ignored }, duplicate: false };
    }
    const key = keyOf(delivery);
    const running = this.#running.get(key);
    if (running) return { outcome: running, duplicate: true };
    const outcome = processDelivery({ endpoint, delivery, log: this.#options.log(), request });
    if (outcome instanceof Promise) {
      this.#running.set(key, outcome);
      void outcome.then(() => this.#running.delete(key));
    }
    return { outcome, duplicate: false };
  }

  /** Runs the handler without a request: what would have been answered with an error has failed. */
  async #attempt({
    endpoint,
    delivery,
    signal,
  }: Omit<Handling, "admission"> & { signal: AbortSignal }): Promise<Outcome> {
    const run = processDelivery({ endpoint, delivery, log: this.#options.log(), signal });
    const { outcome, answer } = answerOutcome(await run);
    if (outcome.status !== "succeeded" || isSuccess(answer)) return outcome;
    return { status: "failed", error: answeredWithError(endpoint, answer.status) };
  }

  #refuse(error: unknown, endpoint: Endpoint | undefined): Answer {
    // A schema may throw one of its own, with a status that is none of a refusal.
    const isRefusal =
      WebhookError.isInstance(error) && error.status !== undefined && error.status >= 400 && error.status <= 599;
    const refused = isRefusal ? error : internalError(error);
    const { code, status, message, cause } = refused;
    const fields = { endpoint: endpoint?.name, code, status, err: cause };
    if (status === 500) this.#options.log().error(fields, message);
    else this.#options.refusals.warn(fields, `delivery refused: ${message}`);
    return refusal(refused);
  }

  #tellUnknownNames(payload: WebhookPayload): void {
    for (const name of unknownNames(payload)) {
      if (this.#toldNames.has(name) || this.#toldNames.size >= unknownNamesTold) continue;
      this.#toldNames.add(name);
      this.#options.log().info(`The Hub sent something new, which is passed on as it is: ${name}.`);
    }
  }
}

/** What the Hub puts there is a UUID or the like; anything that could not be told in a log or a path is no id. */
function usableId(id: string | null | undefined): string | undefined {
  return id != null && /^[!-~]{1,200}$/.test(id) ? id : undefined;
}

/** A page of another site can post `text/plain` without asking, but not JSON. */
function requireJson(request: DeliveryRequest): void {
  const type = request.header("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) return;
  throw new WebhookError("Send the payload as Content-Type: application/json.", {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

/** Where any body will do and no secret is asked for, a page of another site could post to this machine unasked. */
function refuseOtherSites(request: DeliveryRequest): void {
  if (!isFromOtherSite(request)) return;
  throw new WebhookError("A page of another site may not post here: set a webhook secret, and send it.", {
    code: "CROSS_SITE_REFUSED",
    status: 403,
  });
}

function endpointUnknown(): WebhookError {
  return new WebhookError("No such webhook endpoint: check the URL of the webhook.", {
    code: "ENDPOINT_UNKNOWN",
    status: 404,
  });
}

function methodNotAllowed(): WebhookError {
  return new WebhookError("Deliveries are sent with POST.", { code: "METHOD_NOT_ALLOWED", status: 405 });
}

function answeredWithError(endpoint: Endpoint, status: number): WebhookError {
  return new WebhookError(`The handler of endpoint "${endpoint.name}" answered ${status}.`, {
    code: "HANDLER_FAILED",
    status: 500,
    retryable: true,
  });
}

function keyOf({ endpoint, id }: { endpoint: string; id: string }): string {
  return `${endpoint} ${id}`;
}
