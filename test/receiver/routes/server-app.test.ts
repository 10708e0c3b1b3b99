import { cpSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Handler, Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { requestId } from "hono/request-id";
import { LinearRouter } from "hono/router/linear-router";
import { TrieRouter } from "hono/router/trie-router";
import { secureHeaders } from "hono/secure-headers";
import type { RouterRoute } from "hono/types";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import type { HonoApp } from "../../../src/receiver/app.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { root } from "../../support/project-folder.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const secret = "s3cret";
const payload = webhookPayload("repo.content");
const delivery = (endpoint = "retrain") => deliveryRequest({ endpoint, payload, secret });
const get = (path: string) => new Request(`http://localhost${path}`);
/** Creates a delivery to the endpoint `echo` or another one, with a body of any kind. */
const post = (body: BodyInit, endpoint = "echo") => {
  const headers = { "content-type": "application/json", "x-webhook-secret": secret };
  const init = { method: "POST", headers, body, duplex: "half" };
  return new Request(`http://localhost/webhooks/${endpoint}`, init);
};
const streamOf = (text: string) => new Blob([text]).stream();

function createServer(options: WebhooksServerOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, logger, inbox: "sqlite::memory:", ...options });
  const handled = vi.fn();
  server.webhook("retrain", () => {
    handled();
    return { retrained: true };
  });
  server.webhook("acme/background", { background: true }, () => {});
  return { server, handled, logger };
}

/** Creates an app whose middleware at `path` records its requests. */
function createNotingApp(path = "*") {
  const seen: string[] = [];
  const app = new Hono();
  app.use(path, async ({ req }, next) => {
    seen.push(`${req.method} ${req.path}`);
    await next();
  });
  return { app, seen };
}

describeOverBothTransports("Middleware of the given app", (send) => {
  test.each([
    ["a delivery", delivery, "POST /webhooks/retrain", 200],
    ["a delivery for the background", () => delivery("acme/background"), "POST /webhooks/acme/background", 202],
    ["an unknown endpoint", () => delivery("none"), "POST /webhooks/none", 404],
    ["the landing page", () => get("/"), "GET /", 200],
    ["the health check", () => get("/health"), "GET /health", 200],
    ["the metrics", () => get("/metrics"), "GET /metrics", 401],
    ["the console", () => get("/_console"), "GET /_console", 308],
    ["the API of the console", () => get("/_console/api/deliveries"), "GET /_console/api/deliveries", 401],
    ["a path that does not exist", () => get("/nothing"), "GET /nothing", 404],
  ])("runs for %s", async (_what, request, expected, status) => {
    const { app, seen } = createNotingApp();
    const { server } = createServer({ app, metrics: true, consoleToken: "t0ken-of-the-owner" });
    expect((await send(server, request())).status).toBe(status);
    expect(seen).toEqual([expected]);
    await server.close();
  });

  test("that responds itself prevents the handler and the log line", async () => {
    const app = new Hono();
    app.use("/webhooks/*", (context) => Promise.resolve(context.text("not from here", 403)));
    const { server, handled, logger } = createServer({ app });
    const response = await send(server, delivery());
    expect([response.status, await response.text()]).toEqual([403, "not from here"]);
    expect(handled).not.toHaveBeenCalled();
    expect((await send(server, get("/health"))).status).toBe(200);
    expect(logger.lines).not.toContainEqual(expect.objectContaining({ endpoint: "retrain" }));
  });

  test("of Hono works: headers, request IDs, authentication", async () => {
    const app = new Hono<{ Variables: { requestId: string } }>();
    app.use(secureHeaders(), requestId());
    app.use("/health", bearerAuth({ token: "t0ken" }));
    const { server } = createServer({ app });
    server.webhook("moved", () => Response.redirect("https://example.com/elsewhere"));
    for (const [request, status] of [
      [delivery(), 200],
      [delivery("moved"), 302],
      [get("/"), 200],
      [get("/health"), 401],
    ] as const) {
      const response = await send(server, request);
      expect([response.status, response.headers.get("x-content-type-options")]).toEqual([status, "nosniff"]);
      expect(response.headers.get("x-request-id")).toMatch(/^[\w-]+$/);
    }
  });

  test.each([
    ["text", (request: Request) => request.text()],
    ["json", (request: Request) => request.json()],
    ["arrayBuffer", (request: Request) => request.arrayBuffer()],
    ["clone", (request: Request) => request.clone().text()],
  ] as const)("may read the body first with %s: the handler still receives it", async (how, read) => {
    const app = new Hono();
    app.use("*", async ({ req }, next) => {
      if (how === "clone") await read(req.raw);
      else await req[how]();
      await next();
    });
    const { server } = createServer({ app });
    server.webhook("echo", { schema: null }, (_payload, context) => ({ length: context.delivery.body.length }));
    const body = JSON.stringify("x".repeat(200_000));
    const response = await send(server, post(body));
    expect([response.status, await response.json()]).toEqual([200, { length: body.length }]);
  });

  test("may catch the error of an incomplete body: the delivery is still refused", async () => {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      await req.text().catch(() => {});
      await next();
    });
    const { server } = createServer({ app });
    const body = new ReadableStream({
      start(controller) {
        controller.error(new Error("connection reset"));
      },
    });
    const response = await server.fetch(post(body, "retrain"));
    expect([response.status, (await response.json()).code]).toEqual([400, "BODY_INCOMPLETE"]);
  });

  test("cannot bypass the body limit by reading the body first", async () => {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      await req.text();
      await next();
    });
    const { server, handled } = createServer({ app, bodyLimit: 10 });
    expect((await send(server, post(streamOf("\u2603".repeat(4)), "retrain"))).status).toBe(413);
    expect(handled).not.toHaveBeenCalled();
  });
});

