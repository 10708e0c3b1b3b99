import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { HubError, WebhookError, type WebhookErrorCode } from "../../../src/core/errors.ts";
import { type Delivery, type HandlerContext, WebhooksServer } from "../../../src/index.ts";
import { createEndpoint, type EndpointOptions, type Handler } from "../../../src/receiver/endpoint.ts";
import { dropInvalidRetryTime, runHandler } from "../../../src/receiver/handler.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { hostileValues } from "../../support/hostile-values.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { shortenProbes } from "../../support/timers.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const delivery: Delivery<unknown> = {
  id: "d-1",
  endpoint: "retrain",
  body: "{}",
  payload: {},
  receivedAt: new Date(0),
  attempt: 1,
  origin: "webhook",
};

const hub = { client: new HubClient({ token: "hf_local" }) };

/** Runs a handler without a server. */
function run(handler: Handler<unknown>, options: EndpointOptions = {}, request?: Request) {
  const log = createMemoryLogger();
  const endpoint = createEndpoint({ name: "retrain", options, handler });
  return { log, outcome: runHandler({ endpoint, delivery, log, hub, request }) };
}

/** The key that makes an object thenable. It is a constant, so that no object in this file is thenable by accident. */
const then = "then";

const failed = (cause: unknown) => ({
  status: "failed",
  error: expect.objectContaining({ code: "HANDLER_FAILED", status: 500, retryable: true, cause }),
});

describe("A synchronous handler", () => {
  test.each([
    ["returns", "done"],
    ["returns an object whose `then` is not a function", { [then]: "tomorrow" }],
  ])("that %s has its outcome immediately", (_what, result) => {
    expect(run(() => result).outcome).toEqual({ status: "succeeded", result });
  });

  test.each([
    ["an error", new Error("no GPU is free")],
    ["a string", "no GPU is free"],
    ["null", null],
    ["a number", 0],
    ["undefined", undefined],
    ...Object.entries(hostileValues()),
  ])("fails if it throws %s, which becomes the cause, also as a promise", async (_what, thrown) => {
    const { outcome } = run(() => {
      throw thrown;
    });
    for (const ended of [outcome, await run(() => Promise.reject(thrown), { timeout: "1h" }).outcome]) {
      expect(ended).toMatchObject({
        status: "failed",
        error: { code: "HANDLER_FAILED", status: 500, retryable: true },
      });
      expect("error" in ended && ended.error.cause === thrown).toBe(true);
    }
  });
});

