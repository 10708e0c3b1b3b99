import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isLoopbackAddress } from "../../../src/core/urls.ts";
import { type HttpResult, HttpSender, type Lookup, loopbackOnly } from "../../../src/local-hub/delivery/http-sender.ts";
import { listen } from "../../support/listen.ts";
import { holdsSecret } from "../../support/secrets.ts";
import { openLocalHub, pushed, secret } from "../support/hub.ts";
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
    using timers = vi.spyOn(globalThis, "setTimeout");
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
    const headers = { "set-cookie": ["a=1", "b=2"], "x-empty": "" };
    const { hub, id } = await openWebhook([
      (_request, response) => void response.writeHead(200, headers).end("größer"),
    ]);
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

/** Opens a receiver and a sender that posts to it once. The connection stays open unless either side closes it. */
async function openReceiver(listener: RequestListener) {
  const sockets: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  server.on("connection", (socket) => {
    sockets.push(socket);
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
  });
  const { url } = await listen(server);
  const sender = new HttpSender({ allowRemote: false });
  onTestFinished(() => sender.close());
  const post = (): Promise<HttpResult> =>
    sender.send({ url, headers: {}, body: "{}", timeoutMs: 10_000, signal: new AbortController().signal });
  return { sender, post, sockets, closed };
}

test("A request that Node does not send is a failure", async () => {
  const sender = new HttpSender({ allowRemote: false });
  onTestFinished(() => sender.close());
  const { signal } = new AbortController();
  const headers = { "x-bad": "two\nlines" };
  const sent = sender.send({ url: "http://127.0.0.1:1/", headers, body: "{}", timeoutMs: 10_000, signal });
  expect(await sent).toEqual({ failure: expect.stringContaining("Invalid character in header") });
});

describe("The connection of a delivery", () => {
  test("is reused for the next one, and closes with the local Hub", async () => {
    const { sender, post, sockets, closed } = await openReceiver((_request, response) => response.end());
    await post();
    await post();
    expect(sockets.map(({ closed: isClosed }) => isClosed)).toEqual([false]);
    sender.close();
    await closed[0];
  });

  test("closes if the response does not arrive in time", async () => {
    const { post, sockets, closed } = await openReceiver(() => {});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const posted = post();
    // The timeout must not expire before the connection is open, even on a busy machine.
    await expect.poll(() => sockets.length).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(await posted).toEqual({ failure: expect.stringContaining("within 10 s") });
    await closed[0];
  });

  test("closes if the receiver switches to another protocol", async () => {
    const { post, closed } = await openReceiver((_request, response) =>
      response.writeHead(101, { connection: "upgrade", upgrade: "other" }).flushHeaders(),
    );
    expect(await post()).toEqual({ failure: expect.stringContaining("another protocol") });
    await closed[0];
  });

  test("closes if the response is longer than the part that is stored", async () => {
    const { post, closed } = await openReceiver((_request, response) => {
      response.write("x".repeat(64 * 1024 + 1));
    });
    expect(await post()).toMatchObject({ response: { truncated: true, body: "x".repeat(64 * 1024) } });
    await closed[0];
  });

  test("stays open if the response is as long as the part that is stored", async () => {
    const { post, sockets } = await openReceiver((_request, response) => {
      response.end("x".repeat(64 * 1024));
    });
    expect(await post()).toMatchObject({ response: { truncated: false, body: "x".repeat(64 * 1024) } });
    expect(sockets.map(({ closed }) => closed)).toEqual([false]);
  });
});

function looked(name: string, options: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    loopbackOnly()(name, options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

describe("The host name lookup", () => {
  test("returns loopback addresses", async () => {
    expect(isLoopbackAddress(String(await looked("localhost")))).toBe(true);
    expect(await looked("localhost", { all: true })).toContainEqual({
      address: expect.any(String),
      family: expect.any(Number),
    });
    expect(await looked("127.0.0.5", { family: 4 })).toBe("127.0.0.5");
  });

  test.each(["10.0.0.1", "0.0.0.0", "::ffff:10.0.0.1", "fe80::1"])(
    "fails for an address of another machine: %s",
    async (address) => {
      for (const options of [{}, { all: true }]) {
        await expect(looked(address, options)).rejects.toThrow(/not this machine.*allow-remote/);
      }
    },
  );

  test("fails like node:dns for an unknown name", async () => {
    await expect(looked("nobody.invalid")).rejects.toMatchObject({ syscall: "getaddrinfo" });
  });
});

describe("A delivery to a host name", () => {
  const post = { headers: {}, body: "{}", timeoutMs: 5_000, signal: new AbortController().signal };

  test("is not sent if the name now resolves to another machine", async () => {
    const rebound: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "10.0.0.1", family: 4 }]);
      else callback(null, "10.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: rebound });
    onTestFinished(() => sender.close());
    const result = await sender.send({ ...post, url: "http://receiver.example/hook" });
    expect(result).toEqual({ failure: expect.stringMatching(/receiver\.example.*allowRemote/) });
  });

  test("is sent if the name resolves to this machine", async () => {
    const target = await openTarget();
    const here: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: here });
    onTestFinished(() => sender.close());
    const url = target.url.replace("127.0.0.1", "receiver.example");
    expect(await sender.send({ ...post, url })).toMatchObject({ response: { status: 200 } });
  });
});