describeOverBothTransports("The given app", (send) => {
  test("keeps its responses for errors and unknown paths", async () => {
    const app = new Hono();
    app.onError((error, context) => context.text(`mine: ${error.message}`, 503));
    app.notFound((context) => context.text("mine: nothing", 410));
    const { server } = createServer({ app, landingPage: failing });
    server.app.get("/broken", failing);
    for (const [path, status, text] of [
      ["/broken", 503, "mine: planted"],
      ["/", 503, "mine: planted"],
      ["/nothing", 410, "mine: nothing"],
    ] as const) {
      const response = await send(server, get(path));
      expect([response.status, await response.text()]).toEqual([status, text]);
    }
    expect((await send(server, delivery("none"))).status).toBe(404);
  });

  test("keeps its routes, which take precedence over the built-in ones", async () => {
    const app = new Hono();
    app.get("/", (context) => context.text("my page"));
    app.post("/webhooks/:name", (context) => context.text(`mine: ${context.req.param("name")}`));
    const { server, handled } = createServer({ app });
    expect(await (await send(server, get("/"))).text()).toBe("my page");
    expect(await (await send(server, delivery())).text()).toBe("mine: retrain");
    expect(handled).not.toHaveBeenCalled();
    expect((await send(server, get("/health"))).status).toBe(200);
  });

  test("can add routes and endpoints after it was passed to a server", async () => {
    const { app, seen } = createNotingApp("/webhooks/*");
    const { server } = createServer({ app });
    app.get("/mine", (context) => context.text("mine"));
    server.app.route(
      "/nested",
      new Hono().get("/", (context) => context.text("nested")),
    );
    server.webhook("later", () => "later");
    expect(server.app).toBe(app);
    expect(await (await send(server, get("/mine"))).text()).toBe("mine");
    expect(await (await send(server, get("/nested"))).text()).toBe("nested");
    expect(await (await send(server, delivery("later"))).json()).toBe("later");
    expect(seen).toEqual(["POST /webhooks/later"]);
  });

  test("may have a base path of Hono", async () => {
    const app = new Hono().basePath("/api");
    app.use("*", async (context, next) => {
      await next();
      context.header("x-seen", context.req.path);
    });
    const { server } = createServer({ app });
    const { url, method, headers, body } = delivery();
    const prefixed = new Request(url.replace("/webhooks", "/api/webhooks"), {
      method,
      headers,
      body,
      ...{ duplex: "half" },
    });
    const response = await send(server, prefixed);
    expect([response.status, response.headers.get("x-seen")]).toEqual([200, "/api/webhooks/retrain"]);
    expect((await send(server, delivery())).status).toBe(404);
    expect(await (await send(server, get("/api"))).text()).toContain('href="/api/health"');
  });

  test.each([
    ["finds its paths in another way", () => new Hono({ getPath: ({ headers }) => headers.get("x-path") ?? "/" })],
    ["has another router", () => new Hono({ router: new LinearRouter() })],
    ["is not strict about slashes", () => new Hono({ strict: false })],
  ])("has its middleware run where it %s", async (_what, create) => {
    const app = create();
    const seen = vi.fn();
    app.use("*", async (_context, next) => {
      seen();
      await next();
    });
    const { server } = createServer({ app });
    await send(server, delivery());
    expect(seen).toHaveBeenCalledOnce();
  });

  test("with a custom getPath decides which endpoint receives a delivery", async () => {
    const app = new Hono({ getPath: (request) => (request.headers.has("webhook-id") ? "/elsewhere" : "/") });
    app.post("/elsewhere", (context) => context.text("elsewhere"));
    const { server, handled } = createServer({ app });
    expect(await (await send(server, delivery())).text()).toBe("elsewhere");
    expect(handled).not.toHaveBeenCalled();
  });

  test("with a custom router decides where its middleware runs", async () => {
    class LenientRouter extends TrieRouter<[Handler, RouterRoute]> {
      override match(method: string, path: string) {
        return super.match(method, path.toLowerCase());
      }
    }
    const app = new Hono({ router: new LenientRouter() });
    app.use("/webhooks/retrain", (context) => Promise.resolve(context.text("not from here", 403)));
    const { server, handled } = createServer({ app });
    server.webhook("RETRAIN", () => handled());
    expect((await send(server, delivery("RETRAIN"))).status).toBe(403);
    expect(handled).not.toHaveBeenCalled();
  });
});

