import { Hono } from "hono";
import { describe, expect, test, vi } from "vitest";
import { type LandingInfo, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const payload = webhookPayload("repo.content");

function createServer(options: WebhooksServerOptions = {}) {
  const server = new WebhooksServer({ secret: "s3cret", logger: createMemoryLogger(), ...options });
  server.webhook("retrain", () => "done");
  return server;
}

/** Creates a delivery to a path, by default the endpoint's. */
function delivery(path = "/webhooks/retrain"): Request {
  const { headers } = deliveryRequest({ endpoint: "retrain", payload, secret: "s3cret" });
  return new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(payload) });
}

describeOverBothTransports("With a base path", (send) => {
  test.each([
    ["the prefix, as Next.js passes it on", "/api/webhooks/retrain", 200],
    ["the prefix removed, as Express passes it on", "/webhooks/retrain", 200],
    ["the prefix twice", "/api/api/webhooks/retrain", 404],
    ["another prefix", "/apis/webhooks/retrain", 404],
    ["the prefix in another case", "/API/webhooks/retrain", 404],
    ["the prefix encoded", "/%61pi/webhooks/retrain", 200],
  ])("a delivery is matched with %s", async (_what, path, status) => {
    expect((await send(createServer({ basePath: "/api" }), delivery(path))).status).toBe(status);
  });
});

describe("With a base path", () => {
  test.each(["/api", "/api/", "/"])("the landing page is at %s", async (path) => {
    const response = await createServer({ basePath: "/api" }).request(path);
    expect(response.status).toBe(200);
    const page = await response.text();
    expect(page).toContain('href="/api/health"');
    expect(page).toContain("/api/webhooks/");
  });

  test("your own route may start with the same letters", async () => {
    const server = createServer({ basePath: "/api" });
    server.app.get("/apis/:name", (context) => context.text(context.req.param("name")));
    expect(await (await server.request("/apis/x")).text()).toBe("x");
    expect(await (await server.request("/api/apis/x")).text()).toBe("x");
  });

  test("middleware receives paths without it, with and without the prefix in the URL", async () => {
    const app = new Hono();
    const seen = vi.fn();
    app.use("/webhooks/*", async ({ req }, next) => {
      seen(req.path);
      await next();
    });
    const server = createServer({ app, basePath: "/api" });
    for (const path of ["/api/webhooks/retrain", "/webhooks/retrain", "/api/webhooks/none"]) {
      await server.fetch(delivery(path));
    }
    expect(seen.mock.calls.flat()).toEqual(["/webhooks/retrain", "/webhooks/retrain", "/webhooks/none"]);
  });
});

describe("A base path", () => {
  test.each(["/hub/", "/hub", "/a/b-c/_d.e~1", "/", ""])("may be %j", async (basePath) => {
    const server = createServer({ basePath });
    expect((await server.fetch(delivery(`${basePath.replace(/\/$/, "")}/webhooks/retrain`))).status).toBe(200);
  });

  test.each([
    "hub",
    "//hub",
    "/hub//x",
    "/../hub",
    "/hub/.",
    "/hub?x",
    "/hub#x",
    "/h b",
    "/h%20b",
    "/größe",
    "/*",
    "http://x/hub",
    // A part of these paths of the server would be removed.
    ...["/webhooks", "/webhooks/hub", "/health", "/_console"],
    7,
  ])("may not be %j", (basePath) => {
    const options: object = { basePath };
    expect(() => createServer(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  test.each([
    ["middleware", () => new Hono().use("/api/webhooks/*", async (_context, next) => next())],
    ["a route", () => new Hono().get("/api", (context) => context.text("mine"))],
    ["Hono's own prefix", () => new Hono().basePath("/api")],
  ])("is refused where it hides paths of the app: %s", (_what, create) => {
    expect(() => createServer({ app: create(), basePath: "/api" })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});

describe("The URL on the landing page", () => {
  const forwarded = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "bot.example.com",
    "x-forwarded-prefix": "/hub",
  };

  async function shown(
    options: WebhooksServerOptions,
    headers: Record<string, string>,
  ): Promise<Pick<LandingInfo, "baseUrl" | "basePath">> {
    const infos: LandingInfo[] = [];
    const landingPage = (info: LandingInfo) => {
      infos.push(info);
      return "";
    };
    await createServer({ ...options, landingPage }).request("http://127.0.0.1:7860/", { headers });
    const [{ baseUrl, basePath } = { baseUrl: "none", basePath: "none" }] = infos;
    return { baseUrl, basePath };
  }

  test("is that of the request by default", async () => {
    expect(await shown({}, forwarded)).toEqual({ baseUrl: "http://127.0.0.1:7860", basePath: "" });
    expect(await shown({ basePath: "/hub" }, forwarded)).toEqual({
      baseUrl: "http://127.0.0.1:7860/hub",
      basePath: "/hub",
    });
  });

  test("is that of the proxy with trustProxy", async () => {
    expect(await shown({ trustProxy: true }, forwarded)).toEqual({
      baseUrl: "https://bot.example.com/hub",
      basePath: "/hub",
    });
  });

  test("has the configured base path, even if a trusted proxy sends another one", async () => {
    expect(await shown({ trustProxy: true, basePath: "/team" }, forwarded)).toMatchObject({ basePath: "/team" });
    expect(await shown({ trustProxy: true, basePath: "/" }, forwarded)).toMatchObject({ basePath: "" });
  });

  test.each([
    ["the first of several proxies", "x-forwarded-proto", "https, http", { baseUrl: "https://127.0.0.1:7860" }],
    ["no other scheme than HTTP's", "x-forwarded-proto", "javascript", { baseUrl: "http://127.0.0.1:7860" }],
    ["a host with a port", "x-forwarded-host", "bot.example.com:8443, b", { baseUrl: "http://bot.example.com:8443" }],
    ["an address of IPv6", "x-forwarded-host", "[::1]:8080", { baseUrl: "http://[::1]:8080" }],
    ["no host with a path", "x-forwarded-host", "evil.example/x?", { baseUrl: "http://127.0.0.1:7860" }],
    ["no host with a user", "x-forwarded-host", "me@evil.example", { baseUrl: "http://127.0.0.1:7860" }],
    ["no host with markup", "x-forwarded-host", '"><script>', { baseUrl: "http://127.0.0.1:7860" }],
    ["no port beyond the last", "x-forwarded-host", "bot.example:99999", { baseUrl: "http://127.0.0.1:7860" }],
    ["a prefix with a slash at its end", "x-forwarded-prefix", "/hub/", { basePath: "/hub" }],
    ["no prefix that is an address", "x-forwarded-prefix", "//evil.example", { basePath: "" }],
    ["no prefix that is relative", "x-forwarded-prefix", "hub", { basePath: "" }],
    ["no prefix with markup", "x-forwarded-prefix", '/"><script>', { basePath: "" }],
    ["nothing that is empty", "x-forwarded-prefix", "", { basePath: "", baseUrl: "http://127.0.0.1:7860" }],
  ])("with a trusted proxy uses %s", async (_what, name, value, expected) => {
    expect(await shown({ trustProxy: true }, { [name]: value })).toMatchObject(expected);
  });
});
