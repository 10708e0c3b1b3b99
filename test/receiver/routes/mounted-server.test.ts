import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, serve } from "@hono/node-server";
import express, { type Express } from "express";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { RawSocket, requestBytes } from "../../support/raw-socket.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "s3cret";

function createReceiver(options: WebhooksServerOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({
    secret,
    logger,
    inbox: "sqlite::memory:",
    consoleToken: "t0ken-of-the-owner",
    ...options,
  });
  server.webhook("acme/echo", { schema: null }, (_payload, { delivery }) => ({ length: delivery.body.length }));
  server.webhook("background", { background: true }, () => {});
  onTestFinished(() => server.close());
  return { server, logger };
}

/** A framework that forwards requests below a prefix to a receiver. */
interface Mount {
  /** The prefix in the client's URL. */
  prefix: string;
  options: WebhooksServerOptions;
  /** Returns a function that sends a request to an absolute URL. */
  open: (server: WebhooksServer) => Promise<(url: string, init?: RequestInit) => Promise<Response>>;
}

const overSocket = async (listening: Server | Express) => {
  const server = typeof listening === "function" ? createServer(listening) : listening;
  const { url: base } = await listen(server);
  return (url: string, init?: RequestInit) => fetch(url.replace("http://localhost", base), init);
};

const overHono = (parent: Hono) => {
  const server = serve({ fetch: parent.fetch, port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return new Promise<(url: string, init?: RequestInit) => Promise<Response>>((resolve) => {
    server.once("listening", () => {
      const { port }: AddressInfo = Object(server.address());
      resolve((url, init) => fetch(url.replace("http://localhost", `http://127.0.0.1:${port}`), init));
    });
  });
};

const inMemory =
  (answer: (request: Request) => Response | Promise<Response>) => async (url: string, init?: RequestInit) =>
    answer(new Request(url, init));

const mounts: Record<string, Mount> = {
  "parent.route(), over a socket": {
    prefix: "/hub",
    options: {},
    open: (server) => overHono(new Hono().route("/hub", server.app)),
  },
  "parent.route() below a parameter, in memory": {
    prefix: "/tenants/acme/hub",
    options: {},
    open: async (server) => inMemory(new Hono().route("/tenants/:tenant/hub", server.app).fetch),
  },
  "parent.mount(), over a socket": {
    prefix: "/hub",
    options: { basePath: "/hub" },
    open: (server) => overHono(new Hono().mount("/hub", server.fetch)),
  },
  "Express, over a socket": {
    prefix: "/hub",
    options: { basePath: "/hub" },
    open: (server) => overSocket(express().use("/hub", getRequestListener(server.fetch))),
  },
  "Express, behind a trusted proxy that sends the prefix": {
    prefix: "/hub",
    options: { trustProxy: true },
    open: async (server) => {
      const send = await overSocket(express().use("/hub", getRequestListener(server.fetch)));
      const forwarded = { "x-forwarded-prefix": "/hub", "x-forwarded-host": "localhost" };
      return (url, init) =>
        send(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...forwarded } });
    },
  },
  "a route handler of Next.js": {
    prefix: "/api",
    options: { basePath: "/api" },
    open: async (server) => inMemory((request: Request) => server.fetch(request)),
  },
  "a proxy in front of the launched server that keeps the prefix": {
    prefix: "/hub",
    options: { basePath: "/hub" },
    open: async (server) => {
      const { url: launched } = await server.launch({ port: 0, host: "127.0.0.1" });
      return (url, init) => fetch(url.replace("http://localhost", launched), init);
    },
  },
};

/** Creates a delivery with a body of this length. */
function delivery(length = 20): RequestInit {
  const { headers } = deliveryRequest({ endpoint: "acme/echo", payload: webhookPayload("repo"), secret });
  return { method: "POST", headers, body: JSON.stringify({ text: "x".repeat(length - 11) }) };
}

const owner = { headers: { authorization: `Basic ${btoa("me:t0ken-of-the-owner")}` } };

