import { Hono } from "hono";
import { html } from "hono/html";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LandingPage, NonRetriableError, WebhooksServer } from "../../src/index.ts";
import { deliveryRequest, settled, webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { describeOverBothTransports } from "../support/transport.ts";
import { waitFor } from "../support/wait-for.ts";

const payload = webhookPayload("repo");
const get = (path: string) => new Request(`http://localhost${path}`);

describe("request", () => {
  test("sends a path, a URL or a Request without a socket", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    expect(await (await server.request("/health")).json()).toEqual({ status: "ok" });
    expect(await (await server.request("https://acme.example/health")).json()).toEqual({ status: "ok" });
    expect(await (await server.request(get("/health"))).json()).toEqual({ status: "ok" });
  });

  test("accepts method, headers and body like fetch", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });
    server.webhook("retrain", ({ repo }) => repo.name);
    const headers = { "content-type": "application/json", "x-webhook-secret": "s3cret" };
    const body = JSON.stringify(payload);
    const response = await server.request("/webhooks/retrain", { method: "POST", headers, body });
    expect(await response.json()).toBe("acme/data");
  });
});

describe("receive", () => {
  test("delivers to the only endpoint, without HTTP and without a secret", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });
    server.webhook("retrain", ({ repo }, { request }) => [repo.name, request]);
    expect(await server.receive(payload)).toEqual({ status: "succeeded", result: ["acme/data", undefined] });
  });

  test("delivers to the given endpoint with the given id", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), createId: () => "made-here" });
    server.webhook("other", () => "other");
    server.webhook("retrain", (_payload, { delivery }) => [delivery.endpoint, delivery.id]);
    expect(await server.receive(payload, { endpoint: "retrain", id: "d-1" })).toMatchObject({
      result: ["retrain", "d-1"],
    });
    expect(await server.receive(payload, { endpoint: "retrain" })).toMatchObject({ result: ["retrain", "made-here"] });
  });

  test("returns the outcome of an ignored and of a failed delivery", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const thrown = new Error("no GPU is free");
    server.webhook("retrain", { action: "update" }, () => {
      throw thrown;
    });
    expect(await server.receive(webhookPayload("repo", { event: { action: "delete" } }))).toEqual({
      status: "ignored",
      reason: "action delete is not update",
    });
    expect(await server.receive(payload)).toMatchObject({
      status: "failed",
      error: { code: "HANDLER_FAILED", cause: thrown },
    });
  });

  test("passes the payload as it would be after JSON", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", (received) => received);
    const sent = { ...payload, at: new Date(0), left: undefined };
    const outcome = await server.receive(sent);
    expect(outcome).toEqual({ status: "succeeded", result: { ...payload, at: "1970-01-01T00:00:00.000Z" } });
  });

  test("delivers an empty body for an undefined payload", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("any", { schema: null }, (_payload, { delivery }) => delivery.body);
    expect(await server.receive(undefined)).toEqual({ status: "succeeded", result: "" });
  });

  test("returns a failure if the handler returns an error Response, as for a request", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("busy", () => new Response("later", { status: 503 }));
    expect(await server.receive(webhookPayload("repo"))).toMatchObject({
      status: "failed",
      error: { code: "HANDLER_FAILED", message: expect.stringContaining("503") },
    });
  });

  test.each([
    ["no endpoint", [], {}, "ENDPOINT_REQUIRED", /./],
    ["several endpoints", ["a", "b"], {}, "ENDPOINT_REQUIRED", /endpoint: "a"/],
    ["an unknown endpoint", ["a", "b"], { endpoint: "c" }, "ENDPOINT_UNKNOWN", /"c"\. Valid endpoints: a, b\.$/],
    ["none of any name", [], { endpoint: "c" }, "ENDPOINT_UNKNOWN", /no endpoints/],
  ])("rejects a call with %s", async (_what, names, options, code, message) => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    for (const name of names) server.webhook(name, () => {});
    await expect(server.receive(payload, options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("rejects an invalid payload with the invalid paths", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const handler = vi.fn();
    server.webhook("retrain", handler);
    await expect(server.receive({ event: {} })).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(handler).not.toHaveBeenCalled();
  });
});