/** Returns the URL with the secret in every place that can contain one. */
function withSecrets(url: string): string {
  const secretUrl = new URL(url);
  secretUrl.username = "bot";
  secretUrl.password = secret;
  secretUrl.search = `?a=1&secret=${secret}&b=2`;
  return secretUrl.href;
}

describe("A secret", () => {
  test("is in no log line, log entry or control response", async () => {
    const target = await openTarget(500, 301, 200);
    const hub = await openLocalHub({ suspendAfter: 2, overSocket: true });
    const { id } = await hub.create({ url: withSecrets(target.url), secret });
    const [delivery] = await hub.trigger();
    await hub.replay(id, delivery?.logId);
    await hub.update(id, { url: withSecrets("http://127.0.0.1:1/"), secret });
    await hub.trigger();
    await hub.update(id, { url: withSecrets("http://10.0.0.1/"), secret });
    await hub.trigger();
    await hub.update(id, { url: withSecrets("http://nobody.invalid/"), secret: `${secret}\x7f` });
    await hub.trigger();
    expect(target.requests).toHaveLength(4);
    for (const { headers, line } of target.requests) {
      expect(headers["x-webhook-secret"]).toBe(secret);
      expect(headers.authorization).toBe(`Basic ${Buffer.from(`bot:${secret}`).toString("base64")}`);
      expect(line).toBe(`POST /hook?a=1&secret=${secret}&b=2`);
    }
    const entries = await hub.entries(id);
    expect(entries[0]?.request.headers["x-webhook-secret"]).toBe("***");
    expect(new URL(entries.at(-1)?.url ?? "").search).toBe("?a=1&secret=***&b=2");
    for (const line of hub.log.lines) expect(holdsSecret(line, secret), line.msg).toBe(false);
    expect(hub.log.lines.length).toBeGreaterThan(5);
    expect(holdsSecret([entries, hub.hub.deliveries(id), await hub.trigger(pushed)], secret)).toBe(false);
    for (const path of [`/_local/webhooks/${id}/deliveries`, "/_local/jobs", "/", "/openapi.json"]) {
      const { text, headers } = await hub.request(`GET ${path}`, { token: null });
      expect(holdsSecret([text, [...headers]], secret), path).toBe(false);
    }
  });

  test("is in no error response", async () => {
    const hub = await openLocalHub({ overSocket: true });
    const answers = await Promise.all([
      hub.request("POST /api/settings/webhooks", { body: { url: withSecrets("ftp://x/"), secret, [secret]: secret } }),
      hub.request("POST /api/settings/webhooks", { text: `{"secret":"${secret}` }),
      hub.request("POST /_local/events", { body: { ...pushed, event: { scope: secret, action: 1 } } }),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      // The name of an unknown field is returned, because the user must correct it.
      expect(holdsSecret(JSON.stringify(body).replaceAll(`${secret}: unknown field`, ""), secret)).toBe(
        JSON.stringify(body).includes(`[\\"${secret}\\"]`),
      );
    }
    expect(holdsSecret(hub.log.lines, secret)).toBe(false);
  });
});

test("A receiver that returns its secret does not expose it in the log", async () => {
  const target = await openTarget((request, response) => {
    response.writeHead(308, {
      location: `/hook/?Secret=${secret}`,
      "x-echo": String(request.headers["x-webhook-secret"]),
    });
    response.end(JSON.stringify({ headers: request.headers, url: request.url }));
  });
  const hub = await openLocalHub();
  const url = `${target.url}?Secret=${encodeURIComponent("in the/query")}`;
  const { id } = await hub.create({ url, secret: `"${secret}"` });
  await hub.trigger();
  const { text } = await hub.request(`GET /_local/webhooks/${id}/deliveries`);
  expect(text).toContain('"location":"/hook/?Secret=***"');
  for (const hidden of [secret, "in the/query", encodeURIComponent("in the/query")]) expect(text).not.toContain(hidden);
});

test("A truncated response does not expose the start of a secret in the log", async () => {
  const start = secret.slice(0, 12);
  const text = `${start.padStart(64 * 1024, "x")}${secret.slice(12)}`;
  const { hub, id } = await openWebhook([(_request, response) => void response.end(text)], {}, { secret });
  await hub.trigger();
  const body = (await hub.entries(id))[0]?.response?.body;
  expect(body?.replace(/^x+/, "")).toBe("***");
});