describe("An asynchronous handler", () => {
  const fail = () => {
    throw new Error("no connection");
  };
  const ok = (result: unknown) => ({ status: "succeeded", result });
  const uninspectable = Object.defineProperty({}, Symbol.toStringTag, { get: fail });

  test.each<[string, () => unknown, unknown]>([
    ["a promise", async () => "done", ok("done")],
    ["a query, as query builders do", () => ({ [then]: (resolve: (rows: number[]) => void) => resolve([1]) }), ok([1])],
    [
      "a query that fails",
      () => ({ [then]: (_: unknown, reject: (error: string) => void) => reject("no") }),
      failed("no"),
    ],
    ["a query whose `then` throws", () => ({ [then]: fail }), failed(new Error("no connection"))],
    [
      "a query that cannot even be read",
      () => Object.defineProperty({}, then, { get: fail }),
      failed(new Error("no connection")),
    ],
    ["a result that cannot be inspected", async () => uninspectable, ok(uninspectable)],
  ])("that returns %s ends with it, and is not logged", async (_what, handler, outcome) => {
    const { outcome: running, log } = run(handler, { timeout: "1h" });
    expect(await running).toEqual(outcome);
    expect(log.lines).toEqual([]);
  });

  test("leaves no timer if it ends before its timeout", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await run(async () => "done").outcome;
    await run(() => Promise.reject(new Error("failed"))).outcome;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describeOverBothTransports("A handler that keeps its promise pending", (send) => {
  test("is abandoned at its timeout, with 504 and an aborted signal", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const aborted = Promise.withResolvers<unknown>();
    server.webhook("slow", { timeout: 10 }, (_payload, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve(signal.reason));
      return new Promise(() => {});
    });
    const response = await send(server, deliveryRequest({ endpoint: "slow", payload: webhookPayload("repo") }));
    expect([response.status, await response.json()]).toEqual([
      504,
      {
        error: 'The handler of endpoint "slow" did not finish within its timeout of 10 ms.',
        code: "HANDLER_TIMED_OUT",
      },
    ]);
    expect(await aborted.promise).toMatchObject({ code: "HANDLER_TIMED_OUT" });
  });
});

describe("The timeout of a handler", () => {
  async function outcomeAfter(milliseconds: number, options: EndpointOptions) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let outcome: unknown = "pending";
    const { outcome: running } = run(() => new Promise(() => {}), options);
    void Promise.resolve(running).then((ended) => {
      outcome = ended;
    });
    await vi.advanceTimersByTimeAsync(milliseconds);
    return outcome;
  }

  test("is 25 seconds, five less than the Hub waits", async () => {
    expect(await outcomeAfter(24_999, {})).toBe("pending");
    expect(await outcomeAfter(25_000, {})).toMatchObject({ error: { code: "HANDLER_TIMED_OUT", retryable: true } });
  });

  test("can be set with an option", async () => {
    expect(await outcomeAfter(1_499, { timeout: "1.5s" })).toBe("pending");
    expect(await outcomeAfter(1_500, { timeout: "1.5s" })).toMatchObject({ status: "failed" });
  });

  test("is final: a later success is ignored, and a later failure is logged", async () => {
    const success = Promise.withResolvers<string>();
    const ignored = run(() => success.promise, { timeout: 1 });
    expect(await ignored.outcome).toMatchObject({ status: "failed", error: { code: "HANDLER_TIMED_OUT" } });
    success.resolve("late");
    const work = Promise.withResolvers<string>();
    const { outcome, log } = run(() => work.promise, { timeout: 1 });
    expect(await outcome).toMatchObject({ status: "failed", error: { code: "HANDLER_TIMED_OUT" } });
    const late = new Error("too late");
    work.reject(late);
    await setImmediate();
    expect(log.lines).toEqual([
      {
        level: "error",
        msg: "The handler failed after its timeout. The delivery had already failed.",
        endpoint: "retrain",
        deliveryId: "d-1",
        err: late,
      },
    ]);
    expect(ignored.log.lines).toEqual([]);
  });

  test("ends with the handler: its signal is not aborted later, and no timer is left", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const work = Promise.withResolvers<string>();
    let signal: AbortSignal | undefined;
    const { outcome } = run((_payload, context) => {
      signal = context.signal;
      return work.promise;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(1);
    work.resolve("done");
    expect(await outcome).toEqual({ status: "succeeded", result: "done" });
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signal?.aborted).toBe(false);
  });
});