describeOverBothTransports("The other paths of a server", (send) => {
  test("include GET /health, which needs no secret", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });
    const response = await send(server, get("/health"));
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  test.each(["/nothing", "/health/more", "/webhook/retrain", "/webhooksretrain"])(
    "are answered with 404 as JSON if they do not exist: %s",
    async (path) => {
      const server = new WebhooksServer({ logger: createMemoryLogger() });
      const response = await send(server, get(path));
      expect([response.status, response.headers.get("content-type"), await response.json()]).toEqual([
        404,
        "application/json",
        { error: "No page or route matches this path. Check the URL.", code: "NOT_FOUND" },
      ]);
    },
  );

  test("are answered with 500 if your own route throws, and the error is only logged", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    const thrown = new Error("planted-message");
    server.app.get("/broken", () => {
      throw thrown;
    });
    const response = await send(server, get("/broken"));
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: "An internal error occurred. See the server's log.", code: "INTERNAL" },
    ]);
    expect(logger.lines).toContainEqual({ level: "error", msg: "A page or a custom route failed.", err: thrown });
  });
});

describe("The landing page", () => {
  async function landing(landingPage?: LandingPage, path = "/") {
    const server = new WebhooksServer({
      logger: createMemoryLogger(),
      secret: "s3cret",
      ...(landingPage !== undefined && { landingPage }),
    });
    server.webhook("retrain", { scope: "repo.content" }, () => {});
    const response = await server.request(path);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  }
  const page = (text: string) => ({ status: 200, type: "text/html; charset=UTF-8", text });

  test("lists the endpoints by default", async () => {
    expect(await landing()).toEqual({
      status: 200,
      type: "text/html; charset=utf-8",
      text: expect.stringContaining("/webhooks/retrain"),
    });
  });

  test("may be a Hono app with several pages", async () => {
    const app = new Hono()
      .get("/", (context) => context.html("<h1>Mine</h1>"))
      .get("/more", (context) => context.text("more"));
    expect(await landing(app)).toEqual(page("<h1>Mine</h1>"));
    expect(await landing(app, "/more")).toMatchObject({ status: 200, text: "more" });
  });

  const values: readonly [string, LandingPage][] = [
    ["HTML", "<h1>retrain</h1>"],
    ["a function", ({ endpoints }) => `<h1>${endpoints.map(({ name }) => name)}</h1>`],
    ["an asynchronous function", async ({ endpoints }) => `<h1>${endpoints.map(({ name }) => name)}</h1>`],
    ["a function that uses Hono's html", ({ endpoints }) => html`<h1>${endpoints.map(({ name }) => name)}</h1>`],
  ];
  test.each(values)("may be %s", async (_what, landingPage) => {
    expect(await landing(landingPage)).toEqual(page("<h1>retrain</h1>"));
  });

  test("may be a function that returns a Response", async () => {
    expect(await landing(() => new Response("mine", { status: 203 }))).toMatchObject({ status: 203, text: "mine" });
    expect(await landing(async () => Response.json({ mine: true }))).toMatchObject({
      status: 200,
      text: '{"mine":true}',
    });
  });

  test("can be disabled, and has no assets if it is not the built-in page", async () => {
    expect(await landing(false)).toMatchObject({ status: 404, type: "application/json" });
    expect(await landing("<h1>Mine</h1>", "/_landing/styles.css")).toMatchObject({ status: 404 });
    expect(await landing(undefined, "/_landing/unknown.css")).toMatchObject({ status: 404 });
  });

  test("that fails is answered with 500, and the server keeps running", async () => {
    const failing = () => {
      throw new Error("planted-message");
    };
    const { status, text } = await landing(failing);
    expect([status, JSON.parse(text).code]).toEqual([500, "INTERNAL"]);
    expect(await landing(failing, "/health")).toMatchObject({ status: 200 });
  });
});

