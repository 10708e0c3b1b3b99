import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/lifecycle/server-control.ts";
import { SecretCheck } from "../../../src/receiver/security/secret-check.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

beforeEach(() => {
  vi.stubEnv("WEBHOOK_SECRET", undefined);
  vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
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

describeOverBothTransports("A receiver with a secret", (send) => {
  test.each([
    ["the right one", "s3cret", 200],
    ["the right one between spaces, which HTTP cuts off", "  s3cret ", 200],
    ["another", "secret", 403],
    ["nothing", "", 403],
    ["one with another first letter", "x3cret", 403],
    ["one with another last letter", "s3crex", 403],
    ["only its beginning", "s3cre", 403],
    ["more than it", "s3crets", 403],
    ["it twice over", "s3crets3cret", 403],
    ["it in capitals", "S3CRET", 403],
    ["it repeated, as two headers arrive", "s3cret, s3cret", 403],
    ["characters beyond ASCII", "s3cr\u00e9t", 403],
    ["a very long one", "s".repeat(8_000), 403],
  ])("that is sent %s answers accordingly", async (_what, secret, status) => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, withSecret(secret))).status).toBe(status);
  });

  test("that is sent none answers 401", async () => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, delivery({}))).status).toBe(401);
    expect((await send(server, delivery({ authorization: "s3cret", "x-webhook-secrets": "s3cret" }))).status).toBe(401);
  });

  test("of any printable ASCII takes just that", async () => {
    const secret = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index)).join(" ");
    const { server } = createServer({ secret });
    expect((await send(server, withSecret(secret))).status).toBe(200);
    expect((await send(server, withSecret(secret.replace("a", "b")))).status).toBe(403);
  });

  test("may be a single character", async () => {
    const { server } = createServer({ secret: "s" });
    expect((await send(server, withSecret("s"))).status).toBe(200);
    expect((await send(server, withSecret("x"))).status).toBe(403);
    expect((await send(server, withSecret("ss"))).status).toBe(403);
  });

  test("does not look for it in the URL", async () => {
    const { server } = createServer({ secret: "s3cret" });
    expect((await send(server, delivery({}, "?secret=s3cret"))).status).toBe(401);
  });

  test("with several accepts each of them, during a rotation", async () => {
    const { server } = createServer({ secret: ["n3w", "0ld"] });
    expect((await send(server, withSecret("n3w"))).status).toBe(200);
    expect((await send(server, withSecret("0ld"))).status).toBe(200);
    expect((await send(server, withSecret("n3w0ld"))).status).toBe(403);
  });
});

describeOverBothTransports("A receiver that looks for the secret in the URL too", (send) => {
  const options = { secret: "s3cret/+ &", secretInQuery: true };

  test.each([
    ["it is there", delivery({}, `?secret=${encodeURIComponent("s3cret/+ &")}`), 200],
    ["a wrong one is there", delivery({}, "?secret=other"), 403],
    ["an empty one is there", delivery({}, "?secret="), 403],
    ["there is none", delivery({}, "?other=1"), 401],
    ["the header has it", withSecret("s3cret/+ &"), 200],
    [
      "the header has a wrong one, which counts first",
      withSecret("no", `?secret=${encodeURIComponent("s3cret/+ &")}`),
      403,
    ],
    [
      "the header has an empty one, which counts first",
      withSecret("", `?secret=${encodeURIComponent("s3cret/+ &")}`),
      403,
    ],
  ])("answers accordingly where %s", async (_where, request, status) => {
    const { server } = createServer(options);
    expect((await send(server, request.clone())).status).toBe(status);
  });

  test("tells it to no log", async () => {
    const { server, logger } = createServer(options);
    await send(server, delivery({}, "?secret=planted-guess"));
    await send(server, delivery({}, `?secret=${encodeURIComponent("s3cret/+ &")}`));
    expect(logger.text()).not.toMatch(/planted|s3cret/);
  });
});

describe("The secret", () => {
  test("is WEBHOOK_SECRET where no option is given, and WEBHOOK_SECRET_PREVIOUS beside it", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", "former");
    const { server } = createServer();
    expect((await server.fetch(withSecret("from-environment"))).status).toBe(200);
    expect((await server.fetch(withSecret("former"))).status).toBe(200);
    expect((await server.fetch(withSecret("other"))).status).toBe(403);
  });

  test("is the option alone where that is given", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    const { server } = createServer({ secret: "s3cret" });
    expect((await server.fetch(withSecret("s3cret"))).status).toBe(200);
    expect((await server.fetch(withSecret("from-environment"))).status).toBe(403);
  });

  test("is none where neither option nor environment has one: the server is open, with a warning", async () => {
    const { server, warnings } = createServer();
    expect((await server.fetch(delivery({}))).status).toBe(200);
    expect((await server.fetch(withSecret("any"))).status).toBe(200);
    expect(warnings()).toEqual([expect.stringContaining("No webhook secret is set")]);
  });

  test("is none where the option is false, whatever the environment has, without a warning", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    const { server, logger, warnings } = createServer({ secret: false });
    expect((await server.fetch(delivery({}))).status).toBe(200);
    expect(warnings()).toEqual([]);
    expect(logger.lines[0]).toMatchObject({ level: "info", msg: expect.stringContaining("secret: false") });
  });

  test.each([
    ["empty", ""],
    ["an empty list", []],
    ["a list with an empty one", ["s3cret", ""]],
    ["a list with one that is not set", [undefined]],
    ["null", null],
    ["true", true],
    ["a number", 1],
    ["an object", {}],
    ["a list with a number", ["s3cret", 1]],
  ])("is refused where the option is %s", (_what, secret) => {
    const options: object = { secret };
    expect(() => new WebhooksServer(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringMatching(/"secret".*secret|false/) }),
    );
  });
});

