import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openLocalHub, secret } from "../support/hub.ts";
import { neverRespond, openTarget, openWebhook } from "../support/target.ts";

describe("A failed delivery", () => {
  test("is retried with the same id and body, and each attempt is logged", async () => {
    const { hub, target, id } = await openWebhook([500, 503, 200]);
    const [delivery] = await hub.trigger();
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId, delivery?.deliveryId]);
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1);
    const entries = await hub.entries(id);
    expect(entries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [3, 200],
      [2, 503],
      [1, 500],
    ]);
    expect(new Set(entries.map(({ deliveryId }) => deliveryId))).toEqual(new Set([delivery?.deliveryId]));
    expect(new Set(entries.map(({ logId }) => logId)).size).toBe(3);
    expect(await hub.get(id)).toMatchObject({ disabled: false });
  });

  test.each([
    [{}, 3],
    [{ attempts: 1 }, 1],
    [{ attempts: 2 }, 2],
    [{ attempts: 5 }, 5],
  ])("fails permanently after its last attempt: %j allows %d", async (options, attempts) => {
    const { hub, target, id } = await openWebhook([500], options);
    expect(await hub.trigger()).toMatchObject([{ status: 500 }]);
    const entries = await hub.entries(id);
    expect(entries.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: attempts }, (_, index) => attempts - index),
    );
    // Another attempt would arrive before the next event is delivered.
    target.answerWith(200);
    await hub.trigger();
    expect(target.requests).toHaveLength(attempts + 1);
  });

  test("waits twice as long before each later attempt", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    const { hub, target } = await openWebhook([500], { attempts: 4, backoff: 13, now: () => 0 });
    await hub.trigger();
    expect(target.requests).toHaveLength(4);
    const spans = timers.mock.calls.map(([, span]) => span);
    expect(spans.filter((span) => span !== undefined && span > 0 && span % 13 === 0 && span < 1_000)).toEqual([
      13, 26, 52,
    ]);
  });

  test("is retried with the current URL and secret of the webhook", async () => {
    const elsewhere = await openTarget();
    const hub = await openLocalHub();
    const target = await openTarget((_request, response) => {
      hub.update(id, { url: elsewhere.url, secret }).then(() => response.writeHead(500).end());
    });
    const { id } = await hub.create({ url: target.url, secret: "the one of before" });
    const [delivery] = await hub.trigger();
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe("the one of before");
    expect(elsewhere.requests[0]?.headers).toMatchObject({
      "x-webhook-secret": secret,
      "webhook-id": delivery?.deliveryId,
    });
    expect((await hub.entries(id)).map(({ url }) => url)).toEqual([elsewhere.url, target.url]);
  });

  test("is retried after a timeout", async () => {
    const { hub, target, id } = await openWebhook([neverRespond, 200], { timeout: 50 });
    const [delivery] = await hub.trigger();
    expect(delivery?.status).toBe(200);
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
    expect((await hub.entries(id))[1]).toMatchObject({ status: null, error: expect.stringContaining("0.05 s") });
  });

  test("does not block other deliveries", async () => {
    const failing = await openTarget(500);
    const target = await openTarget();
    const hub = await openLocalHub({ backoff: "1h" });
    const stuck = await hub.create({ url: failing.url });
    await hub.create({ url: target.url });
    for (let push = 0; push < 3; push += 1) await hub.trigger(undefined, { wait: false });
    await target.hasReceived(3);
    await failing.hasReceived(3);
    expect(await hub.get(stuck.id)).toMatchObject({ disabled: false });
  });
});

describe("The status of a response", () => {
  const successes = [200, 201, 202, 203, 204, 205, 206, 226, 299];
  const failures = [
    300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 408, 410, 413, 415, 418, 422, 429, 451, 500, 501, 502,
    503, 504, 599, 999,
  ];

  test("from 200 to 299 is a success and is not retried, and any other one is a failure and is retried", {
    tags: "slow",
  }, async () => {
    const { hub, target, id } = await openWebhook();
    for (const status of [...successes, ...failures]) {
      const success = { status, attempt: 1, error: null };
      const failure = { status, attempt: 1, error: expect.stringMatching(/200 to 299/) };
      const expected = status < 300 ? [success] : [{ status: 200, attempt: 2, error: null }, failure];
      const before = target.requests.length;
      target.answerWith(status, 200);
      expect(await hub.trigger(), `${status}`).toMatchObject([{ status: status < 300 ? status : 200 }]);
      expect((await hub.entries(id)).slice(0, expected.length)).toMatchObject(expected);
      expect(target.requests).toHaveLength(before + expected.length);
    }
  });
});

test.each([
  {
    what: "closes the connection without a response",
    answer: (_request: unknown, response: ServerResponse) => void response.destroy(),
    reason: /hang up|ECONNRESET/,
  },
  {
    what: "responds with bytes that are not HTTP",
    answer: (request: IncomingMessage) => void request.socket.end("hello, this is a mail server\r\n\r\n"),
    reason: /Parse Error/,
  },
  {
    what: "closes the connection in the middle of its response",
    answer: (request: IncomingMessage) => void request.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    reason: /ended early/,
  },
  {
    what: "responds with an endless header",
    answer: (request: IncomingMessage) =>
      void request.socket.write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(200_000)}\r\n\r\n`),
    reason: /Overflow|hang up|ECONNRESET/i,
  },
])("An attempt fails if the receiver $what, and the next one succeeds", async ({ answer, reason }) => {
  const { hub, id } = await openWebhook([answer, 200], { timeout: 500 });
  expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
  const [last, first] = await hub.entries(id);
  expect(last).toMatchObject({ status: 200, attempt: 2 });
  expect(first).toMatchObject({ status: null, response: null, attempt: 1, error: expect.stringMatching(reason) });
});

test.each([
  ["an unused port", (_url: string) => "http://127.0.0.1:1/hook", /ECONNREFUSED/],
  ["TLS, which the receiver does not support", (url: string) => url.replace("http:", "https:"), /SSL|TLS/i],
  ["an unknown host name", (_url: string) => "http://nobody.invalid/hook", /nobody\.invalid|within 5 s/],
])("Deliveries to a URL with %s fail with a reason", async (_what, change, reason) => {
  const target = await openTarget();
  const hub = await openLocalHub({ attempts: 2, timeout: "5s" });
  const { id } = await hub.create({ url: change(target.url) });
  expect(await hub.trigger()).toMatchObject([{ status: null }]);
  const failed = { status: null, response: null, error: expect.stringMatching(reason) };
  expect(await hub.entries(id)).toMatchObject([2, 1].map((attempt) => ({ ...failed, attempt })));
});

describe("The logged response", () => {
  test("contains its headers, including repeated ones", async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(200, { "set-cookie": ["a=1", "b=2"], "x-empty": "" }).end("größer");
    });
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: target.url });
    await hub.trigger();
    expect((await hub.entries(id))[0]?.response).toMatchObject({
      headers: { "set-cookie": "a=1, b=2", "x-empty": "" },
      body: "größer",
      truncated: false,
    });
  });

  test("is stored as text even if its bytes are not valid UTF-8", async () => {
    const { hub, id } = await openWebhook([(_request, response) => void response.end(Buffer.from([0xff, 0x00, 0x41]))]);
    await hub.trigger();
    expect((await hub.entries(id))[0]?.response?.body).toBe("\ufffd\u0000A");
  });
});
