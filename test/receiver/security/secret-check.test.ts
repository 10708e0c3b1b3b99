import { beforeEach, describe, expect, test, vi } from "vitest";
import { isCrossSite } from "../../../src/http/answer.ts";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { SecretCheck } from "../../../src/receiver/request.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

beforeEach(() => {
  vi.stubEnv("WEBHOOK_SECRET", undefined);
  vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", undefined);
});

function createServer(options: WebhooksServerOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger, ...options });
  server.webhook("retrain", () => "done");
  const warnings = () => logger.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
  return { server, logger, warnings };
}

function delivery(headers: Record<string, string>, query = "") {
  const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo") });
  return new Request(`${request.url}${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(webhookPayload("repo")),
  });
}

const withSecret = (secret: string, query?: string) => delivery({ "x-webhook-secret": secret }, query);

/** Returns the statuses of deliveries with these secrets. `undefined` sends none. */
async function statusesOf(server: WebhooksServer, secrets: readonly (string | undefined)[], bindings?: object) {
  const requests = secrets.map((secret) => (secret === undefined ? delivery({}) : withSecret(secret)));
  return Promise.all(requests.map(async (request) => (await server.fetch(request, bindings)).status));
}

describeOverBothTransports("A receiver with a secret", (send) => {
  test.each([
    ["the correct secret answers 200", "s3cret", 200],
    ["the correct secret between spaces, which HTTP removes, answers 200", "  s3cret ", 200],
    ["another secret answers 403", "secret", 403],
    ["an empty secret answers 403", "", 403],
    ["another first letter answers 403", "x3cret", 403],
    ["another last letter answers 403", "s3crex", 403],
    ["only the start of the secret answers 403", "s3cre", 403],
    ["additional characters answers 403", "s3crets", 403],
    ["the secret twice answers 403", "s3crets3cret", 403],
    ["the secret in uppercase answers 403", "S3CRET", 403],
    ["two secret headers answers 403", "s3cret, s3cret", 403],
    ["non-ASCII characters answers 403", "s3cr\u00e9t", 403],
    ["a very long secret answers 403", "s".repeat(8_000), 403],
  ])("and a delivery with %s", async (_what, secret, status) => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, withSecret(secret))).status).toBe(status);
  });

  test("and a delivery without a secret answers 401", async () => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, delivery({}))).status).toBe(401);
    expect((await send(server, delivery({ authorization: "s3cret", "x-webhook-secrets": "s3cret" }))).status).toBe(401);
  });

  const printable = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index)).join(" ");

  test.each([
    ["any printable ASCII characters", printable, [printable.replace("a", "b")]],
    ["a single character", "s", ["x", "ss"]],
  ])("of %s accepts only this secret", async (_what, secret, others) => {
    const { server } = createServer({ secret });
    expect((await send(server, withSecret(secret))).status).toBe(200);
    for (const other of others) expect((await send(server, withSecret(other))).status).toBe(403);
  });

  test("does not read the secret from the URL", async () => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, delivery({}, "?secret=s3cret"))).status).toBe(401);
  });

  test("with several secrets accepts each of them, during a rotation", async () => {
    const { server } = createServer({ secret: ["n3w", "0ld"] });
    expect((await send(server, withSecret("n3w"))).status).toBe(200);
    expect((await send(server, withSecret("0ld"))).status).toBe(200);
    expect((await send(server, withSecret("n3w0ld"))).status).toBe(403);
  });
});

describeOverBothTransports("A receiver that also accepts the secret in the URL", (send) => {
  const options = { secret: "s3cret/+ &", secretInQuery: true };
  const query = `?secret=${encodeURIComponent("s3cret/+ &")}`;

  test.each([
    ["the secret in the URL answers 200", delivery({}, query), 200],
    ["a wrong secret in the URL answers 403", delivery({}, "?secret=other"), 403],
    ["an empty secret in the URL answers 403", delivery({}, "?secret="), 403],
    ["no secret answers 401", delivery({}, "?other=1"), 401],
    ["the secret in the header answers 200", withSecret("s3cret/+ &"), 200],
    ["a wrong secret in the header, which takes precedence, answers 403", withSecret("no", query), 403],
    ["an empty secret in the header, which takes precedence, answers 403", withSecret("", query), 403],
  ])("and %s", async (_where, request, status) => {
    const { server } = createServer(options);
    expect((await send(server, request.clone())).status).toBe(status);
  });

  test("logs it nowhere", async () => {
    const { server, logger } = createServer(options);
    await send(server, delivery({}, "?secret=planted-guess"));
    await send(server, delivery({}, query));
    expect(logger.text()).not.toMatch(/planted|s3cret/);
  });
});

describe("The secret", () => {
  test("stays what it was when the program changes the options for another server", () => {
    const options: WebhooksServerOptions = {};
    const open = new SecretCheck(options, Date.now);
    Object.assign(options, { secret: "s3cret", secretInQuery: true });
    const closed = new SecretCheck(options, Date.now);
    expect([open.isSet(), open.problem(), closed.isSet()]).toEqual([false, undefined, true]);
    Object.assign(options, { secretInQuery: false });
    const request = { header: () => null, url: "http://localhost/webhooks/retrain?secret=s3cret", bindings: undefined };
    expect(() => closed.check(request)).not.toThrow();
  });

  test("is WEBHOOK_SECRET or WEBHOOK_SECRET_PREVIOUS, or only the option if it is given", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", "former");
    const secrets = ["from-environment", "former", "s3cret"];
    expect(await statusesOf(createServer().server, secrets)).toEqual([200, 200, 403]);
    expect(await statusesOf(createServer({ secret: "s3cret" }).server, secrets)).toEqual([403, 403, 200]);
  });

  test("is optional: the server is open without one, with a warning", async () => {
    const { server, warnings } = createServer();
    expect(await statusesOf(server, [undefined, "any"])).toEqual([200, 200]);
    expect(warnings()).toEqual([expect.stringContaining("No webhook secret is set")]);
  });

  test("is disabled if the option is false, regardless of the environment and without a warning", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    const { server, logger, warnings } = createServer({ secret: false });
    expect((await server.fetch(delivery({}))).status).toBe(200);
    expect(warnings()).toEqual([]);
    expect(logger.lines[0]).toMatchObject({ level: "info", msg: expect.stringContaining("secret: false") });
  });

  test.each([
    ["empty", ""],
    ["an empty list", []],
    ["a list with an empty secret", ["s3cret", ""]],
    ["a list with an undefined secret", [undefined]],
    ["null", null],
    ["true", true],
    ["a number", 1],
    ["an object", {}],
    ["a list with a number", ["s3cret", 1]],
  ])("is refused if the option is %s", (_what, secret) => {
    const options: object = { secret };
    expect(() => new WebhooksServer(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringMatching(/"secret".*secret|false/) }),
    );
  });
});

describe("An empty WEBHOOK_SECRET", () => {
  test.each(["ready", "launch"] as const)("makes %s() throw OPTION_INVALID", async (method) => {
    vi.stubEnv("WEBHOOK_SECRET", "");
    const { server } = createServer();
    const started = method === "ready" ? server.ready() : server.launch({ port: 0 });
    await expect(started).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("WEBHOOK_SECRET"),
    });
  });

  test.each([
    ["in the environment", "", undefined],
    ["of a worker", "from-environment", { WEBHOOK_SECRET: "" }],
  ])("%s refuses every delivery with 503, and logs why", async (_where, variable, bindings) => {
    vi.stubEnv("WEBHOOK_SECRET", variable);
    const { server, logger } = createServer();
    for (const request of [delivery({}), withSecret(""), withSecret("any")]) {
      const response = await server.fetch(request, bindings);
      expect(response.status).toBe(503);
      expect(await response.text()).not.toContain("WEBHOOK_SECRET");
    }
    expect(logger.lines[0]).toMatchObject({ level: "error", code: "OPTION_INVALID" });
  });

  test("is ignored once a session secret is in use", () => {
    vi.stubEnv("WEBHOOK_SECRET", "");
    const secret = new SecretCheck({}, Date.now);
    expect(secret.problem()).toMatchObject({ code: "OPTION_INVALID" });
    secret.use("session", "replace");
    const request = { url: "http://localhost/", bindings: undefined, header: () => "session" };
    expect(() => secret.check(request)).not.toThrow();
  });

  test("is ignored if the option is given", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "");
    const { server } = createServer({ secret: "s3cret" });
    await server.ready();
    expect((await server.fetch(withSecret("s3cret"))).status).toBe(200);
  });

  test("registers no webhook without a secret", () => {
    vi.stubEnv("WEBHOOK_SECRET", "");
    expect(() => createServer().server[serverControl].describe().secret).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });

  test("for the previous secret only ends a rotation", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "present");
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", "");
    const { server } = createServer();
    await server.ready();
    expect(await statusesOf(server, ["present", ""])).toEqual([200, 403]);
  });
});

test("A secret option that is undefined refuses deliveries without WEBHOOK_SECRET, because the variable that was passed is missing", async () => {
  const { server } = createServer({ secret: undefined });
  await expect(server.ready()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  expect(await statusesOf(server, ["s3cret"])).toEqual([503]);
  expect(await statusesOf(server, ["s3cret"], { WEBHOOK_SECRET: "s3cret" })).toEqual([200]);
  vi.stubEnv("WEBHOOK_SECRET", "s3cret");
  const { server: configured } = createServer({ secret: undefined });
  await configured.ready();
  expect(await statusesOf(configured, ["s3cret", "other"])).toEqual([200, 403]);
});

describe("The secret in a worker", () => {
  test("is WEBHOOK_SECRET of each request's bindings", async () => {
    const { server } = createServer();
    const bindings = { WEBHOOK_SECRET: "from-worker", WEBHOOK_SECRET_PREVIOUS: "former" };
    expect(await statusesOf(server, ["from-worker", "former", "other", undefined], bindings)).toEqual([
      200, 200, 403, 401,
    ]);
  });

  test("takes precedence over the environment, and the option over both", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    const bindings = { WEBHOOK_SECRET: "from-worker" };
    const secrets = ["from-environment", "from-worker", "s3cret"];
    expect(await statusesOf(createServer().server, secrets, bindings)).toEqual([403, 200, 403]);
    expect(await statusesOf(createServer({ secret: "s3cret" }).server, secrets, bindings)).toEqual([403, 403, 200]);
  });

  test("is read again when it, or only the previous one, changes between two requests", async () => {
    const { server } = createServer();
    for (const [variables, accepted] of [
      [{ WEBHOOK_SECRET: "" }, 503],
      [{ WEBHOOK_SECRET: "s3cret" }, 200],
      [{ WEBHOOK_SECRET: "second" }, 403],
      [{ WEBHOOK_SECRET: "second", WEBHOOK_SECRET_PREVIOUS: "s3cret" }, 200],
      [{ WEBHOOK_SECRET: "second" }, 403],
      [{ WEBHOOK_SECRET: "second", WEBHOOK_SECRET_PREVIOUS: "older" }, 403],
    ] as const) {
      expect([variables, await statusesOf(server, ["s3cret"], variables)]).toEqual([variables, [accepted]]);
    }
  });

  test("must be a string: other bindings of that name are ignored", async () => {
    const { server } = createServer();
    expect((await server.fetch(delivery({}), { WEBHOOK_SECRET: { get: () => "s3cret" } })).status).toBe(200);
  });

  test("that cannot be sent in a header causes a warning", async () => {
    const { server, warnings } = createServer();
    await server.fetch(delivery({}), { WEBHOOK_SECRET: "s3cret " });
    expect(warnings()).toContainEqual(expect.stringContaining("starts or ends with whitespace"));
  });
});

// The tests of guesses contain the clock.
test("After a hundred wrong secrets within a minute, wrong ones are refused with 429, missing ones do not count, and the correct one is accepted", async () => {
  const clock = { now: Date.UTC(2026, 8, 1) };
  const { server } = createServer({ secret: "s3cret", now: () => clock.now });
  for (let count = 0; count < 150; count += 1) expect((await server.fetch(delivery({}))).status).toBe(401);
  for (let count = 0; count < 100; count += 1) expect((await server.fetch(withSecret("wrong"))).status).toBe(403);
  const refused = await server.fetch(withSecret("wrong"));
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    429,
    "60",
    {
      error: "Too many requests with an invalid webhook secret. Wait, then send the correct secret.",
      code: "TOO_MANY_FAILURES",
    },
  ]);
  expect(await statusesOf(server, ["s3cret"])).toEqual([200]);
  clock.now += 60_000;
  expect(await statusesOf(server, ["wrong"])).toEqual([403]);
});

const notInHeaders = /^The secret contains a character that is not valid in an HTTP header/;

describe("The log line about the secret, once at the first request or at startup", () => {
  test("reports that a secret is set, without its value", async () => {
    const { server, logger, warnings } = createServer({ secret: "s3cret" });
    await server.fetch(delivery({}));
    await server.ready();
    expect(logger.lines.filter(({ msg }) => msg.includes("secret is set"))).toEqual([
      { level: "info", msg: "A webhook secret is set. Deliveries without the secret are refused." },
    ]);
    expect(warnings().filter((msg) => msg.includes("secret is set"))).toEqual([]);
    expect(logger.text()).not.toContain("s3cret");
  });

  test("is a warning with a remedy if there is no secret", async () => {
    const { server, warnings } = createServer();
    await server.ready();
    await server.fetch(delivery({}));
    await server.ready();
    expect(warnings()).toEqual([
      expect.stringMatching(/open to everyone.*WEBHOOK_SECRET.*\{ secret \}.*on the webhook/),
    ]);
  });

  test.each([
    ["starts with a space", " planted-s3cret", /^The secret starts or ends with whitespace/],
    ["ends with a line end", "planted-s3cret\n", /^The secret starts or ends with whitespace/],
    ["contains a letter with an accent", "planted-s3cr\u00e9t", notInHeaders],
    ["contains the character 0x7F", "planted-s3cret\u007f", notInHeaders],
    ["contains a tab", "planted-s3\tcret", notInHeaders],
  ])("is a warning if the secret cannot be sent, because it %s", async (_why, secret, warning) => {
    const { server, logger, warnings } = createServer({ secret });
    await server.ready();
    expect(warnings()).toEqual([expect.stringMatching(warning)]);
    expect(logger.text()).not.toMatch(/s3\\?t?cr/);
  });

  test.each([
    ["names the one of a list that cannot be sent", ["a fine one", " spaced one "], [/^Secret number 2 starts/]],
    ["is no warning for a valid secret, even with spaces in the middle", "a fine secret ~!", []],
  ])("%s", async (_what, secret, expected) => {
    const { server, warnings } = createServer({ secret });
    await server.ready();
    expect(warnings()).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });
});

/** Whether a request with these headers, whose `Host` a proxy may have replaced, comes from another site. */
function isFromElsewhere(headers: Record<string, string>): boolean {
  const sent = new Headers({ host: "hook.example", ...headers });
  return isCrossSite({ url: "https://hook.example/webhooks/retrain", header: (name) => sent.get(name) });
}

const own = { origin: "https://hook.example" };
const sameSite = { "sec-fetch-site": "same-origin", ...own };

test.for([
  ["no browser", {}, false],
  ["the own page", sameSite, false],
  ["the own page behind a proxy that replaces the host", { ...sameSite, host: "127.0.0.1:7860" }, false],
  ["a page of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
  ["a page of a sibling host", { "sec-fetch-site": "same-site", origin: "https://evil.hook.example" }, true],
  ["the address bar", { "sec-fetch-site": "none" }, true],
  ["a page of another site in an old browser", { origin: "https://evil.example" }, true],
  ["a page without an origin in an old browser", { origin: "null" }, true],
  ["the own page in an old browser", own, false],
] as const)("A request of %s is cross-site: %s", ([, headers, expected]) => {
  expect(isFromElsewhere(headers)).toBe(expected);
});

test("A page of another site is refused by an endpoint for any body without a secret, and accepted with the secret, which no other site has", async () => {
  for (const [secret, status, body] of [
    [false, 403, { code: "CROSS_SITE_REFUSED" }],
    ["Planted-5ecret", 200, null],
  ] as const) {
    const { server } = createServer({ secret });
    server.webhook("any", { schema: null }, () => null);
    const headers = { "content-type": "text/plain", "sec-fetch-site": "cross-site", "x-webhook-secret": `${secret}` };
    const response = await server.request("/webhooks/any", { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(body && expect.objectContaining(body));
  }
});
