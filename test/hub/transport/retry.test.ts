import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { wait } from "../../../src/hub/transport/failures.ts";
import type { HubWebhooks } from "../../../src/hub/webhooks/webhooks.ts";
import { watchTimers } from "../../support/timers.ts";
import {
  closedAddress,
  connect,
  openHub,
  rejectionOf,
  type ScriptedAnswer,
  urlWebhook,
  webhookCalls,
} from "../scripted-hub.ts";

const { id } = urlWebhook;
const now = Date.UTC(2026, 0, 31, 12);
const reset: ScriptedAnswer = (request) => request.socket.resetAndDestroy();
const halfAnAnswer: ScriptedAnswer = (_request, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("[", () => response.destroy());
};

const onceOnly = (["create", "replay"] as const).map((name) => [name, webhookCalls[name]] as const);
/** All other methods. An update sends two requests. */
const repeatable = Object.entries(webhookCalls).filter(([name]) => !["create", "replay", "update"].includes(name));

/** Returns the given failures, and then a valid response for each call. */
function thenSuccess(...refusals: readonly ScriptedAnswer[]): ScriptedAnswer[] {
  const success: ScriptedAnswer = (request, response) => {
    const isList = request.method === "GET" && request.url?.endsWith("/webhooks");
    response.end(JSON.stringify(isList ? [] : { webhook: urlWebhook, status: 200 }));
  };
  return [...refusals, success];
}

describe("An idempotent call is retried", () => {
  const refusals: readonly [string, ScriptedAnswer][] = [
    ...[429, 500, 502, 504].map((status): [string, ScriptedAnswer] => [`a ${status}`, { status }]),
    ["a reset", reset],
    ["an incomplete response", halfAnAnswer],
  ];
  test.each([
    ...repeatable.map(([name, call]) => [name, "a 503", call, { status: 503 }] as const),
    ...refusals.map(([what, answer]) => ["list", what, (webhooks: HubWebhooks) => webhooks.list(), answer] as const),
  ])("%s, after %s", async (_name, _what, call, answer) => {
    const hub = await openHub(...thenSuccess(answer, answer));
    const { webhooks, waits } = connect(hub.url);
    await call(webhooks);
    expect(hub.calls).toHaveLength(3);
    expect(new Set(hub.calls).size).toBe(1);
    expect(waits).toEqual([500, 1_000]);
  });

  test("with the same body, if it writes an update", async () => {
    const hub = await openHub({ json: { webhook: urlWebhook } }, { status: 503 }, { json: { webhook: urlWebhook } });
    await connect(hub.url).webhooks.update(id, { domains: ["repo"] });
    const [, first, second] = hub.requests;
    expect([first?.method, second?.method]).toEqual(["POST", "POST"]);
    expect(second?.body).toBe(first?.body);
    expect(second?.body).toContain('"domains":["repo"]');
  });
});

describe("A call is not retried", () => {
  test.each([400, 401, 403, 404, 409, 422, 302])("after a %i", async (status) => {
    const hub = await openHub({ status });
    const { webhooks, waits } = connect(hub.url);
    expect(await rejectionOf(webhooks.list())).toMatchObject({ status, retryable: false });
    expect([hub.calls.length, waits]).toEqual([1, []]);
  });

  test("more than the given number of attempts, and throws the last error", async () => {
    const hub = await openHub({ status: 500 }, { status: 502 }, { status: 503, json: { error: "still down" } });
    const { webhooks, waits } = connect(hub.url, { attempts: 3 });
    expect(await rejectionOf(webhooks.list())).toMatchObject({ code: "HUB_FAILED", status: 503, retryable: true });
    expect([hub.calls.length, waits]).toEqual([3, [500, 1_000]]);
  });

  const halfWay: readonly [string, ScriptedAnswer][] = [
    ...[500, 502, 503, 504].map((status): [string, ScriptedAnswer] => [`a ${status}`, { status }]),
    ["a reset", reset],
    ["an incomplete response", halfAnAnswer],
    ["silence", () => {}],
  ];
  test.each(onceOnly.flatMap(([name, call]) => halfWay.map(([what, answer]) => [name, what, call, answer] as const)))(
    "that the Hub may have processed: %s after %s, and the error advises to check first",
    async (_name, what, call, answer) => {
      const hub = await openHub(answer);
      const error = await rejectionOf(
        call(connect(hub.url, { timeoutMs: what === "silence" ? 200 : 10_000 }).webhooks),
      );
      expect(hub.calls).toHaveLength(1);
      expect(error).toMatchObject({ retryable: true, message: expect.stringContaining("check before you try again") });
    },
  );
});

