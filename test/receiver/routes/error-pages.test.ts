import { Hono } from "hono";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const accept = "text/html,application/xhtml+xml,*/*;q=0.8";

function openServer(options: WebhooksServerOptions = {}) {
  const server = new WebhooksServer({
    secret: false,
    inbox: "sqlite::memory:",
    logger: createMemoryLogger(),
    ...options,
  });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  return server;
}

describeOverBothTransports("A browser", (send) => {
  test.each([
    ["a path that is not there", {}, "/nowhere", 404, "NOT_FOUND"],
    ["an endpoint that is not there", {}, "/webhooks/nowhere", 404, "ENDPOINT_UNKNOWN"],
    ["an endpoint", {}, "/webhooks/retrain", 405, "METHOD_NOT_ALLOWED"],
    [
      "metrics without the token",
      { metrics: true, consoleToken: "t0ken-of-the-owner" },
      "/metrics",
      401,
      "CONSOLE_TOKEN_MISSING",
    ],
    ["metrics that are closed", { metrics: true }, "/metrics", 403, "OWNER_ONLY"],
    ["a path that is not in the console", {}, "/_console/nowhere", 404, "NOT_FOUND"],
  ] as const)("gets a page for %s, and any other client gets JSON", async (_what, options, path, status, code) => {
    if (code === "OWNER_ONLY") {
      vi.stubEnv("PUBLIC_URL", "https://bot.example");
    }
    const server = openServer(options);
    const ask = (path: string, init: RequestInit) => send(server, new Request(`http://127.0.0.1${path}`, init));
    const page = await ask(path, { headers: { accept } });
    expect({ status: page.status, type: page.headers.get("content-type") }).toEqual({
      status,
      type: "text/html; charset=utf-8",
    });
    expect(await page.text()).toContain(code);
    const json = await ask(path, { headers: { accept: "*/*" } });
    expect(json.status).toBe(status);
    expect(await json.json()).toMatchObject({ code });
    // The headers for HTTP clients are the same in both formats.
    for (const name of ["allow", "www-authenticate"]) expect(page.headers.get(name)).toBe(json.headers.get(name));
  });
});

test("An error page links to the landing page below the prefix of the mount", async () => {
  const parent = new Hono().route("/hub", openServer().app);
  const page = await parent.request("/hub/webhooks/nowhere", { headers: { accept } });
  expect(await page.text()).toContain('href="/hub/"');
});

test("Responses of the user's app are not changed", async () => {
  const app = new Hono();
  app.notFound((context) => context.json({ mine: true }, 404));
  const response = await openServer({ app }).fetch(new Request("http://localhost/nowhere", { headers: { accept } }));
  expect(await response.json()).toEqual({ mine: true });
});

test("A delivery is answered with JSON, even if it accepts HTML", async () => {
  const request = new Request("http://localhost/webhooks/retrain", { method: "POST", body: "{", headers: { accept } });
  const response = await openServer().fetch(request);
  expect(response.headers.get("content-type")).toBe("application/json");
});
