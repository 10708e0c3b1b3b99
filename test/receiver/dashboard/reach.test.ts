import { request } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LaunchOptions, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { startLocaltunnelServer } from "../../support/localtunnel-server.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const token = "Planted-t0ken-5cc1";

beforeEach(() => {
  vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
  vi.stubEnv("DASHBOARD_TOKEN", "");
  return () => vi.unstubAllEnvs();
});

async function launch(options: WebhooksServerOptions = {}, launchOptions: LaunchOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret: "s3cret", ...options, logger });
  server.webhook("retrain", { background: true }, () => {});
  onTestFinished(() => server.close());
  const launched = await server.launch({ port: 0, host: "127.0.0.1", ...launchOptions });
  return { ...launched, logger };
}

describe("A launched server logs the address of its dashboard", () => {
  test("and that a browser on this machine can open it without a token", async () => {
    const { url, logger } = await launch();
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        dashboard: `${url}/_deliveries`,
        msg: expect.stringMatching(/a browser on this machine\. Set DASHBOARD_TOKEN/),
      }),
    );
    expect((await fetch(`${url}/_deliveries`)).status).toBe(200);
  });

  test("but never the token", async () => {
    vi.stubEnv("DASHBOARD_TOKEN", token);
    const { url, logger } = await launch();
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ dashboard: `${url}/_deliveries`, msg: expect.stringContaining("password") }),
    );
    const authorization = `Basic ${btoa(`me:${token}`)}`;
    expect((await fetch(`${url}/_deliveries`)).status).toBe(401);
    const page = await (await fetch(`${url}/_deliveries`, { headers: { authorization } })).text();
    expect(page).toContain("Ready");
    expect(logger.text() + page).not.toContain(token);
  });

  test("with the URL of the Space, and warns that it is closed without a token", async () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    const open = await launch({ dashboardToken: token });
    expect(open.logger.lines).toContainEqual(
      expect.objectContaining({ dashboard: "https://acme-bot.hf.space/_deliveries" }),
    );
    const closed = await launch({ dashboardToken: "" });
    expect(closed.logger.lines).toContainEqual(
      expect.objectContaining({ level: "warn", msg: expect.stringContaining("Set DASHBOARD_TOKEN") }),
    );
    expect((await fetch(`${closed.url}/_deliveries`)).status).toBe(403);
  });

  test.each<[string, LaunchOptions]>([
    ["a public URL", { publicUrl: "https://bot.example.com" }],
    ["a public URL that can change", { publicUrl: () => "https://bot.example.com" }],
    ["the user's own tunnel", { tunnel: { existingUrl: "http://127.0.0.1:1" } }],
  ])("and warns without a token that it is closed behind %s", async (_what, options) => {
    const { url, logger } = await launch({}, options);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "warn", msg: expect.stringContaining("The dashboard is closed") }),
    );
    expect((await fetch(`${url}/_deliveries`)).status).toBe(403);
  });

  test("unless no endpoint runs in the background", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ secret: "s3cret", logger });
    server.webhook("inline", () => {});
    await server.launch({ port: 0, host: "127.0.0.1" });
    expect(logger.text()).not.toContain("dashboard");
  });
});

test("The tunnel gives access to the webhooks, but not to the dashboard", async () => {
  await using host = await startLocaltunnelServer();
  const { publicUrl, url } = await launch({ dashboardToken: token }, { tunnel: { host: host.url, timeout: "5s" } });
  const authorization = `Basic ${btoa(`me:${token}`)}`;
  expect((await fetch(`${url}/_deliveries`, { headers: { authorization } })).status).toBe(200);
  const paths = ["/_deliveries", "/_deliveries/replay", "/webhooks/../_deliveries", "/webhooks/%2e%2e/_deliveries"];
  for (const path of [...paths, "/webhooks/..%2f_deliveries", "//_deliveries", "/%5fdeliveries"]) {
    for (const method of ["GET", "POST"]) {
      expect(await statusOf(publicUrl, { path, method, authorization }), `${method} ${path}`).toBe(404);
    }
  }
});

/** Sends the path unchanged, because `fetch` would normalize it. */
function statusOf(
  baseUrl: string,
  { path, method, authorization }: { path: string; method: string; authorization: string },
): Promise<number | undefined> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const headers = { authorization, "content-type": "application/json", "content-length": 0 };
    request({ hostname, port, path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