describe("Create and replay are retried only if the Hub cannot have processed them", () => {
  test.each(onceOnly)("%s, after a 429", async (_name, call) => {
    const hub = await openHub(...thenSuccess({ status: 429 }));
    await call(connect(hub.url).webhooks);
    expect(hub.calls).toHaveLength(2);
  });

  test.each(onceOnly)("%s, if nothing listens on the port", async (_name, call) => {
    const { webhooks, waits } = connect(await closedAddress());
    expect(await rejectionOf(call(webhooks))).toMatchObject({
      code: "HUB_UNREACHABLE",
      message: expect.not.stringContaining("check before"),
    });
    expect(waits).toHaveLength(3);
  });

  test.each([
    ["ENOTFOUND", { code: "ENOTFOUND", syscall: "getaddrinfo" }],
    ["EAI_AGAIN", { code: "EAI_AGAIN", syscall: "getaddrinfo" }],
    ["UND_ERR_CONNECT_TIMEOUT", { code: "UND_ERR_CONNECT_TIMEOUT" }],
    ["ETIMEDOUT while connecting", { code: "ETIMEDOUT", syscall: "connect" }],
  ])("after %s", async (_name, cause) => {
    const { webhooks, waits } = connect("http://hub.example", {
      fetch: failingFetch(Object.assign(new Error(), cause)),
    });
    await rejectionOf(webhooks.replay(id, "log-1"));
    expect(waits).toHaveLength(3);
  });

  test("but not if one of several addresses was connected", async () => {
    const refused = Object.assign(new Error(), { code: "ECONNREFUSED" });
    const lost = Object.assign(new Error(), { code: "ECONNRESET", syscall: "read" });
    const both = connect("http://hub.example", { fetch: failingFetch(new AggregateError([refused, lost])) });
    await rejectionOf(both.webhooks.replay(id, "log-1"));
    expect(both.waits).toEqual([]);
    const neither = connect("http://hub.example", { fetch: failingFetch(new AggregateError([refused, refused])) });
    await rejectionOf(neither.webhooks.replay(id, "log-1"));
    expect(neither.waits).toHaveLength(3);
  });

  function failingFetch(cause: Error): typeof fetch {
    return async () => {
      throw new TypeError("fetch failed", { cause });
    };
  }
});

describe("A delete", () => {
  test("succeeds for a 404 if the Hub may have processed an earlier attempt, and otherwise fails", async () => {
    const earlier: readonly { answer: ScriptedAnswer; isProcessed: boolean }[] = [
      { answer: { status: 503 }, isProcessed: true },
      { answer: reset, isProcessed: true },
      { answer: halfAnAnswer, isProcessed: true },
      { answer: { status: 429 }, isProcessed: false },
    ];
    const pairs = earlier.flatMap((first) => earlier.map((second) => [first, second]));
    for (const attempts of [[], ...earlier.map((only) => [only]), ...pairs]) {
      const hub = await openHub(...attempts.map(({ answer }) => answer), { status: 404, json: { error: "not found" } });
      const deleting = connect(hub.url).webhooks.delete(id);
      if (attempts.some(({ isProcessed }) => isProcessed)) expect(await deleting).toBeUndefined();
      else expect(await rejectionOf(deleting)).toMatchObject({ code: "HUB_NOT_FOUND" });
      expect(hub.calls).toHaveLength(attempts.length + 1);
    }
  });

  test("is the only call that succeeds if its retry gets a 404", async () => {
    const hub = await openHub({ status: 503 }, { status: 404 });
    expect(await rejectionOf(connect(hub.url).webhooks.disable(id))).toMatchObject({ code: "HUB_NOT_FOUND" });
  });
});