describe("The landing info", () => {
  async function openPage({ secret = "", path = "/" } = {}) {
    const infos: unknown[] = [];
    const server = new WebhooksServer({
      logger: createMemoryLogger(),
      secret: secret || false,
      now: () => Date.UTC(2026, 8, 1),
      landingPage: (info) => {
        infos.push(info);
        return "";
      },
    });
    server.webhook("retrain", { scope: ["repo.content", "repo.config"], action: "update" }, ({ event }) => {
      if (event.scope === "repo.config") throw new Error("failed");
    });
    const deliver = async (payload: unknown) => server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
    await server.request(path);
    return { server, infos, deliver };
  }

  test("contains the endpoints with their URLs, and the server", async () => {
    const { infos } = await openPage();
    expect(infos).toEqual([
      {
        endpoints: [
          {
            name: "retrain",
            url: "http://localhost/webhooks/retrain",
            method: "POST",
            background: false,
            scopes: ["repo.content", "repo.config"],
            registration: "unknown",
            deliveries: 0,
            lastDay: 0,
          },
        ],
        secretIsSet: false,
        baseUrl: "http://localhost",
        basePath: "",
        startedAt: "2026-09-01T00:00:00.000Z",
        activity: {
          hours: [{ startedAt: "2026-09-01T00:00:00.000Z", succeeded: 0, ignored: 0, retrying: 0, failed: 0 }],
        },
      },
    ]);
  });

  test("contains the outcome of the last delivery, and the count", async () => {
    const { server, infos, deliver } = await openPage();
    const at = "2026-09-01T00:00:00.000Z";
    const outcomes = [];
    for (const sent of [webhookPayload("repo.content"), webhookPayload("repo.config"), webhookPayload("repo")]) {
      await deliver(sent);
      await server.request("/");
      outcomes.push(infos.at(-1));
    }
    expect(outcomes).toMatchObject(
      ["succeeded", "failed", "ignored"].map((outcome, index) => ({
        endpoints: [{ deliveries: index + 1, last: { outcome, at } }],
      })),
    );
  });

  test("contains whether a secret is set, and not the secret", async () => {
    const { infos } = await openPage({ secret: "s3cret" });
    expect(infos).toMatchObject([{ secretIsSet: true }]);
    expect(JSON.stringify(infos)).not.toContain("s3cret");
  });

  test.each([
    ["light", { theme: "light" }],
    ["dark", { theme: "dark" }],
    ["purple", {}],
  ])("contains the theme that the Hub requests, if it is valid: %s", async (theme, expected) => {
    const { infos } = await openPage({ path: `/?__theme=${theme}` });
    expect(infos).toEqual([expect.objectContaining(expected)]);
    expect(Object.keys(Object(infos[0])).includes("theme")).toBe("theme" in expected);
  });
});

describe("The helpers for tests", () => {
  const payload = webhookPayload("repo.content");
  const background = { background: true, backoff: { first: 1 } } as const;

  let server: WebhooksServer;

  beforeEach(() => {
    server = new WebhooksServer({ secret: "s3cret", inbox: "sqlite::memory:", logger: createMemoryLogger() });
    onTestFinished(() => server.close());
  });

  async function deliver(endpoint: string, id: string): Promise<void> {
    const response = await server.fetch(deliveryRequest({ endpoint, payload, secret: "s3cret", id }));
    expect(response.status).toBe(202);
  }

  describe("settled(server)", () => {
    test("resolves when every delivery has succeeded or is dead, retries included", async () => {
      const retrain = vi.fn(async () => {}).mockRejectedValueOnce(new Error("no GPU is free"));
      server.webhook("retrain", background, retrain);
      server.webhook("review", background, async () => {
        throw new NonRetriableError("There is no card.");
      });
      await deliver("retrain", "first");
      await deliver("review", "second");
      await settled(server);
      expect(retrain).toHaveBeenCalledTimes(2);
      expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" });
      expect(await server.inbox.get("second")).toMatchObject({ status: "dead" });
    });

    test("resolves immediately without deliveries", async () => {
      server.webhook("retrain", background, () => {});
      expect(await settled(server, { timeout: 1 })).toBeUndefined();
    });

    test("rejects after the timeout with the queued and running deliveries", async () => {
      const end = Promise.withResolvers<void>();
      server.webhook("retrain", { ...background, concurrency: 1 }, () => end.promise);
      server.webhook("review", background, () => {});
      for (const [id, queued] of [
        ["first", 0],
        ["second", 1],
      ] as const) {
        await deliver("retrain", id);
        await waitFor(async () => expect((await server.inbox.counts()).retrain).toMatchObject({ queued, running: 1 }));
        await expect(settled(server, { timeout: 10 })).rejects.toMatchObject({
          code: "NOT_SETTLED",
          message: expect.stringContaining(`retrain (${queued} queued, 1 running)`),
        });
      }
      await settled(server, { endpoint: "review" });
      end.resolve();
      await settled(server, { endpoint: "retrain" });
    });

    test("rejects an unknown endpoint", async () => {
      server.webhook("retrain", background, () => {});
      await expect(settled(server, { endpoint: "retrian" })).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN" });
    });

    test("rejects with the reason of its signal", async () => {
      const end = Promise.withResolvers<void>();
      server.webhook("retrain", background, () => end.promise);
      await deliver("retrain", "first");
      const controller = new AbortController();
      const reason = new Error("the test is over");
      const waiting = expect(settled(server, { signal: controller.signal })).rejects.toBe(reason);
      controller.abort(reason);
      await waiting;
      end.resolve();
    });
  });
});
