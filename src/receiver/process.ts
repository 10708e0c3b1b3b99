import { WebhookError } from "../core/errors.ts";
import { hopByHopHeaders } from "../core/http-headers.ts";
import type { Logger } from "../core/logger.ts";
import type { Delivery, Outcome } from "../payload/delivery.ts";
import { isResponse } from "./answer.ts";
import { concatenate } from "./body.ts";
import type { DeliveryRequest } from "./delivery-request.ts";
import type { Endpoint, HandlerContext } from "./endpoint.ts";
import { isNonRetriable, retryTimeOf } from "./handler-errors.ts";

/** What a handler may see of the request. */
type HandlersRequest = Pick<DeliveryRequest, "url" | "method" | "headers" | "signal">;

/** What the run of a handler needs. */
export interface ProcessOptions {
  endpoint: Endpoint;
  delivery: Delivery<unknown>;
  log: Logger;
  /** The HTTP request that brought the delivery: its end aborts the handler's signal. */
  request?: HandlersRequest | undefined;
  /** Aborts the handler's signal as well. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs an endpoint's handler on a delivery, within its time limit. The one way to run a handler, wherever the delivery
 * came from. Never throws and never rejects. The outcome of a handler that is not asynchronous is there at once.
 */
export function processDelivery(options: ProcessOptions): Outcome | Promise<Outcome> {
  const { endpoint, delivery } = options;
  const run = new Run(options);
  let pending: Promise<unknown>;
  try {
    const result = endpoint.handler(delivery.payload, new Proxy(run, ownProperties));
    if (!isThenable(result) && !isResponse(result)) return { status: "succeeded", result };
    pending = Promise.resolve(result);
  } catch (error) {
    return handlerFailed(endpoint, error);
  }
  // A settle-once promise: racing two promises for the time limit costs several times as much.
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
      if (timedOut) run.log.error({ err: error }, "The handler failed after its time limit, when 504 was answered.");
      end(handlerFailed(endpoint, error));
    };
    const succeed = (result: unknown) => end({ status: "succeeded", result });
    pending.then((value) => {
      if (!isResponse(value)) return succeed(value);
      readWhole(value, (opened) => {
        reader = opened;
      }).then(succeed, fail);
    }, fail);
    // One that has nothing to wait for is done by then, and a timer costs as much as all of its run.
    queueMicrotask(() => {
      if (isSettled) return;
      timer = setTimeout(() => {
        timedOut = true;
        const error = handlerTimedOut(endpoint);
        run.abort(error);
        void reader?.cancel(error).catch(() => {});
        settle({ status: "failed", error });
      }, endpoint.timeoutMs);
    });
  });
}

/** Reads a result to its end: a body that fails on its way out could no longer be told from a success. */
async function readWhole(
  response: Response,
  onReader: (reader: ReadableStreamDefaultReader<Uint8Array>) => void,
): Promise<Response> {
  const { status, statusText } = response;
  if (status === 0) throw new TypeError("The handler returned Response.error(), which no client can be sent.");
  const headers = new Headers(response.headers);
  // Copied from another server's answer they are false here: the framing follows from the bytes that are sent.
  for (const name of hopByHopHeaders(headers.get("connection"))) headers.delete(name);
  headers.delete("content-length");
  // `fetch` has decoded the body of its response, which has a URL, and leaves the header.
  if (response.url !== "") headers.delete("content-encoding");
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const reader = response.body.getReader();
  onReader(reader);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Response(concatenate(chunks), { status, statusText, headers });
    chunks.push(value);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** What was thrown stays in `cause`, for the log: it was written for the developer and is never sent out. */
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
    `The handler of endpoint "${endpoint.name}" did not finish within its time limit of ${endpoint.timeoutMs} ms.`,
    { code: "HANDLER_TIMED_OUT", status: 504, retryable: true },
  );
}

/** What a handler may ask its context for. */
interface Made {
  log?: Logger;
  request?: Request;
  controller?: AbortController;
  abortReason?: WebhookError;
}

/** The context of one run. A signal, a child logger, a request are dear next to a delivery: made when asked for. */
class Run implements HandlerContext<unknown> {
  readonly #options: ProcessOptions;
  readonly #made: Made = {};

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  get delivery(): Delivery<unknown> {
    return this.#options.delivery;
  }

  get log(): Logger {
    const { delivery, log } = this.#options;
    this.#made.log ??= log.child({ endpoint: delivery.endpoint, deliveryId: delivery.id });
    return this.#made.log;
  }

  get request(): Request | undefined {
    const { request } = this.#options;
    if (request) this.#made.request ??= withoutSecret(request);
    return this.#made.request;
  }

  get signal(): AbortSignal {
    if (!this.#made.controller) {
      const controller = new AbortController();
      this.#made.controller = controller;
      const hungUp = this.#options.request?.signal ?? this.#options.signal;
      if (this.#made.abortReason) controller.abort(this.#made.abortReason);
      else if (hungUp?.aborted) controller.abort(hungUp.reason);
      else hungUp?.addEventListener("abort", () => controller.abort(hungUp.reason), { once: true });
    }
    return this.#made.controller.signal;
  }

  abort(reason: WebhookError): void {
    this.#made.abortReason = reason;
    this.#made.controller?.abort(reason);
  }
}

const contextKeys: readonly (string | symbol)[] = [
  "delivery",
  "signal",
  "log",
  "request",
] satisfies (keyof HandlerContext)[];

/**
 * Shows the getters of a run as its own properties, so that a context survives `{ ...context }`. Own accessors would
 * cost a microsecond for each run, and values would have to be made before they are asked for; this costs nanoseconds.
 */
const ownProperties: ProxyHandler<Run> = {
  // On the run itself: a proxy has no private fields.
  get: (run, key) => Reflect.get(run, key),
  ownKeys: (run) => [...contextKeys, ...Reflect.ownKeys(run)],
  getOwnPropertyDescriptor: (run, key) =>
    contextKeys.includes(key)
      ? { value: Reflect.get(run, key), enumerable: true, configurable: true }
      : Reflect.getOwnPropertyDescriptor(run, key),
};

/** The request as a handler may log it or send it back: what proved that it came from the Hub is taken out. */
function withoutSecret({ url, method, headers: given, signal }: HandlersRequest): Request {
  const headers = new Headers(given);
  headers.delete("x-webhook-secret");
  const shown = new URL(url);
  shown.searchParams.delete("secret");
  return new Request(shown, { method, headers, signal });
}