describe("The wait before a retry", () => {
  async function waitsFor(headers: Record<string, string>, status = 429, random = 0): Promise<readonly number[]> {
    const hub = await openHub(...thenSuccess({ status, headers }));
    const { webhooks, waits } = connect(hub.url, { random: () => random, now: () => now });
    await webhooks.list();
    return waits;
  }

  test.each([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a date", { "retry-after": "Sat, 31 Jan 2026 12:00:09 GMT" }, 9_000],
    ["a date of the past", { "retry-after": "Sat, 31 Jan 2026 11:00:00 GMT" }, 0],
    ["an exhausted rate limit", { ratelimit: '"api";r=0;t=55' }, 55_000],
    ["an exhausted rate limit, in another order", { ratelimit: '"api"; t=12; r=0' }, 12_000],
    ["the longer of two waits, the first", { ratelimit: '"api";r=0;t=5', "retry-after": "8" }, 8_000],
    ["the longer of two waits, the second", { ratelimit: '"api";r=0;t=8', "retry-after": "5" }, 8_000],
    ["the exhausted one of several rate limits", { ratelimit: '"pages";r=9;t=300, "api";r=0;t=20' }, 20_000],
    ["one minute", { "retry-after": "60" }, 60_000],
    ["0 ms for a rate limit that is not exhausted", { ratelimit: '"api";r=10;t=55' }, 0],
    ["0 ms for text that is not a number", { "retry-after": "soon" }, 0],
    ["0 ms for a negative number", { "retry-after": "-5" }, 0],
    ["0 ms for an empty header", { "retry-after": "", ratelimit: "" }, 0],
  ])("follows the headers of the Hub: %s", async (_what, headers, milliseconds) => {
    expect(await waitsFor(headers)).toEqual([milliseconds]);
  });

  test("follows Retry-After of a 503", async () => {
    expect(await waitsFor({ "retry-after": "3" }, 503)).toEqual([3_000]);
  });

  test("is never shorter than the client's own backoff", async () => {
    expect(await waitsFor({ "retry-after": "0" }, 429, 0.5)).toEqual([250]);
  });

  test("is a random part of a time that doubles with each attempt, up to 20 s", async () => {
    const hub = await openHub({ status: 500 });
    const randoms = [0.5, 0, 1, 0.25, 1, 1, 1, 1];
    const { webhooks, waits } = connect(hub.url, { attempts: 9, random: () => randoms.shift() ?? 1 });
    await rejectionOf(webhooks.list());
    expect(waits).toEqual([250, 0, 2_000, 1_000, 8_000, 16_000, 20_000, 20_000]);
  });

  test.each([
    [429, { "retry-after": "61" }, 61],
    [429, { ratelimit: '"api";r=0;t=300' }, 300],
    [503, { "retry-after": "Sat, 31 Jan 2026 13:00:00 GMT" }, 3_600],
  ])("is skipped, and the call fails, if it is longer than a minute: %i %j", async (status, headers, seconds) => {
    const hub = await openHub({ status, headers });
    const { webhooks, waits } = connect(hub.url, { now: () => now });
    expect(await rejectionOf(webhooks.list())).toMatchObject({ status, retryable: true, retryAfterSeconds: seconds });
    expect([hub.calls.length, waits]).toEqual([1, []]);
  });

  test("is in the error after the last attempt", async () => {
    const hub = await openHub({ status: 429, headers: { "retry-after": "7" } });
    const error = await rejectionOf(connect(hub.url).webhooks.list());
    expect(error).toMatchObject({ code: "HUB_RATE_LIMITED", retryAfterSeconds: 7 });
    expect(hub.calls).toHaveLength(4);
  });

  test("removes its timer and its listener in all cases", async () => {
    const timers = watchTimers();
    const { signal } = new AbortController();
    await wait(1, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    const controller = new AbortController();
    const rejection = rejectionOf(wait(54_321, controller.signal));
    controller.abort("enough");
    expect(await rejection).toBe("enough");
    expect(timers.of(54_321)).toMatchObject([{ cleared: 1 }]);
  });
});
