import { beforeEach, describe, expect, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";

const planted = "Planted-5ecret-ab";
const names = [
  ...["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS", "CONSOLE_TOKEN", "HF_TOKEN"],
  ...["HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
];

beforeEach(() => {
  for (const name of names) vi.stubEnv(name, undefined);
});

/** Creates a server whose handler logs the planted secret, and a function that returns its log after a delivery. */
function createServer(options: WebhooksServerOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ ...options, logger });
  server.webhook("retrain", (_payload, { log }) => log.info(`It is ${planted}.`));
  const logged = async (secret?: string, bindings?: object) => {
    const request = deliveryRequest({
      endpoint: "retrain",
      payload: webhookPayload("repo"),
      ...(secret && { secret }),
    });
    expect((await server.fetch(request, bindings)).status).toBe(200);
    return logger.lines.find(({ deliveryId, msg }) => deliveryId && msg.startsWith("It is"))?.msg;
  };
  return { server, logged };
}

describe("A server redacts", () => {
  test("nothing without a secret", async () => {
    expect(await createServer().logged()).toBe(`It is ${planted}.`);
  });

  test.each<[string, WebhooksServerOptions, string?]>([
    ["its secret", { secret: planted }, planted],
    ["each of several secrets", { secret: ["s3cret-of-today", planted] }, planted],
    ["its console token", { consoleToken: planted }],
    ["the password of its inbox", { inbox: `redis://:${planted}@localhost` }],
  ])("is %s", async (_what, options, secret) => {
    expect(await createServer(options).logged(secret)).toBe("It is [redacted].");
  });

  test.each(names)("%s of the environment, even if an option overrides it", async (name) => {
    vi.stubEnv(name, planted);
    expect(await createServer({ secret: "s3cret" }).logged("s3cret")).toBe("It is [redacted].");
  });

  test("the password in INBOX_URL", async () => {
    vi.stubEnv("INBOX_URL", `postgres://me:${planted}@localhost/db`);
    expect(await createServer().logged()).toBe("It is [redacted].");
  });

  test("a variable that was set between creation and start", async () => {
    const { server, logged } = createServer();
    vi.stubEnv("HF_TOKEN", planted);
    await server.ready();
    expect(await logged()).toBe("It is [redacted].");
  });

  test.each(names)("the binding %s of a worker", async (name) => {
    const { logged } = createServer({ secret: "s3cret" });
    expect(await logged("s3cret", { [name]: planted })).toBe("It is [redacted].");
  });

  test("a session secret of a tool", async () => {
    const { server, logged } = createServer();
    server[serverControl].useSecret(planted, "replace");
    expect(await logged(planted)).toBe("It is [redacted].");
  });
});

describe("A secret that is too short to be redacted", () => {
  const short = "s3cret7";
  const warnings = (lines: readonly LogLine[]) => lines.filter(({ code }) => code === "SECRET_TOO_SHORT");

  test.each<[string, WebhooksServerOptions, Record<string, string>]>([
    ["`secret`", { secret: [planted, short] }, {}],
    ["the password in `inbox`", { inbox: `redis://:${short}@localhost` }, {}],
    ["the password in INBOX_URL", {}, { INBOX_URL: `redis://:${short}@localhost` }],
    ...names.map((name): [string, WebhooksServerOptions, Record<string, string>] => [name, {}, { [name]: short }]),
  ])("is named in one warning: %s", async (name, options, environment) => {
    for (const [variable, value] of Object.entries(environment)) vi.stubEnv(variable, value);
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ ...options, logger });
    await server.fetch(new Request("http://localhost/health"));
    await server.fetch(new Request("http://localhost/health"));
    expect(warnings(logger.lines)).toMatchObject([{ level: "warn", msg: expect.stringContaining(`: ${name}.`) }]);
    expect(logger.text()).not.toContain(short);
  });

  test("does not include secrets of eight characters or unset ones", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ secret: "12345678", logger });
    await server.fetch(new Request("http://localhost/health"), { HF_TOKEN: "" });
    expect(warnings(logger.lines)).toEqual([]);
  });
});

test("The console logger of a server that is not started redacts secrets", async () => {
  vi.stubEnv("LOG_LEVEL", "info");
  const written = vi.spyOn(console, "info").mockImplementation(() => {});
  const server = new WebhooksServer({ secret: planted });
  server.webhook("retrain", (_payload, { log }) => log.info({ key: planted }, "It is logged."));
  const payload = webhookPayload("repo");
  await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret: planted }));
  const lines = written.mock.calls.map(([line]) => String(line));
  written.mockRestore();
  expect(lines).toContainEqual(expect.stringContaining('"key":"[redacted]"'));
  expect(lines.join()).not.toContain(planted);
});