describe("An empty WEBHOOK_SECRET", () => {
  test.each(["ready", "launch"] as const)("ends %s() with OPTION_INVALID", async (method) => {
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

  test("of a worker refuses deliveries only until a secret is set", async () => {
    const { server } = createServer();
    expect((await server.fetch(withSecret("s3cret"), { WEBHOOK_SECRET: "" })).status).toBe(503);
    expect((await server.fetch(withSecret("s3cret"), { WEBHOOK_SECRET: "s3cret" })).status).toBe(200);
  });

  test("does not matter once a secret for the session is in use", () => {
    vi.stubEnv("WEBHOOK_SECRET", "");
    const secret = new SecretCheck({ secret: undefined, secretInQuery: false, now: Date.now });
    expect(secret.problem()).toMatchObject({ code: "OPTION_INVALID" });
    secret.use("session", "replace");
    const request = { url: "http://localhost/", bindings: undefined, header: () => "session" };
    expect(() => secret.check(request)).not.toThrow();
  });

  test("is not asked for where an option is given", async () => {
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

  test("of the previous one ends a rotation, and no more", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "present");
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", "");
    const { server } = createServer();
    await server.ready();
    expect((await server.fetch(withSecret("present"))).status).toBe(200);
    expect((await server.fetch(withSecret(""))).status).toBe(403);
  });
});

describe("The secret in a worker", () => {
  test("comes with each request, in WEBHOOK_SECRET", async () => {
    const { server } = createServer();
    const bindings = { WEBHOOK_SECRET: "from-worker", WEBHOOK_SECRET_PREVIOUS: "former" };
    expect((await server.fetch(withSecret("from-worker"), bindings)).status).toBe(200);
    expect((await server.fetch(withSecret("former"), bindings)).status).toBe(200);
    expect((await server.fetch(withSecret("other"), bindings)).status).toBe(403);
    expect((await server.fetch(delivery({}), bindings)).status).toBe(401);
  });

  test("goes before that of the environment, and the option before both", async () => {
    vi.stubEnv("WEBHOOK_SECRET", "from-environment");
    const bindings = { WEBHOOK_SECRET: "from-worker" };
    expect((await createServer().server.fetch(withSecret("from-environment"), bindings)).status).toBe(403);
    expect((await createServer().server.fetch(withSecret("from-worker"), bindings)).status).toBe(200);
    const { server } = createServer({ secret: "s3cret" });
    expect((await server.fetch(withSecret("from-worker"), bindings)).status).toBe(403);
    expect((await server.fetch(withSecret("s3cret"), bindings)).status).toBe(200);
  });

  test("is read anew when it changes between two requests", async () => {
    const { server } = createServer();
    expect((await server.fetch(withSecret("first"), { WEBHOOK_SECRET: "first" })).status).toBe(200);
    expect((await server.fetch(withSecret("first"), { WEBHOOK_SECRET: "second" })).status).toBe(403);
    expect((await server.fetch(withSecret("second"), { WEBHOOK_SECRET: "second" })).status).toBe(200);
  });

  test("and its former one are read anew when only the former one changes", async () => {
    const { server } = createServer();
    const current = { WEBHOOK_SECRET: "current" };
    expect((await server.fetch(withSecret("former"), { ...current, WEBHOOK_SECRET_PREVIOUS: "former" })).status).toBe(
      200,
    );
    expect((await server.fetch(withSecret("former"), current)).status).toBe(403);
    expect((await server.fetch(withSecret("older"), { ...current, WEBHOOK_SECRET_PREVIOUS: "older" })).status).toBe(
      200,
    );
  });

  test("is only a text: other bindings of that name are none", async () => {
    const { server } = createServer();
    expect((await server.fetch(delivery({}), { WEBHOOK_SECRET: { get: () => "s3cret" } })).status).toBe(200);
  });

  test("that cannot arrive is warned of like any other", async () => {
    const { server, warnings } = createServer();
    await server.fetch(delivery({}), { WEBHOOK_SECRET: "s3cret " });
    expect(warnings()).toContainEqual(expect.stringContaining("starts or ends with whitespace"));
  });
});

describe("Wrong secrets", () => {
  /** Creates a receiver with its own clock and sends many wrong secrets to it. */
  function createAttacked() {
    const clock = { now: Date.UTC(2026, 8, 1) };
    const { server, logger } = createServer({ secret: "s3cret", now: () => clock.now });
    const guess = async () => {
      const response = await server.fetch(withSecret("wrong"));
      return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
    };
    const guesses = async (count: number) => {
      const statuses = [];
      for (let number = 0; number < count; number += 1) statuses.push((await guess()).status);
      return statuses;
    };
    return { clock, server, logger, guess, guesses };
  }

  test("are refused with 429 once there were a hundred within a minute", async () => {
    const { guess, guesses } = createAttacked();
    expect(new Set(await guesses(100))).toEqual(new Set([403]));
    expect(await guess()).toEqual({
      status: 429,
      retryAfter: "60",
      body: {
        error: "Too many requests with an invalid webhook secret. Wait, then send the correct secret.",
        code: "TOO_MANY_FAILURES",
      },
    });
  });

  test("never stand in the way of the right one", async () => {
    const { server, guesses } = createAttacked();
    await guesses(101);
    expect((await server.fetch(withSecret("s3cret"))).status).toBe(200);
  });

  test("are counted anew after a minute, and the wait is told until then", async () => {
    const { clock, guess, guesses } = createAttacked();
    await guesses(100);
    clock.now += 45_500;
    expect(await guess()).toMatchObject({ status: 429, retryAfter: "15" });
    clock.now += 14_499;
    expect(await guess()).toMatchObject({ status: 429, retryAfter: "1" });
    clock.now += 1;
    expect(new Set(await guesses(100))).toEqual(new Set([403]));
    expect((await guess()).status).toBe(429);
  });

  test("are counted anew where the clock is set back, and not refused for an hour", async () => {
    const { clock, guess, guesses } = createAttacked();
    await guesses(101);
    clock.now -= 3_600_000;
    expect((await guess()).status).toBe(403);
    clock.now += 60_000;
    expect((await guess()).status).toBe(403);
  });

  test("do not include missing ones: those guess nothing", async () => {
    const { server, guess } = createAttacked();
    for (let number = 0; number < 150; number += 1) expect((await server.fetch(delivery({}))).status).toBe(401);
    expect((await guess()).status).toBe(403);
  });
});

describe("What is told of the secret, once, with the first request or at the start", () => {
  test("is that there is one, and not which", async () => {
    const { server, logger, warnings } = createServer({ secret: "s3cret" });
    await server.fetch(delivery({}));
    await server.ready();
    expect(logger.lines.filter(({ msg }) => msg.includes("secret is set"))).toEqual([
      { level: "info", msg: "A webhook secret is set. Deliveries without the secret are refused." },
    ]);
    expect(warnings().filter((msg) => msg.includes("secret is set"))).toEqual([]);
    expect(logger.text()).not.toContain("s3cret");
  });

  test("is a warning where there is none, with what to do about it", async () => {
    const { server, warnings } = createServer();
    await server.ready();
    await server.fetch(delivery({}));
    await server.ready();
    expect(warnings()).toEqual([
      expect.stringMatching(/open to everyone.*WEBHOOK_SECRET.*\{ secret \}.*on the webhook/),
    ]);
  });

  test.each([
    ["begins with a space", " planted-s3cret", /^The secret starts or ends with whitespace/],
    ["ends with a line end", "planted-s3cret\n", /^The secret starts or ends with whitespace/],
    [
      "holds a letter with an accent",
      "planted-s3cr\u00e9t",
      /^The secret contains a character that is not valid in an HTTP header/,
    ],
    [
      "holds the character 0x7F",
      "planted-s3cret\u007f",
      /^The secret contains a character that is not valid in an HTTP header/,
    ],
    ["holds a tab", "planted-s3\tcret", /^The secret contains a character that is not valid in an HTTP header/],
  ])("is a warning where it can never arrive, because it %s", async (_why, secret, warning) => {
    const { server, logger, warnings } = createServer({ secret });
    await server.ready();
    expect(warnings()).toEqual([expect.stringMatching(warning)]);
    expect(logger.text()).not.toMatch(/s3\\?t?cr/);
  });

  test("names which of several can never arrive", async () => {
    const { server, warnings } = createServer({ secret: ["a fine one", " spaced one "] });
    await server.ready();
    expect(warnings()).toEqual([expect.stringMatching(/^Secret number 2 starts or ends with whitespace/)]);
  });

  test("is nothing more where it is fine, spaces in the middle included", async () => {
    const { server, warnings } = createServer({ secret: "a fine secret ~!" });
    await server.ready();
    expect(warnings()).toEqual([]);
  });
});
