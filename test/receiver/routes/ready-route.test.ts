import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { InboxProblem } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhookError, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { hasRedis, startRedis } from "../../support/redis-server.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const token = "Planted-0wner-token";
const asOwner = { authorization: `Basic ${btoa(`me:${token}`)}` };

const degraded: InboxProblem = { code: "INBOX_CLOCK_SKEW", severity: "degraded", message: "Its clock is 7 s behind." };
const unavailable: InboxProblem = { code: "INBOX_STALLED", severity: "unavailable", message: "Nothing runs in /data." };

beforeEach(() => {
  vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
});

function openServer({ background = true, ...options }: WebhooksServerOptions & { background?: boolean } = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret: false, consoleToken: token, logger, ...options });
  server.webhook("retrain", { background }, () => {});
  onTestFinished(() => server.close());
  return server;
}

/** Creates a server on a real inbox that reports the problems set by the test. */
function openTroubled() {
  const inbox = new SqliteInbox({ file: inboxFile(), now: Date.now, log: createMemoryLogger() });
  const clock = { now: 1_000_000 };
  const server = openServer({ inbox, now: () => clock.now });
  return { server, clock, problems: vi.spyOn(inbox, "problems") };
}

async function ready(server: WebhooksServer, headers: Record<string, string> = {}) {
  const response = await server.request("/ready", { headers });
  return { status: response.status, body: await response.json() };
}

describeOverBothTransports("GET /ready", (send) => {
  const get = (server: WebhooksServer, init?: RequestInit) => send(server, new Request("http://localhost/ready", init));

  test("is 200 without background endpoints", async () => {
    const response = await get(openServer({ background: false }));
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("has no reasons while clients guess the token of the console", async () => {
    const server = openServer();
    const reasons = async () => (await (await get(server, { headers: asOwner })).json()).problems;
    expect(await reasons()).toBeInstanceOf(Array);
    const guess = { headers: { authorization: "Bearer guess" } };
    for (let count = 0; count < 20; count += 1) {
      expect((await server.request("/_console/api/session", guess)).status).toBe(401);
    }
    expect(await reasons()).toBeUndefined();
  });

  test("answers HEAD without a body", async () => {
    const { server, problems } = openTroubled();
    problems.mockResolvedValue([unavailable]);
    await server.ready();
    const response = await get(server, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([503, ""]);
  });
});

describe("GET /ready", () => {
  test("is 503 until the inbox is open, and does not open it", async () => {
    const server = openServer();
    expect(await ready(server)).toEqual({ status: 503, body: { status: "unavailable" } });
    expect(await ready(server, asOwner)).toMatchObject({
      status: 503,
      body: { problems: [{ code: "INBOX_UNAVAILABLE" }] },
    });
    await server.ready();
    expect(await ready(server)).toEqual({ status: 200, body: { status: "ok" } });
  });

  test.each([
    { what: "cannot store or run anything", found: [degraded, unavailable], status: 503, name: "unavailable" },
    { what: "needs attention", found: [degraded], status: 200, name: "degraded" },
  ])("is $status while the inbox $what, and shows the reason only to the owner", async ({ found, status, name }) => {
    const { server, problems } = openTroubled();
    problems.mockResolvedValue(found);
    await server.ready();
    expect(await ready(server)).toEqual({ status, body: { status: name } });
    expect(await ready(server, { authorization: `Basic ${btoa("me:guess")}` })).toEqual({
      status,
      body: { status: name },
    });
    const reasons = found.map(({ code, message }) => ({ code, message }));
    expect(await ready(server, asOwner)).toEqual({ status, body: { status: name, problems: reasons } });
  });

  test("is 503 while GET /health stays 200", async () => {
    const { server, problems } = openTroubled();
    problems.mockResolvedValue([unavailable]);
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: "ok" }]);
  });

  test.skipIf(!hasRedis)("shows the owner the difference between the clocks of the server and of Redis", async () => {
    await using redis = await startRedis();
    const inbox = await redis.emptyDatabase();
    await using server = openServer({ inbox, now: () => Date.now() + 3_600_000 });
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const response = await fetch(`${url}/ready`, { headers: asOwner });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: "degraded", problems: [{ code: "INBOX_CLOCK_SKEW" }] },
    ]);
  });

  test.each([
    ["without the message of its driver", new Error("connect to postgres://me:hunter2@host"), "INBOX_UNAVAILABLE", ""],
    [
      "with an error of the inbox",
      new WebhookError("It is frozen.", { code: "INBOX_UNUSABLE" }),
      "INBOX_UNUSABLE",
      "frozen",
    ],
  ])("is 503 while the inbox fails to report, %s", async (_what, error, code, message) => {
    const { server, problems } = openTroubled();
    problems.mockRejectedValue(error);
    await server.ready();
    const { status, body } = await ready(server, asOwner);
    expect([status, body]).toMatchObject([503, { problems: [{ code, message: expect.stringContaining(message) }] }]);
    expect(JSON.stringify(body)).not.toContain("hunter2");
  });

  test("is 503 after 3 s without an answer, and starts no second check during this time", async () => {
    const { server, clock, problems } = openTroubled();
    const frozen = Promise.withResolvers<readonly InboxProblem[]>();
    problems.mockReturnValue(frozen.promise);
    await server.ready();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const asked = ready(server, asOwner);
      await vi.advanceTimersByTimeAsync(2_999);
      clock.now += 60_000;
      const askedLater = ready(server, asOwner);
      await vi.advanceTimersByTimeAsync(1);
      expect(await asked).toMatchObject({ status: 503, body: { problems: [{ code: "INBOX_UNAVAILABLE" }] } });
      await vi.advanceTimersByTimeAsync(3_000);
      expect(await askedLater).toMatchObject({ status: 503 });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    expect(problems).toHaveBeenCalledTimes(1);
    frozen.resolve([]);
    expect(await ready(server)).toMatchObject({ status: 200 });
  });

  test("checks the inbox at most once a second", async () => {
    const { server, clock, problems } = openTroubled();
    await server.ready();
    await Promise.all(Array.from({ length: 20 }, () => ready(server)));
    clock.now += 999;
    await ready(server);
    expect(problems).toHaveBeenCalledTimes(1);
    clock.now += 1;
    await ready(server);
    expect(problems).toHaveBeenCalledTimes(2);
    clock.now -= 3_600_000;
    await ready(server);
    expect(problems).toHaveBeenCalledTimes(3);
  });

  test.each([true, false])("is 503 after close(), with a background endpoint: %s", async (background) => {
    const server = openServer({ background });
    await server.ready();
    const closing = server.close();
    expect(await ready(server, asOwner)).toMatchObject({ status: 503, body: { problems: [{ code: "CLOSING" }] } });
    await closing;
    expect(await ready(server)).toMatchObject({ status: 503 });
    await server.ready();
    expect(await ready(server)).toMatchObject({ status: 200 });
  });

  test("is 200 again after the server is relaunched", async () => {
    const server = openServer({ background: false });
    const options = { port: 0, host: "127.0.0.1", ownsProcess: false };
    await server.launch(options);
    await server.close();
    const { url } = await server.launch(options);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});