describe.each(Object.entries(mounts))("Mounted by %s", (_name, { prefix, options, open }) => {
  test.each([20, 500_000])("a delivery of %i bytes is handled", async (length) => {
    const send = await open(createReceiver(options).server);
    const response = await send(`http://localhost${prefix}/webhooks/acme/echo`, delivery(length));
    expect([response.status, await response.json()]).toEqual([200, { length }]);
  });

  test("a delivery with a wrong secret or too large a body is refused, as without a mount", async () => {
    const send = await open(createReceiver({ ...options, bodyLimit: 100 }).server);
    const url = `http://localhost${prefix}/webhooks/acme/echo`;
    const guessed = await send(url, { ...delivery(), headers: { "x-webhook-secret": "wrong" } });
    expect([guessed.status, await guessed.json()]).toMatchObject([403, { code: "SECRET_INVALID" }]);
    const large = await send(url, delivery(101));
    expect([large.status, await large.json()]).toMatchObject([413, { code: "BODY_TOO_LARGE" }]);
  });

  test("the landing page shows working URLs, links and assets", async () => {
    const send = await open(createReceiver(options).server);
    const response = await send(`http://localhost${prefix}`);
    const page = await response.text();
    expect(response.status).toBe(200);
    const [, copyable = ""] = /<code id="url-0">(.*?)<\/code>/.exec(page) ?? [];
    const url = new URL(copyable.replaceAll(/<[^>]*>/g, ""));
    expect(url.pathname).toBe(`${prefix}/webhooks/acme/echo`);
    expect((await send(`http://localhost${url.pathname}`, delivery())).status).toBe(200);
    const addresses = [...page.matchAll(/(?:href|src)="([^"#:]+)"/g)].map(([, address = ""]) => address);
    const targets = new Set(addresses.map((address) => new URL(address, `http://localhost${prefix}`).href));
    expect([...targets]).toContain(`http://localhost${prefix}/_console/`);
    expect(targets.size).toBe(4);
    for (const target of targets) expect([target, (await send(target)).status]).toEqual([target, 200]);
  });

  test("the console signs in, has working assets, and replays deliveries", async () => {
    const { server } = createReceiver(options);
    const send = await open(server);
    await send(`http://localhost${prefix}/webhooks/background`, {
      method: "POST",
      headers: deliveryRequest({ endpoint: "background", payload: null, id: "d-1", secret }).headers,
      body: JSON.stringify(webhookPayload("repo")),
    });
    await waitFor(async () => expect(await server.inbox.get("d-1")).toMatchObject({ status: "succeeded" }));

    const without = `http://localhost${prefix}/_console`;
    const moved = await send(without, { redirect: "manual" });
    const { href: base, pathname } = new URL(moved.headers.get("location") ?? "", without);
    expect([moved.status, pathname]).toEqual([308, `${prefix}/_console/`]);
    const page = await send(base);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const assets = [...(await page.text()).matchAll(/(?:href|src)="([^"#:]+)"/g)].map(([, asset = ""]) => asset);
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) {
      const target = new URL(asset, base).href;
      expect([target, (await send(target)).status]).toEqual([target, 200]);
    }

    const api = (path: string, init?: RequestInit) => send(new URL(`api/${path}`, base).href, init);
    expect((await api("deliveries")).status).toBe(401);
    const json = { "content-type": "application/json" };
    const signedIn = await api("session", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ token: "t0ken-of-the-owner" }),
    });
    const { csrfToken } = await signedIn.json();
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const list = await api("deliveries", { headers: { cookie } });
    expect(await list.json()).toMatchObject({ deliveries: [{ id: "d-1", endpoint: "background" }] });
    const replayed = await api("deliveries/replay", {
      method: "POST",
      headers: { ...json, cookie, "x-csrf-token": csrfToken },
      body: JSON.stringify({ endpoint: "background", id: "d-1" }),
    });
    expect([replayed.status, await replayed.json()]).toEqual([200, { endpoint: "background", id: "d-1" }]);
  });
});

