import { isInstanceOf, readField } from "../core/describe.ts";
import { HubError, WebhookError, type WebhookErrorCode } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { type Duration, toMilliseconds } from "../core/options.ts";
import { hopByHopHeaders } from "../core/urls.ts";
import { isResponse } from "../http/answer.ts";
import { concatenate } from "../http/body.ts";
import type { HubClient } from "../hub/client.ts";
import type { nextStep } from "../inbox/inbox.ts";
import type { Delivery, Outcome } from "../payload/parse.ts";
import type { Endpoint, HandlerContext } from "./endpoint.ts";
import type { Run } from "./history.ts";
import type { DeliveryRequest } from "./request.ts";

/** The source of a delivery: an HTTP request, or a signal for a delivery without a request. */
export interface RunSource {
  /** The HTTP request. If the client disconnects, the handler's signal aborts. */
  readonly request?: Pick<DeliveryRequest, "url" | "method" | "headers" | "signal"> | undefined;
  /** Aborts the handler's signal for a delivery without a request. */
  readonly signal?: AbortSignal | undefined;
  readonly run?: Pick<Run, "wrap"> | undefined;
}

export interface RunOptions extends RunSource {
  endpoint: Endpoint;
  delivery: Delivery<unknown>;
  log: Logger;
  /** Has the server's Hub client, which is created when a handler first reads it. */
  hub: { readonly client: HubClient };
}

/** Runs the handler of an endpoint with its timeout. Never rejects. Returns the outcome of a synchronous handler without a promise. */
export function runHandler(options: RunOptions): Outcome | Promise<Outcome> {
  const { endpoint, delivery } = options;
  const context = new RunContext(options);
  let pending: Promise<unknown>;
  try {
    const result = endpoint.handler(delivery.payload, new Proxy(context, ownProperties));
    if (!isThenable(result) && !isResponse(result)) return { status: "succeeded", result };
    pending = Promise.resolve(result);
  } catch (error) {
    return handlerFailed(endpoint, error);
  }
  // Does not use `Promise.race`, which would take several times as long.
  return new Promise((settle) => {
    let isSettled = false;
    let timedOut = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const end = (outcome: Outcome) => {
      isSettled = true;
      clearTimeout(timer);
      settle(outcome);
    };
    const fail = (error: unknown) => {
      if (timedOut)
        context.log.error({ err: error }, "The handler failed after its timeout. The delivery had already failed.");
      end(handlerFailed(endpoint, error));
    };
    const succeed = (result: unknown) => end({ status: "succeeded", result });
    pending.then((value) => {
      if (!isResponse(value)) return succeed(value);
      // Stops the source of a response that is not sent.
      if (timedOut) return void value.body?.cancel().catch(() => {});
      readWhole(value, (opened) => {
        reader = opened;
      }).then(succeed, fail);
    }, fail);
    // Many handlers settle within a microtask, and creating a timer takes as long as running such a handler.
    queueMicrotask(() => {
      if (isSettled) return;
      timer = setTimeout(() => {
        timedOut = true;
        const error = handlerTimedOut(endpoint);
        context.abort(error);
        void reader?.cancel(error).catch(() => {});
        settle({ status: "failed", error });
      }, endpoint.timeoutMs);
    });
  });
}

/** Without a status, as in `Response.error()`, or with a body of other chunks than bytes. */
const unsendable = "The handler returned a Response that cannot be sent.";

