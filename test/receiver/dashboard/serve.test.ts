import { Hono } from "hono";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { NonRetriableError, WebhookError, WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";
import { waitFor } from "../../support/wait-for.ts";
import { strangeId } from "./scene.ts";

const secret = "s3cret-of-ours";
const token = "Planted-t0ken-5cc1";
const authorization = `Basic ${btoa(`me:${token}`)}`;

beforeEach(() => {
  vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
  return () => vi.unstubAllEnvs();
});

/** Returns a server with the endpoints `fine` and `failing`, a dashboard token, and a mock that counts its runs. */
function openServer() {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, dashboardToken: token, logger });
  const handler = vi.fn();
  server.webhook("fine", { background: true, schema: null }, handler);
  server.webhook("failing", { background: true }, () => {
    handler();
    throw new NonRetriableError("There is <b>no</b> such model.");
  });
  onTestFinished(() => server.close());
  return { server, logger, handler };
}

async function keep(
  server: WebhooksServer,
  { endpoint = "fine", id = "d1", payload = webhookPayload("repo.content") as unknown } = {},
) {
  expect((await server.fetch(deliveryRequest({ endpoint, id, payload, secret }))).status).toBe(202);
  await waitFor(
    async () =>
      expect(await server.inbox.get(id, { endpoint })).toMatchObject({
        status: endpoint === "fine" ? "succeeded" : "dead",
      }),
    { interval: 5 },
  );
}