describe("The signal of a handler", () => {
  test("is created on first access, and is always the same", async () => {
    const made = vi.spyOn(globalThis, "AbortController");
    try {
      await run(async () => {}).outcome;
      expect(made).not.toHaveBeenCalled();
      const { outcome } = run((_payload, context) => new Set([context.signal, context.signal]).size);
      expect(outcome).toEqual({ status: "succeeded", result: 1 });
      expect(made).toHaveBeenCalledOnce();
    } finally {
      made.mockRestore();
    }
  });

  test("is not aborted while there is time", () => {
    expect(run((_payload, { signal }) => signal.aborted).outcome).toEqual({ status: "succeeded", result: false });
  });

  test("is already aborted if it is first read after the timeout", async () => {
    let late: HandlerContext<unknown> | undefined;
    const { outcome } = run(
      (_payload, context) => {
        late = context;
        return new Promise(() => {});
      },
      { timeout: 1 },
    );
    await outcome;
    expect(late?.signal.aborted).toBe(true);
    expect(late?.signal.reason).toMatchObject({ code: "HANDLER_TIMED_OUT" });
  });

  test.each([
    ["before it is asked for", true],
    ["while the handler works", false],
  ])("is aborted when the request is, %s", async (_when, early) => {
    const sender = new AbortController();
    const request = new Request("http://localhost/", { signal: sender.signal });
    if (early) sender.abort(new Error("hung up"));
    const { outcome } = run(
      async (_payload, { signal }) => {
        sender.abort(new Error("hung up"));
        return [signal.aborted, String(signal.reason)];
      },
      {},
      request,
    );
    expect(await outcome).toEqual({ status: "succeeded", result: [true, "Error: hung up"] });
  });

  test("is aborted when the sender hangs up, over a socket", async () => {
    shortenProbes();
    await using server = new WebhooksServer({ logger: createMemoryLogger() });
    const began = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<boolean>();
    server.webhook("slow", async (_payload, { signal }) => {
      signal.addEventListener("abort", () => hungUp.resolve(signal.aborted));
      began.resolve();
      await hungUp.promise;
    });
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const sender = new AbortController();
    const request = deliveryRequest({ endpoint: "slow", payload: webhookPayload("repo"), baseUrl: url });
    const answer = fetch(request, { signal: sender.signal });
    await began.promise;
    sender.abort();
    await expect(answer).rejects.toThrow();
    expect(await hungUp.promise).toBe(true);
  });
});

describe("The log of a handler", () => {
  test("has the endpoint and the delivery's ID on each line", async () => {
    const { outcome, log } = run((_payload, context) => {
      context.log.info({ step: 1 }, "training");
      context.log.child({ part: "a" }).warn("slow");
    });
    await outcome;
    expect(log.lines).toEqual([
      { level: "info", msg: "training", endpoint: "retrain", deliveryId: "d-1", step: 1 },
      { level: "warn", msg: "slow", endpoint: "retrain", deliveryId: "d-1", part: "a" },
    ]);
  });

  test("is created once, on first access", async () => {
    const log = createMemoryLogger();
    const child = vi.spyOn(log, "child");
    const process = (handler: Handler<unknown>) =>
      runHandler({ endpoint: createEndpoint({ name: "retrain", options: {}, handler }), delivery, log, hub });
    process(() => {});
    expect(child).not.toHaveBeenCalled();
    process((_payload, context) => [context.log, context.log]);
    expect(child).toHaveBeenCalledOnce();
  });
});

describe("A handler's context", () => {
  test("contains the delivery, the Hub client, and no request if the delivery did not arrive over HTTP", () => {
    const { outcome } = run((_payload, context) => {
      // It cannot be written to.
      expect(() => Reflect.set(context, "log", undefined)).not.toThrow();
      return [context.delivery === delivery, context.hub === hub.client, context.request, typeof context.log.info];
    });
    expect(outcome).toEqual({ status: "succeeded", result: [true, true, undefined, "function"] });
  });

  test("contains a request whose signal is aborted when the client disconnects", () => {
    const client = new AbortController();
    const { outcome } = run(
      (_payload, { request }) => {
        const before = request?.signal.aborted;
        client.abort();
        return [before, request?.signal.aborted];
      },
      {},
      new Request("http://localhost/", { signal: client.signal }),
    );
    expect(outcome).toEqual({ status: "succeeded", result: [false, true] });
  });

  test.each<[string, (context: HandlerContext<unknown>) => HandlerContext<unknown>]>([
    ["passed on", (context) => context],
    ["spread", (context) => ({ ...context })],
    ["assigned", (context) => Object.assign({}, context)],
    ["destructured", ({ delivery, signal, ...rest }) => ({ delivery, signal, ...rest })],
  ])("survives being %s", async (_how, copy) => {
    const request = new Request("http://localhost/", { headers: { "x-webhook-secret": "s3cret", "x-kept": "kept" } });
    const { outcome, log } = run(
      async (_payload, given) => {
        const context = copy(given);
        context.log.info("copied");
        const headers = Object.fromEntries(context.request?.headers ?? []);
        const aborted = new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        await aborted;
        seen.push(Object.keys(context), context.delivery === delivery, context.signal === given.signal, headers);
      },
      { timeout: 20 },
      request,
    );
    const seen: unknown[] = [];
    expect(await outcome).toMatchObject({ status: "failed", error: { code: "HANDLER_TIMED_OUT" } });
    expect(seen).toEqual([["delivery", "signal", "log", "hub", "request"], true, true, { "x-kept": "kept" }]);
    expect(log.lines).toEqual([{ level: "info", msg: "copied", endpoint: "retrain", deliveryId: "d-1" }]);
  });
});