/** Reads the whole body before the response is sent, because the status cannot change if the body fails later. */
async function readWhole(
  response: Response,
  onReader: (reader: ReadableStreamDefaultReader<Uint8Array>) => void,
): Promise<Response> {
  const { status, statusText } = response;
  if (status === 0) throw new TypeError(unsendable);
  const headers = new Headers(response.headers);
  // A response from `fetch` has the framing headers of another connection. Node sets the headers of this connection.
  for (const name of hopByHopHeaders(headers.get("connection"))) headers.delete(name);
  headers.delete("content-length");
  // A response with a URL comes from `fetch`, which decodes the body but keeps this header.
  if (response.url !== "") headers.delete("content-encoding");
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const reader = response.body.getReader();
  onReader(reader);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Response(concatenate(chunks), { status, statusText, headers });
    // A stream can also contain strings and buffers. Bytes can be from another realm, such as in jsdom.
    if (!value.subarray) throw new TypeError(unsendable);
    chunks.push(value);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Creates the outcome of a failed handler. The thrown error is the `cause`, which is logged but never sent to the client. */
function handlerFailed(endpoint: Endpoint, cause: unknown): Outcome {
  const error = new WebhookError(`The handler of endpoint "${endpoint.name}" failed.`, {
    code: "HANDLER_FAILED",
    status: 500,
    retryable: !isNonRetriable(cause),
    cause,
  });
  const retryAt = retryTimeOf(cause);
  return { status: "failed", error, ...(retryAt && { retryAt }) };
}

function handlerTimedOut(endpoint: Endpoint): WebhookError {
  return new WebhookError(
    `The handler of endpoint "${endpoint.name}" did not finish within its timeout of ${endpoint.timeoutMs} ms.`,
    { code: "HANDLER_TIMED_OUT", status: 504, retryable: true },
  );
}

/** The context of one run. The signal, logger, and request are created on first use, because each takes as long as running a delivery. */
class RunContext implements HandlerContext<unknown> {
  readonly #options: RunOptions;
  #log: Logger | undefined;
  #request: Request | undefined;
  #controller: AbortController | undefined;
  #abortReason: WebhookError | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get delivery(): Delivery<unknown> {
    return this.#options.delivery;
  }

  get log(): Logger {
    const { delivery, log, run } = this.#options;
    if (!this.#log) {
      const own = log.child({ endpoint: delivery.endpoint, deliveryId: delivery.id });
      this.#log = run ? run.wrap(own) : own;
    }
    return this.#log;
  }

  get hub(): HubClient {
    return this.#options.hub.client;
  }

  get request(): Request | undefined {
    const { request } = this.#options;
    if (request) this.#request ??= withoutSecret(request);
    return this.#request;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const { request, signal: given } = this.#options;
      const outer = request?.signal ?? given;
      if (this.#abortReason) controller.abort(this.#abortReason);
      else if (outer?.aborted) controller.abort(outer.reason);
      else outer?.addEventListener("abort", () => controller.abort(outer.reason), { once: true });
    }
    return this.#controller.signal;
  }

  abort(reason: WebhookError): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}

const contextKeys: readonly (string | symbol)[] = [
  "delivery",
  "signal",
  "log",
  "hub",
  "request",
] satisfies (keyof HandlerContext)[];

/**
 * Presents the getters of a context as own properties, so that `{ ...context }` copies them. Creating real own accessors
 * would take a microsecond per run, and the proxy only takes nanoseconds.
 */
const ownProperties: ProxyHandler<RunContext> = {
  // Passes no receiver, so that getters run on the context itself: a proxy does not have its private fields.
  get: (context, key) => Reflect.get(context, key),
  ownKeys: (context) => [...contextKeys, ...Reflect.ownKeys(context)],
  getOwnPropertyDescriptor: (context, key) =>
    contextKeys.includes(key)
      ? { value: Reflect.get(context, key), enumerable: true, configurable: true }
      : Reflect.getOwnPropertyDescriptor(context, key),
};

/** Creates a `Request` without the body, `X-Webhook-Secret`, and the query parameter `secret`, so that handlers can safely log it. */
function withoutSecret({ url, method, headers: given, signal }: NonNullable<RunSource["request"]>): Request {
  const headers = new Headers(given);
  headers.delete("x-webhook-secret");
  const redactedUrl = new URL(url);
  redactedUrl.searchParams.delete("secret");
  return new Request(redactedUrl, { method, headers, signal });
}

/**
 * Throw this error from a handler when a retry cannot succeed. A background endpoint then marks the delivery as dead
 * immediately.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new NonRetriableError("The model does not exist.");
 * ```
 */
