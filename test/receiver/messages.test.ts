import { Hono } from "hono";
import { beforeEach, expect, test, vi } from "vitest";
import { RetryAfterError, WebhooksServer, type WebhooksServerOptions } from "../../src/index.ts";
import { createNodeLogger } from "../../src/receiver/node/node-logger.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { errorsOf } from "../support/error-messages.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

/*
 * The snapshot contains the wording of the receiver's errors. After a change, run vitest with `-u` and review the diff.
 * Other tests assert codes.
 */

const payload = webhookPayload("repo.content");

beforeEach(() => {
  for (const name of ["WEBHOOK_SECRET", "CONSOLE_TOKEN", "INBOX_URL", "PORT", "HOST", "PUBLIC_URL", "TUNNEL"]) {
    vi.stubEnv(name, undefined);
  }
});

function createServer(options: WebhooksServerOptions = {}): WebhooksServer {
  return new WebhooksServer({ secret: "s3cret", logger: createMemoryLogger(), ...options });
}

/** Passes options that the types forbid, as JavaScript code can. */
function untyped(options: object): WebhooksServerOptions {
  return Object.assign({}, options);
}

test("Invalid options of the server", async () => {
  const create = (options: object) => () => createServer(untyped(options));
  expect(
    await errorsOf({
      "empty secret": create({ secret: "" }),
      "secret that is not a string": create({ secret: 7 }),
      "short console token": create({ consoleToken: "1234" }),
      "console token that is not a string": create({ consoleToken: 7 }),
      "body limit": create({ bodyLimit: -1 }),
      "base path": create({ basePath: "api" }),
      app: create({ app: {} }),
      "unknown option": create({ basepath: "/hub" }),
    }),
  ).toMatchSnapshot();
});

test("Invalid endpoints", async () => {
  const define = (name: string, options: object) => () =>
    createServer().webhook(name, Object.assign({}, options), () => {});
  const exists = createServer();
  exists.webhook("retrain", () => {});
  const started = createServer();
  const background = createServer({ inbox: "sqlite::memory:" });
  background.webhook("retrain", { background: true }, () => {});
  expect(
    await errorsOf({
      "name missing": () => createServer().webhook(() => {}),
      "name with invalid characters": define("re train", {}),
      "no handler": () => Reflect.apply(exists.webhook, undefined, ["retrain", { scope: "repo" }, undefined]),
      "decorator of a class": () =>
        Reflect.apply(exists.webhook(), undefined, [
          () => {},
          { kind: "class", name: "Bot", addInitializer: () => {} },
        ]),
      "legacy decorator": () => Reflect.apply(exists.webhook(), undefined, [{}, "onChange", {}]),
      "existing endpoint": () => exists.webhook("retrain", () => {}),
      "unknown option": define("retrain", { retrys: 3 }),
      "attempts without background": define("retrain", { attempts: 3 }),
      attempts: define("retrain", { background: true, attempts: 0 }),
      concurrency: define("retrain", { background: true, concurrency: 0 }),
      backoff: define("retrain", { background: true, backoff: { first: "soon" } }),
      repository: define("retrain", { repo: "acme" }),
      "middleware after the server": () => started.app.use(() => Promise.resolve()),
      "base path of the server": () => createServer({ basePath: "/webhooks" }),
      "app with a prefix of its own": () => createServer({ app: new Hono().basePath("/api"), basePath: "/api" }),
      "app of another server": () => createServer({ app: started.app }),
      "no endpoint to receive": () => createServer().receive(payload),
      "unknown endpoint to receive": () => exists.receive(payload, { endpoint: "retrian" }),
      "unknown delivery to replay": () => background.inbox.replay("d1"),
    }),
  ).toMatchSnapshot();
});

test("Invalid options of launch", async () => {
  const launch = (options: object) => async () => {
    await using server = createServer();
    await server.launch({ host: "127.0.0.1", port: 0, ...options });
  };
  expect(
    await errorsOf({
      port: launch({ port: 65_536 }),
      timeout: launch({ timeouts: { headers: "soon" } }),
      tunnel: () => {
        vi.stubEnv("TUNNEL", "cloudflare");
        return launch({})().finally(() => vi.stubEnv("TUNNEL", undefined));
      },
      "log level": () => {
        vi.stubEnv("LOG_LEVEL", "verbose");
        createNodeLogger();
      },
      "public URL": launch({ publicUrl: "nowhere" }),
      "shutdown grace": launch({ shutdownGrace: -1 }),
      host: launch({ host: "192.0.2.1", port: 7861 }),
    }),
  ).toMatchSnapshot();
});

// The tests of the checks contain the other answers.
test("Answers to deliveries", async () => {
  const server = createServer();
  server.webhook("fails", () => {
    throw new Error("no GPU");
  });
  const answerTo = async (sent: unknown) => {
    const response = await server.fetch(deliveryRequest({ endpoint: "fails", payload: sent, secret: "s3cret" }));
    return `${response.status} ${await response.text()}`;
  };
  expect({
    "handler that throws": await answerTo(payload),
    "payload without fields": await answerTo({}),
    "payload with invalid fields": await answerTo({ ...payload, event: { action: 1 }, repo: 2 }),
  }).toMatchSnapshot();
});

test("Invalid results of handlers", async () => {
  expect(await errorsOf({ "negative time in RetryAfterError": () => new RetryAfterError(-1) })).toMatchSnapshot();
});