describe("A HubError that a handler throws", () => {
  async function outcomeOf(code: WebhookErrorCode, options: { retryAfterSeconds?: number } = {}) {
    const { outcome } = run(() => Promise.reject(new HubError("The Hub says no.", { code, ...options })));
    return outcome;
  }

  test.each<[boolean, WebhookErrorCode[]]>([
    [false, ["ARGUMENT_INVALID", "HUB_TOKEN_MISSING", "HUB_TOKEN_INVALID", "HUB_REQUEST_INVALID"]],
    [false, ["HUB_UNAUTHORIZED", "HUB_FORBIDDEN"]],
    [true, ["HUB_NOT_FOUND", "HUB_REFUSED", "HUB_RATE_LIMITED", "HUB_FAILED", "HUB_UNREACHABLE"]],
  ])("is retried (%s) with the codes %j", async (retryable, codes) => {
    for (const code of codes) {
      expect([code, await outcomeOf(code)]).toMatchObject([code, { status: "failed", error: { retryable } }]);
    }
  });

  test.each([
    [90, 90],
    [86_400, 3_600],
  ])("with a retry delay of %i seconds is retried after %i", async (asked, got) => {
    const before = Date.now();
    const outcome = await outcomeOf("HUB_RATE_LIMITED", { retryAfterSeconds: asked });
    const retryAt = outcome.status === "failed" ? (outcome.retryAt?.getTime() ?? 0) : 0;
    expect(retryAt - before).toBeGreaterThanOrEqual(got * 1_000);
    expect(retryAt).toBeLessThanOrEqual(Date.now() + got * 1_000);
  });

  test.each([undefined, 0])(
    "without a retry delay (%j) is retried with the endpoint's backoff",
    async (retryAfterSeconds) => {
      const asked = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
      expect(await outcomeOf("HUB_RATE_LIMITED", asked)).not.toHaveProperty("retryAt");
    },
  );
});

describe("An invalid retry time", () => {
  const endpoint = { name: "retrain", queue: undefined };
  const claimed = { isLastAttempt: false, retryDelayMs: 0 };
  const attempt = { claimed, isInterrupted: false, now: 0 };
  const failure = { code: "HANDLER_FAILED", status: 500, retryable: true } as const;
  const outcomeOf = (options: { retryable: boolean }) => {
    const error = new WebhookError("The handler failed.", { ...failure, ...options });
    return { status: "failed", error, retryAt: new Date(Number.NaN) } as const;
  };

  test("is reported", () => {
    const outcome = dropInvalidRetryTime(outcomeOf({ retryable: true }), endpoint, attempt);
    expect(outcome).toMatchObject({ status: "failed", error: { code: "RETRY_TIME_INVALID" } });
    expect(outcome).not.toHaveProperty("retryAt");
  });

  test.each([
    ["the last attempt", { claimed: { ...claimed, isLastAttempt: true } }, { retryable: true }],
    ["an interrupted attempt", { isInterrupted: true }, { retryable: true }],
    ["an error that is not retried", {}, { retryable: false }],
  ])("does not hide the failure of %s", (_what, change, options) => {
    const outcome = outcomeOf(options);
    expect(dropInvalidRetryTime(outcome, endpoint, { ...attempt, ...change })).toBe(outcome);
  });
});