export class NonRetriableError extends WebhookError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "NON_RETRIABLE", status: 500, ...options });
  }
}

/**
 * Throw this error from a handler to choose when a background endpoint retries the delivery. The attempt counts toward
 * `attempts`. If the date is invalid or beyond the endpoint's `retention`, the server logs `RETRY_TIME_INVALID` and uses the
 * endpoint's `backoff`.
 *
 * @throws `OPTION_INVALID` when `when` is not a duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
export class RetryAfterError extends WebhookError {
  /** The time of the retry. */
  readonly retryAt: Date;

  constructor(when: Duration | Date, { message, cause }: { message?: string; cause?: unknown } = {}) {
    super(message ?? "The handler requested a retry.", { code: "RETRY_LATER", status: 500, retryable: true, cause });
    this.retryAt = when instanceof Date ? when : new Date(Date.now() + toMilliseconds(when, "when"));
  }
}

/** Hub errors for which a retry cannot succeed. Missing (404) and conflicting (409) resources can change, so these are retried. */
const nonRetriableHubErrors: ReadonlySet<WebhookErrorCode> = new Set<WebhookErrorCode>([
  "ARGUMENT_INVALID",
  "HUB_TOKEN_MISSING",
  "HUB_TOKEN_INVALID",
  "HUB_REQUEST_INVALID",
  "HUB_UNAUTHORIZED",
  "HUB_FORBIDDEN",
  "FILE_TOO_LARGE",
  "FILE_INVALID",
]);

/** The Hub's own rate limits reset within minutes, but a proxy in front of the Hub can send any value. */
const maxRetryAfterSeconds = 3600;

/** Whether a retry cannot succeed after the error that a handler threw. */
export function isNonRetriable(thrown: unknown): boolean {
  if (HubError.isInstance(thrown)) return nonRetriableHubErrors.has(thrown.code);
  return WebhookError.isInstance(thrown) && thrown.code === "NON_RETRIABLE";
}

/** Returns the retry time that a thrown error requests: its `retryAt`, or the `Retry-After` of the Hub's response. */
export function retryTimeOf(thrown: unknown): Date | undefined {
  const retryAt = readField(thrown, "retryAt");
  if (isInstanceOf(retryAt, Date)) return retryAt;
  // Ignores `Retry-After: 0`: the Hub client has already retried immediately, so the endpoint's backoff applies.
  if (!HubError.isInstance(thrown) || !thrown.retryAfterSeconds) return undefined;
  return new Date(Date.now() + Math.min(thrown.retryAfterSeconds, maxRetryAfterSeconds) * 1000);
}

/**
 * Removes a requested retry time that is not a valid date or is beyond the endpoint's retention, so that a handler cannot
 * keep a delivery queued without a limit. The endpoint's backoff applies instead.
 */
export function dropInvalidRetryTime(
  outcome: Outcome,
  endpoint: Pick<Endpoint, "name" | "queue">,
  { claimed, isInterrupted, now }: Parameters<typeof nextStep>[1],
): Outcome {
  if (outcome.status !== "failed" || outcome.retryAt === undefined) return outcome;
  const { error, retryAt } = outcome;
  if (isInterrupted || claimed.isLastAttempt || !error.retryable) return outcome;
  const latest = now + (endpoint.queue?.retentionMs ?? Number.POSITIVE_INFINITY);
  const requested = retryAt.getTime();
  if (requested <= latest) return outcome;
  const problem = Number.isNaN(requested)
    ? "at an invalid date"
    : `at ${retryAt.toISOString()}, which is beyond the retention of the delivery (until ${new Date(latest).toISOString()})`;
  return {
    status: "failed",
    error: new WebhookError(
      `The handler of endpoint "${endpoint.name}" requested a retry ${problem}. The endpoint's backoff applies instead. Request an earlier time, or set a longer "retention".`,
      { code: "RETRY_TIME_INVALID", status: 500, retryable: true, cause: error.cause },
    ),
  };
}