function get(path: string, headers: Record<string, string> = { authorization }): Request {
  return new Request(`http://localhost${path}`, { headers });
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`http://localhost/_deliveries/${path}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

describeOverBothTransports("The dashboard", (send) => {
  test("lists the deliveries with their events, newest first", async () => {
    const { server } = openServer();
    await keep(server, { id: "first-of-two" });
    await keep(server, { id: "second-of-two", endpoint: "failing" });
    const response = await send(server, get("/_deliveries"));
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(page.indexOf("second-of-two")).toBeLessThan(page.indexOf("first-of-two"));
    expect(page).toContain("repo.content · update");
    expect(page).toContain("There is &lt;b&gt;no&lt;/b&gt; such model.");
    expect(page).toContain("<mark>1 dead</mark> delivery");
  });

  test("shows a delivery with its attempts, its errors and its payload", async () => {
    const { server } = openServer();
    await keep(server, { endpoint: "failing" });
    const page = await (await send(server, get("/_deliveries?endpoint=failing&id=d1"))).text();
    expect(page).toContain("<mark>Dead</mark> after one attempt");
    expect(page).toContain("HANDLER_FAILED");
    expect(page).toContain("There is &lt;b&gt;no&lt;/b&gt; such model.");
    expect(page).toContain("&quot;scope&quot;: &quot;repo.content&quot;");
    expect(page).toContain("Waited before the first attempt");
  });

  test("returns a body unchanged, as text that a browser does not run", async () => {
    const { server } = openServer();
    const body = `{"big":12345678901234567890, "a":1,"a":2}\t<script>alert(1)</script> \u202E`;
    const request = deliveryRequest({ endpoint: "fine", payload: null, secret, id: strangeId });
    await server.fetch(new Request(request, { body }));
    const query = new URLSearchParams({ endpoint: "fine", id: strangeId });
    const response = await send(server, get(`/_deliveries/body?${query}`));
    expect(await response.text()).toBe(body);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      "cache-control": "no-store",
    });
  });

  test("replays a delivery", async () => {
    const { server, handler, logger } = openServer();
    await keep(server, { id: strangeId });
    const response = await send(server, post("replay", { endpoint: "fine", id: strangeId }));
    expect([response.status, await response.json()]).toEqual([200, { replayed: 1 }]);
    // Over a socket, the server was closed before the handler started.
    await server.ready();
    await waitFor(() => expect(handler).toHaveBeenCalledTimes(2));
    expect(logger.text()).toContain("replayed from the dashboard");
  });

  test("replays all dead deliveries of an endpoint", async () => {
    const { server, handler, logger } = openServer();
    await keep(server, { id: "a", endpoint: "failing" });
    await keep(server, { id: "b", endpoint: "failing" });
    const response = await send(server, post("replay-dead", { endpoint: "failing" }));
    expect([response.status, await response.json()]).toEqual([200, { replayed: 2 }]);
    expect(logger.lines).toContainEqual({
      ...{ level: "info", endpoint: "failing", replayed: 2 },
      msg: expect.stringContaining("replayed from the dashboard"),
    });
    // Over a socket, the server was closed before the handler started.
    await server.ready();
    await waitFor(() => expect(handler).toHaveBeenCalledTimes(4));
  });

  test("rejects requests without the token on every path", async () => {
    const { server, handler } = openServer();
    await keep(server);
    const asset = /_deliveries\/assets\/page-\w+\.js/.exec(await (await server.fetch(get("/_deliveries"))).text())?.[0];
    const paths = [
      "/_deliveries",
      "/_deliveries?id=d1&endpoint=fine",
      "/_deliveries/body?id=d1&endpoint=fine",
      `/${asset}`,
    ];
    for (const path of [...paths, "/%5Fdeliveries"]) {
      const response = await send(server, get(path, {}));
      expect(response.status, path).toBe(401);
      expect(await response.text()).not.toContain("acme/data");
    }
    const wrong = { authorization: `Basic ${btoa("me:wrong")}` };
    expect((await send(server, post("replay", { endpoint: "fine", id: "d1" }, wrong))).status).toBe(401);
    expect((await send(server, post("replay-dead", { endpoint: "fine" }, wrong))).status).toBe(401);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["from another site", { "sec-fetch-site": "cross-site" }],
    ["from a sibling site", { "sec-fetch-site": "same-site" }],
    ["from another origin", { origin: "https://evil.example" }],
    ["from a page without an origin", { origin: "null" }],
    ["from a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["from a form sent as text", { "content-type": "text/plain" }],
    ["from a form whose media type mentions JSON", { "content-type": "text/plain;application/json" }],
  ])("rejects a replay %s, even if the browser sends the token", async (_what, headers) => {
    const { server, handler } = openServer();
    await keep(server);
    for (const path of ["replay", "replay-dead"]) {
      expect((await send(server, post(path, { endpoint: "fine", id: "d1" }, headers))).status).toBe(403);
    }
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["a body that is not JSON", "{", 400],
    ["a body that is not an object", "7", 400],
    ["no id", { endpoint: "fine" }, 400],
    ["an id that is not a string", { endpoint: "fine", id: 7 }, 400],
    ["a body that is too large", { endpoint: "fine", id: "x".repeat(5_000) }, 413],
    ["an unknown delivery", { endpoint: "fine", id: "gone" }, 404],
  ])("rejects a replay with %s", async (_what, body, status) => {
    const { server } = openServer();
    const response = await send(server, post("replay", body));
    expect([response.status, await response.json()]).toEqual([
      status,
      { error: expect.any(String), code: expect.any(String) },
    ]);
  });
});

describe("The dashboard", () => {
  test("accepts a replay from its own page at any address", async () => {
    const { server } = openServer();
    await keep(server);
    const headers = { host: "Bot.example:8080", origin: "https://bot.example:8080", "sec-fetch-site": "same-origin" };
    expect((await server.fetch(post("replay", { endpoint: "fine", id: "d1" }, headers))).status).toBe(200);
  });

  test("filters by status and endpoint, with pages", async () => {
    const { server } = openServer();
    for (let index = 0; index < 26; index += 1) await keep(server, { id: `number-${index}.` });
    await keep(server, { id: "broken", endpoint: "failing" });
    const page = async (query: string) => (await server.fetch(get(`/_deliveries${query}`))).text();
    const rowsOf = (html: string) => html.match(/class="row"/g)?.length ?? 0;
    expect(rowsOf(await page("?status=dead"))).toBe(1);
    expect(rowsOf(await page("?status=running"))).toBe(0);
    expect(rowsOf(await page("?status=unheard-of"))).toBe(25);
    expect(await page("?endpoint=fine")).toContain('href="_deliveries?status=dead&amp;endpoint=fine"');
    const first = await page("?status=succeeded&endpoint=fine");
    expect(rowsOf(first)).toBe(25);
    const older = /href="_deliveries(\?[^"]*cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&");
    expect(older).toContain("status=succeeded&endpoint=fine");
    const second = await page(older ?? "");
    expect(rowsOf(second)).toBe(1);
    expect(second).toContain("number-0.");
    expect(second).not.toContain("Older deliveries");
    expect(second).toContain("Newest deliveries");
  });

  test("counts only the deliveries of the selected endpoint", async () => {
    const { server } = openServer();
    await keep(server);
    await keep(server, { endpoint: "failing" });
    const page = async (query: string) => (await server.fetch(get(`/_deliveries${query}`))).text();
    expect(await page("?endpoint=fine")).toContain("All <mark>done</mark>");
    expect(await page("?endpoint=failing")).toContain("<mark>1 dead</mark>");
  });

  test("treats an empty cursor as the first page", async () => {
    const { server } = openServer();
    await keep(server);
    const page = await (await server.fetch(get("/_deliveries?cursor="))).text();
    expect(page).toContain('class="row"');
    expect(page).not.toContain("Newest deliveries");
  });

  test("has a button that replays all dead deliveries if there are any", async () => {
    const { server } = openServer();
    await keep(server, { endpoint: "failing" });
    const page = async (query: string) => (await server.fetch(get(`/_deliveries${query}`))).text();
    expect(await page("?status=dead")).toContain('data-replay-dead="failing"');
    expect(await page("?status=dead&endpoint=fine")).not.toContain("data-replay-dead");
    expect(await page("")).not.toContain("data-replay-dead");
  });

  test("shows that no server runs the deliveries of an endpoint that no longer exists", async () => {
    const { server } = openServer();
    await keep(server);
    await server.close();
    const other = new WebhooksServer({ dashboardToken: token, logger: createMemoryLogger() });
    onTestFinished(() => other.close());
    other.webhook("another", { background: true }, () => {});
    expect(await (await other.fetch(get("/_deliveries?endpoint=fine&id=d1"))).text()).toContain("nobody");
    expect(await (await other.fetch(get("/_deliveries"))).text()).toContain("endpoint=fine");
    const { server: own } = openServer();
    expect(await (await own.fetch(get("/_deliveries?endpoint=fine&id=d1"))).text()).not.toContain("nobody");
  });

  test("returns 404 for an unknown delivery, and 400 for an invalid cursor", async () => {
    const { server } = openServer();
    const statusOf = async (path: string) => (await server.fetch(get(path))).status;
    expect(await statusOf("/_deliveries?endpoint=fine&id=gone")).toBe(404);
    expect(await statusOf("/_deliveries?id=gone")).toBe(404);
    expect(await statusOf("/_deliveries/body?endpoint=fine&id=gone")).toBe(404);
    expect(await statusOf("/_deliveries/assets/page.js")).toBe(404);
    expect(await statusOf("/_deliveries?cursor=nonsense")).toBe(400);
  });

  test("is also served with a custom landing page that handles every path", async () => {
    const landingPage = new Hono().all("*", (context) => context.text("mine"));
    const server = new WebhooksServer({ dashboardToken: token, landingPage, logger: createMemoryLogger() });
    server.webhook("fine", { background: true }, () => {});
    onTestFinished(() => server.close());
    expect(await (await server.fetch(get("/_deliveries"))).text()).toContain("Ready");
    expect(await (await server.fetch(get("/"))).text()).toBe("mine");
  });

  test("returns 404 with the next step if no endpoint runs in the background", async () => {
    const server = new WebhooksServer({ dashboardToken: token, logger: createMemoryLogger() });
    server.webhook("inline", () => {});
    const response = await server.fetch(get("/_deliveries"));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining("background: true") });
  });

  test.each([
    ["the error of a database driver", new Error("password hunter2 refused")],
    ["an internal error", new WebhookError("password hunter2 refused", { code: "INTERNAL" })],
  ])("returns an error page with 503 while the inbox fails, without the message of %s", async (_what, error) => {
    const { server, logger } = openServer();
    vi.spyOn(server.inbox, "list").mockRejectedValue(error);
    vi.spyOn(server.inbox, "replay").mockRejectedValue(error);
    const response = await server.fetch(get("/_deliveries"));
    const page = await response.text();
    expect(response.status).toBe(503);
    expect(response.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(page).toContain("The inbox does not answer");
    const refused = await server.fetch(post("replay", { endpoint: "fine", id: "d1" }));
    expect(refused.status).toBe(503);
    expect(page + (await refused.text())).not.toContain("hunter2");
    expect(logger.lines.filter(({ level }) => level === "error")).toHaveLength(2);
  });

  test("logs an error of the inbox that the page shows, with its cause", async () => {
    const { server, logger } = openServer();
    const error = new WebhookError("The inbox is locked.", { code: "INBOX_UNAVAILABLE", status: 503 });
    vi.spyOn(server.inbox, "list").mockRejectedValue(error);
    const response = await server.fetch(get("/_deliveries"));
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("The inbox is locked.");
    expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([{ err: error }]);
  });

  test("logs each wrong password once, but no request without a password", async () => {
    const { server, logger } = openServer();
    const wrong = { authorization: `Basic ${btoa("me:Guessed-5ecret")}` };
    expect((await server.fetch(get("/_deliveries", {}))).status).toBe(401);
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([]);
    expect((await server.fetch(get("/_deliveries", wrong))).status).toBe(401);
    expect((await server.fetch(post("replay", { endpoint: "fine", id: "d1" }, wrong))).status).toBe(401);
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([
      { status: 401, code: "DASHBOARD_TOKEN_INVALID", path: "/_deliveries" },
      { status: 401, code: "DASHBOARD_TOKEN_INVALID", path: "/_deliveries/replay" },
    ]);
    expect(logger.text()).not.toContain("Guessed-5ecret");
    expect((await server.fetch(get("/_deliveries"))).status).toBe(200);
    expect(logger.lines.filter(({ level }) => level === "warn")).toHaveLength(2);
  });

  test("logs a replay from another site, and a request that is rejected because no token is set", async () => {
    const { server, logger } = openServer();
    const fromElsewhere = { origin: "https://evil.example" };
    expect((await server.fetch(post("replay", { endpoint: "fine", id: "d1" }, fromElsewhere))).status).toBe(403);
    vi.stubEnv("DASHBOARD_TOKEN", undefined);
    const open = new WebhooksServer({ secret, logger });
    open.webhook("fine", { background: true }, () => {});
    expect((await open.fetch(get("/_deliveries", {}))).status).toBe(403);
    const warnings = logger.lines.filter(({ msg }) => msg.startsWith("dashboard refused: "));
    expect(warnings).toMatchObject([
      { level: "warn", status: 403 },
      { level: "warn", status: 403 },
    ]);
  });

  test.each([
    { what: "a replay of all dead deliveries", method: "replayDead", path: "replay-dead", seconds: 60 },
    { what: "a replay of one delivery", method: "replay", path: "replay", seconds: 5 },
  ] as const)("gives $what $seconds s, and clears its timer", async ({ method, path, seconds }) => {
    const { server } = openServer();
    await server.ready();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const timersBefore = vi.getTimerCount();
    const statusAfter = async (milliseconds: number) => {
      const asked = Promise.withResolvers<void>();
      const replayed = Promise.withResolvers<number>();
      vi.spyOn(server.inbox, method as "replayDead").mockImplementation(() => {
        asked.resolve();
        return replayed.promise;
      });
      const pending = Promise.resolve(server.fetch(post(path, { endpoint: "failing", id: "d1" })));
      await asked.promise;
      await vi.advanceTimersByTimeAsync(milliseconds);
      replayed.resolve(7);
      return (await pending).status;
    };
    expect(await statusAfter(seconds * 1_000 - 1)).toBe(200);
    expect(vi.getTimerCount()).toBe(timersBefore);
    expect(await statusAfter(seconds * 1_000)).toBe(503);
  });

  test("returns 503 if the inbox does not respond in time", async () => {
    const { server } = openServer();
    await server.ready();
    vi.spyOn(server.inbox, "counts").mockReturnValue(new Promise(() => {}));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const pending = Promise.resolve(server.fetch(get("/_deliveries")));
    await waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await pending).status).toBe(503);
  });

  test("is loaded again after its module could not be read, for example without free file descriptors", async () => {
    const path = "../../../src/receiver/dashboard/dashboard.ts";
    vi.resetModules();
    vi.doMock(path, () => {
      throw new Error("EMFILE: too many open files");
    });
    onTestFinished(() => vi.doUnmock(path));
    const { server } = openServer();
    expect((await server.fetch(get("/_deliveries"))).status).toBe(500);
    vi.doUnmock(path);
    expect((await server.fetch(get("/_deliveries"))).status).toBe(200);
  });

  test("shows the start of a long body, and the whole body as text", async () => {
    const { server } = openServer();
    const payload = { event: { scope: "repo.content" }, files: ["x".repeat(300_000)], last: "the-very-end" };
    await keep(server, { payload });
    const page = await (await server.fetch(get("/_deliveries?endpoint=fine&id=d1"))).text();
    expect(page).toContain("Cut here");
    expect(page).not.toContain("the-very-end");
    expect(page.length).toBeLessThan(150_000);
    expect(await (await server.fetch(get("/_deliveries/body?endpoint=fine&id=d1"))).text()).toContain("the-very-end");
  });
});
