import type { Context } from "hono";
import type { Delivery, Outcome } from "../delivery.ts";
import { WebhookError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { unknownNames, type WebhookPayload } from "../payload/schema.ts";
import { answerDuplicate, answerError, answerOutcome } from "./answer.ts";
import { parseJson, readBody } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";
import { processDelivery } from "./process.ts";
import type { SecretCheck } from "./secret.ts";

/** The path below which every endpoint lies (`hub-api.md`, "Webhook receiver"). */
export const webhooksPath = "/webhooks/";

/** What the way of a delivery needs of the server it runs in. */
export interface ReceiverOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secret: SecretCheck;
  /** In bytes. */
  bodyLimit: number;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Makes the id of a delivery that came without one. */
  createId: () => string;
}

/** A body on its way into an endpoint. */
interface Arrival {
  endpoint: Endpoint;
  body: string;
  /** The `Webhook-Id`, where one came. */
  id: string | undefined;
  request?: Request;
}

/** What became of an arrival. */
interface Handled {
  id: string;
  outcome: Outcome;
  hubPayload: WebhookPayload | undefined;
  /** Whether the same delivery was being worked on already, so that this is the outcome of that run. */
  duplicate: boolean;
}

/** What became of an arrival over HTTP. */
interface Recorded extends Handled {
  /** From the request to the answer. */
  ms: number;
  status: number;
}

/** How many names that this release does not know are told in the log; then it has been said often enough. */
const unknownNamesTold = 100;

/**
 * The way of a delivery: endpoint, secret, body, JSON, schema, filter, handler, answer, and one log line. The secret
 * comes before the body: a stranger cannot make the server read anything.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  /** Inline deliveries whose handler is running, by endpoint and id. */
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #toldNames = new Set<string>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Answers one request below {@link webhooksPath}. Never rejects. */
  async handle(context: Context): Promise<Response> {
    const startedAt = performance.now();
    const { endpoints, secret, bodyLimit } = this.#options;
    const request = context.req.raw;
    let endpoint: Endpoint | undefined;
    try {
      endpoint = endpoints.get(context.req.path.slice(webhooksPath.length));
      if (!endpoint) throw endpointUnknown();
      if (request.method !== "POST") throw methodNotAllowed();
      secret.check(request, context.env);
      if (endpoint.wantsJson) requireJson(request);
      const body = await readBody(request, context.env, bodyLimit);
      const handled = await this.deliver({ endpoint, body, id: deliveryId(request), request });
      const answer = answerOutcome(handled.outcome);
      const response = handled.duplicate ? answerDuplicate({ id: handled.id, answer }) : answer.response;
      const ms = performance.now() - startedAt;
      this.#record(endpoint, { ...handled, outcome: answer.outcome, ms, status: response.status });
      return response;
    } catch (error) {
      return this.#refuse(error, endpoint);
    }
  }

  /**
   * Takes a body through schema, filter and handler. Where a run of the same delivery is still going on, its outcome
   * is shared instead: the Hub repeats what it believes lost.
   *
   * @throws `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   */
  async deliver({ endpoint, body, id: givenId, request }: Arrival): Promise<Handled> {
    const receivedAt = new Date(this.#options.now());
    const { payload, hubPayload, ignored } = await endpoint.admit(endpoint.wantsJson ? parseJson(body) : undefined);
    if (hubPayload) this.#tellUnknownNames(hubPayload);
    const id = givenId ?? this.#options.createId();
    if (ignored !== undefined) {
      return { id, hubPayload, duplicate: false, outcome: { status: "ignored", reason: ignored } };
    }
    const key = `${endpoint.name} ${id}`;
    const running = this.#running.get(key);
    if (running) return { id, hubPayload, duplicate: true, outcome: await running };
    const delivery: Delivery<unknown> = { id, endpoint: endpoint.name, body, payload, receivedAt, attempt: 1 };
    const outcome = processDelivery({ endpoint, delivery, log: this.#options.log(), request });
    if (!(outcome instanceof Promise)) return { id, hubPayload, duplicate: false, outcome };
    this.#running.set(key, outcome);
    try {
      return { id, hubPayload, duplicate: false, outcome: await outcome };
    } finally {
      this.#running.delete(key);
    }
  }

  /** One line a delivery, and what the landing page shows. */
  #record(endpoint: Endpoint, { id, outcome, hubPayload, duplicate, ms, status }: Recorded): void {
    endpoint.activity.deliveries += 1;
    endpoint.activity.last = { outcome: outcome.status, at: new Date(this.#options.now()) };
    const fields = {
      endpoint: endpoint.name,
      deliveryId: id,
      repo: hubPayload && `${hubPayload.repo.type}:${hubPayload.repo.name}`,
      scope: hubPayload?.event.scope,
      action: hubPayload?.event.action,
      outcome: outcome.status,
      duplicate: duplicate || undefined,
      status,
      ms: Math.round(ms * 10) / 10,
    };
    const log = this.#options.log();
    if (outcome.status === "failed") {
      log.error({ ...fields, code: outcome.error.code, err: outcome.error.cause }, outcome.error.message);
    } else if (outcome.status === "ignored") log.info({ ...fields, reason: outcome.reason }, "delivery ignored");
    else log.info(fields, "delivery succeeded");
  }

  #refuse(error: unknown, endpoint: Endpoint | undefined): Response {
    const refusal = WebhookError.isInstance(error) ? error : internal(error);
    const { code, status, message, cause } = refusal;
    const fields = { endpoint: endpoint?.name, code, status, err: cause };
    if (status === 500) this.#options.log().error(fields, message);
    else this.#options.log().warn(fields, `delivery refused: ${message}`);
    return answerError(refusal);
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
function deliveryId(request: Request): string | undefined {
  const id = request.headers.get("webhook-id");
  return id !== null && /^[!-~]{1,200}$/.test(id) ? id : undefined;
}

/** A page of another site can post `text/plain` without asking, but not JSON. */
function requireJson(request: Request): void {
  const type = request.headers.get("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) return;
  throw new WebhookError("Send the payload as Content-Type: application/json.", {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

function endpointUnknown(): WebhookError {
  return new WebhookError("No such webhook endpoint.", { code: "ENDPOINT_UNKNOWN", status: 404 });
}

function methodNotAllowed(): WebhookError {
  return new WebhookError("Deliveries are sent with POST.", { code: "METHOD_NOT_ALLOWED", status: 405 });
}

function internal(cause: unknown): WebhookError {
  return new WebhookError("Something went wrong in the receiver; its log says what.", {
    code: "INTERNAL",
    status: 500,
    cause,
  });
}