test("The given app may be an instance of another copy of Hono", async () => {
  const folder = createFolder();
  const isNeeded = (path: string) => !/\/dist\/(?:cjs|types)$/.test(path);
  cpSync(join(root, "node_modules/hono"), folder, { recursive: true, filter: isNeeded });
  const { Hono: OtherHono }: typeof import("hono") = await import(pathToFileURL(join(folder, "dist/index.js")).href);
  const app = new OtherHono();
  expect(app).not.toBeInstanceOf(Hono);
  const seen = vi.fn();
  app.use("*", async (_context, next) => {
    seen();
    await next();
  });
  const { server } = createServer({ app });
  expect(await (await server.fetch(delivery())).json()).toEqual({ retrained: true });
  expect((await server.fetch(get("/"))).status).toBe(200);
  const parent = new OtherHono().route("/hub", server.app);
  expect((await parent.fetch(delivery("none"))).status).toBe(404);
  expect((await parent.request("/hub/health")).status).toBe(200);
  expect(seen).toHaveBeenCalledTimes(3);
});

describe("Without middleware", () => {
  /** Launches a server and returns the paths of the deliveries that Hono routed. */
  async function routedPaths(app: Hono, endpoints: readonly string[]): Promise<string[]> {
    const { server } = createServer({ app });
    const routed: string[] = [];
    const { fetch: route } = app;
    app.fetch = (request, ...rest) => {
      routed.push(new URL(request.url).pathname);
      return route(request, ...rest);
    };
    server.webhook("other", () => {});
    const { url: baseUrl } = await server.launch({ port: 0, host: "127.0.0.1" });
    for (const endpoint of endpoints) await fetch(deliveryRequest({ endpoint, payload, secret, baseUrl }));
    await server.close();
    return routed;
  }

  test("a delivery over a socket skips Hono", async () => {
    expect(await routedPaths(new Hono(), ["retrain", "acme/background"])).toEqual([]);
  });

  test("a delivery skips Hono if the middleware is for other paths", async () => {
    const { app, seen } = createNotingApp("/webhooks/retrain");
    app.use("/health", async (_context, next) => next());
    app.get("*", async (_context, next) => next());
    expect(await routedPaths(app, ["retrain", "other"])).toEqual(["/webhooks/retrain"]);
    expect(seen).toEqual(["POST /webhooks/retrain"]);
  });

  test("routes that are added later do not change this, because they follow the built-in ones", async () => {
    const { server } = createServer();
    server.app.all("*", (context) => context.text("never reached"));
    await using launched = server;
    const { url: baseUrl } = await launched.launch({ port: 0, host: "127.0.0.1" });
    const response = await fetch(deliveryRequest({ endpoint: "retrain", payload, secret, baseUrl }));
    expect(await response.json()).toEqual({ retrained: true });
  });
});

describe("Middleware that is added too late", () => {
  const middleware = async (_context: unknown, next: () => Promise<void>) => next();

  test.each([
    ["for every path", (app: Hono) => app.use(middleware)],
    ["for the endpoints", (app: Hono) => app.use("/webhooks/*", middleware)],
    ["for a custom path", (app: Hono) => app.use("/admin/*", middleware)],
  ])("is refused with the remedy: %s", (_what, use) => {
    for (const app of [undefined, new Hono()]) {
      const { server } = createServer({ ...(app && { app }) });
      expect(() => use(server.app)).toThrow(expect.objectContaining({ code: "MIDDLEWARE_TOO_LATE" }));
    }
  });
});

describe("The option app", () => {
  test.each([
    ["no object", "app"],
    ["no Hono app", { fetch: () => new Response(), routes: [] }],
    ["a server", new WebhooksServer({ logger: createMemoryLogger() })],
  ])("is refused where it is %s", (_what, app) => {
    const options: object = { app };
    expect(() => new WebhooksServer(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  test("can be passed again after another option was refused", async () => {
    const app = new Hono();
    expect(() => createServer({ app, basePath: "/api", secret: "" })).toThrow(/"secret"/);
    const { server } = createServer({ app, basePath: "/api" });
    expect((await server.fetch(delivery())).status).toBe(200);
  });

  test("is refused if it has already answered a request, because Hono then accepts no routes", async () => {
    const app = new Hono();
    await app.request("/");
    expect(() => createServer({ app })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining("first request") }),
    );
  });

  test("accepts the type of an app with its own variables and bindings", () => {
    const app: HonoApp = new Hono<{ Variables: { user: string }; Bindings: { KEY: string } }>().basePath("/api");
    expect(app.routes).toEqual([]);
  });
});

function failing(): never {
  throw new Error("planted");
}

describe("Error pages", () => {
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

  describe("A browser", () => {
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
      const ask = (path: string, init: RequestInit) => server.fetch(new Request(`http://127.0.0.1${path}`, init));
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
    const request = new Request("http://localhost/webhooks/retrain", {
      method: "POST",
      body: "{",
      headers: { accept },
    });
    const response = await openServer().fetch(request);
    expect(response.headers.get("content-type")).toBe("application/json");
  });
});