test("Behind a mount that removes an unknown prefix, the links of the landing page are relative to its slash", async () => {
  const { server } = createReceiver();
  const send = await overSocket(express().use("/hub", getRequestListener(server.fetch)));
  const page = await (await send("http://localhost/hub/")).text();
  for (const [, address = ""] of page.matchAll(/(?:href|src)="([^"#:]+)"/g)) {
    const target = new URL(address, "http://localhost/hub/").href;
    expect([target, (await send(target, owner)).status]).toEqual([target, 200]);
  }
});

describe("A body that was read before the receiver", () => {
  const consumed = {
    status: 500,
    body: { code: "BODY_CONSUMED", error: expect.stringContaining("before the body parser") },
  };
  const answerOf = async (response: Response) => ({ status: response.status, body: await response.json() });

  test.each([
    ["express.json()", () => express.json({ limit: "10mb" })],
    ["express.text()", () => express.text({ type: "*/*", limit: "10mb" })],
    ["express.raw()", () => express.raw({ type: "*/*", limit: "10mb" })],
  ])("by %s is refused, and the reason is logged", async (_name, parser) => {
    const { server, logger } = createReceiver();
    const send = await overSocket(express().use(parser()).use("/hub", getRequestListener(server.fetch)));
    // A body in the same packet as the headers, and one in many packets.
    for (const length of [20, 500_000]) {
      const url = "http://localhost/hub/webhooks/acme/echo";
      expect(await answerOf(await send(url, delivery(length)))).toEqual(consumed);
    }
    // In chunks.
    const inChunks = { ...delivery(), body: new Blob(['{"a":', "1}"]).stream(), duplex: "half" };
    expect(await answerOf(await send("http://localhost/hub/webhooks/acme/echo", inChunks))).toEqual(consumed);
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual(
      Array(3).fill(expect.objectContaining({ code: "BODY_CONSUMED", endpoint: "acme/echo", status: 500 })),
    );
  });

  test("by express.json() after the receiver has no effect", async () => {
    const { server } = createReceiver();
    const app = express().use("/hub", getRequestListener(server.fetch)).use(express.json());
    const send = await overSocket(app);
    expect((await send("http://localhost/hub/webhooks/acme/echo", delivery())).status).toBe(200);
  });

  test("and is empty counts as an empty body", async () => {
    const { server } = createReceiver();
    const send = await overSocket(express().use(express.json()).use("/hub", getRequestListener(server.fetch)));
    const url = "http://localhost/hub/webhooks/acme/echo";
    const answer = await answerOf(await send(url, { ...delivery(), body: null }));
    expect(answer).toEqual({ status: 200, body: { length: 0 } });
  });

  test("as a Request is answered with 500, read or only locked", async () => {
    const { server } = createReceiver();
    const request = () => new Request("http://localhost/webhooks/acme/echo", delivery());
    const read = request();
    await read.text();
    const locked = request();
    locked.body?.getReader();
    const iterated = request();
    for await (const _chunk of iterated.body ?? []);
    for (const given of [read, locked, iterated]) expect(await answerOf(await server.fetch(given))).toEqual(consumed);
  });

  test("does not change the 401 to a request without the secret", async () => {
    const { server } = createReceiver();
    const send = await overSocket(express().use(express.json()).use("/hub", getRequestListener(server.fetch)));
    const { body } = delivery();
    const headers = { "content-type": "application/json" };
    const response = await send("http://localhost/hub/webhooks/acme/echo", { method: "POST", headers, body });
    expect(response.status).toBe(401);
  });
});

describe("A parent app", () => {
  test("runs its own middleware, and the one of the mounted app", async () => {
    const seen: string[] = [];
    const note = (who: string) => async (_context: unknown, next: () => Promise<void>) => {
      seen.push(who);
      await next();
    };
    const app = new Hono().use(note("mounted"));
    const { server } = createReceiver({ app });
    const parent = new Hono().use(note("parent")).route("/hub", server.app);
    const response = await parent.request("/hub/webhooks/acme/echo", delivery());
    expect([response.status, seen]).toEqual([200, ["parent", "mounted"]]);
  });

  test("may clone the request and leave the clone unread", async () => {
    const { server } = createReceiver();
    const parent = new Hono().use(async ({ req }, next) => {
      req.raw.clone();
      await next();
    });
    const send = await overHono(parent.route("/hub", server.app));
    const response = await send("http://localhost/hub/webhooks/acme/echo", delivery(500_000));
    expect(await response.json()).toEqual({ length: 500_000 });
  });

  test("routes to endpoints that are registered after the mount", async () => {
    const { server } = createReceiver();
    const parent = new Hono().route("/hub", server.app);
    server.webhook("later", { schema: null }, () => "later");
    expect(await (await parent.request("/hub/webhooks/later", delivery())).json()).toBe("later");
  });
});

describe("A path with dot segments", () => {
  const open: Record<string, (server: WebhooksServer) => Promise<string>> = {
    "of a launched server": async (server) => {
      const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
      return url;
    },
    "of a server behind getRequestListener()": async ({ fetch }) =>
      (await listen(createServer(getRequestListener(fetch)))).url,
    "of a server in parent.route()": async ({ app }) =>
      (await listen(createServer(getRequestListener(new Hono().route("/hub", app).fetch)))).url,
  };

  test.each([
    ["of a launched server", "", {}],
    ["of a launched server", "/hub", { basePath: "/hub" }],
    ["of a server behind getRequestListener()", "/hub", { basePath: "/hub" }],
    ["of a server in parent.route()", "/hub", {}],
  ])("%s at %j matches no route", async (kind, prefix, options) => {
    const { server, logger } = createReceiver({ ...options, secret: false });
    server.app.all("/own", (context) => context.text("reached"));
    const url = (await open[kind]?.(server)) ?? "";
    const socket = await RawSocket.open(url);
    onTestFinished(() => socket.close());
    const steps = ["..", ".%2e", "%2e.", "%2e%2e", "%2E%2E", ".", "%2e"].flatMap((segment) => [
      `/webhooks/${segment}/_console/`,
      `/webhooks/${segment}/health?x=/webhooks/`,
      `/webhooks/${segment}/acme/echo`,
      `/webhooks/acme/${segment}/acme/echo`,
      `/webhooks/${segment}`,
      ...(kind === "of a server in parent.route()" ? [] : [`/webhooks/${segment}/own`]),
    ]);
    for (const path of [...steps.map((step) => `${prefix}${step}`), `${url}${prefix}/webhooks/%2e%2e/health`]) {
      for (const method of ["GET", "POST"]) {
        const body = method === "POST" ? "{}" : "";
        const { status, text } = await socket
          .send(requestBytes({ method, path, headers: { Host: "x" }, body }))
          .answer();
        // A path above the mounted server is answered by its parent.
        expect([status, text.replace("404 Not Found", '"NOT_FOUND"')], `${method} ${path}`).toEqual([
          404,
          expect.stringContaining('"NOT_FOUND"'),
        ]);
      }
    }
    expect(logger.lines.filter(({ reason }) => reason === "Dot segments in the path")).not.toEqual([]);
    const valid = `${prefix}/webhooks/acme/echo`;
    const delivery = {
      path: `${valid}?..=/../`,
      headers: { Host: "x", "Content-Type": "application/json" },
      body: "{}",
    };
    expect((await socket.send(requestBytes(delivery)).answer()).status).toBe(200);
  });
});
