import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { createConsoleLogger, createRefusalLog } from "../../../src/receiver/logs.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";

describe("Logging to the console", () => {
  beforeEach(() => {
    vi.stubEnv("LOG_LEVEL", "info");
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Records the parsed lines written with a console method. */
  function spyOnConsole(level: "debug" | "info" | "warn" | "error") {
    const written = vi.spyOn(console, level).mockImplementation(() => {});
    return () => written.mock.calls.map(([line]) => JSON.parse(String(line)));
  }

  describe("The console logger", () => {
    test.each(["debug", "info", "warn", "error"] as const)(
      "writes %s to the method of that name, as one line of JSON",
      (level) => {
        vi.stubEnv("LOG_LEVEL", "trace");
        const lines = spyOnConsole(level);
        createConsoleLogger()[level]({ endpoint: "retrain", status: 200 }, "delivery\nsucceeded");
        expect(lines()).toEqual([
          { level, time: expect.any(Number), endpoint: "retrain", status: 200, msg: "delivery\nsucceeded" },
        ]);
      },
    );

    const levels = ["debug", "info", "warn", "error"] as const;

    test.each<[setting: string, written: readonly string[]]>([
      ["debug", ["debug", "info", "warn", "error"]],
      ["WARN", ["warn", "error"]],
      ["fatal", []],
      ["silent", []],
      ["loud", ["info", "warn", "error"]],
    ])("heeds LOG_LEVEL, also where it is set after the logger was made: %j", (setting, written) => {
      const logger = createConsoleLogger().child({ endpoint: "retrain" });
      vi.stubEnv("LOG_LEVEL", setting);
      const heard = levels.filter((level) => {
        const lines = spyOnConsole(level);
        logger[level]("a line");
        return lines().length > 0;
      });
      expect(heard).toEqual(written);
    });

    test.each(["VITEST", "NODE_TEST_CONTEXT", "NODE_ENV"])(
      "is silent under a test runner without LOG_LEVEL: %s",
      (name) => {
        for (const variable of ["LOG_LEVEL", "VITEST", "NODE_TEST_CONTEXT", "NODE_ENV"])
          vi.stubEnv(variable, undefined);
        const lines = spyOnConsole("error");
        const logger = createConsoleLogger();
        logger.error("outside a test");
        vi.stubEnv(name, "test");
        logger.error("in a test");
        expect(lines()).toMatchObject([{ msg: "outside a test" }]);
      },
    );

    test("escapes deceptive characters as JSON does", () => {
      const written = vi.spyOn(console, "info").mockImplementation(() => {});
      createConsoleLogger().info({ repo: "me/\u009b2J\u202e" }, "delivery ignored");
      expect(written.mock.calls[0]?.[0]).toContain(String.raw`me/\u009b2J\u202e`);
    });

    test("accepts only a message, or only fields", () => {
      const lines = spyOnConsole("info");
      createConsoleLogger().info("ready");
      createConsoleLogger().info({ step: 1 });
      expect(lines()).toEqual([
        { level: "info", time: expect.any(Number), msg: "ready" },
        { level: "info", time: expect.any(Number), step: 1 },
      ]);
    });

    test("adds the bindings of the parent and the child", () => {
      const lines = spyOnConsole("warn");
      const parent = createConsoleLogger().child({ endpoint: "retrain" });
      parent.child({ deliveryId: "d-1" }).child({ step: 2 }).warn({ step: 3 }, "slow");
      parent.warn("no more");
      expect(lines()).toEqual([
        { level: "warn", time: expect.any(Number), endpoint: "retrain", deliveryId: "d-1", step: 3, msg: "slow" },
        { level: "warn", time: expect.any(Number), endpoint: "retrain", msg: "no more" },
      ]);
    });

    test("writes the name, message and stack of an error in any field", () => {
      const lines = spyOnConsole("error");
      const err = new TypeError("no GPU");
      createConsoleLogger().error({ err, causes: [err] }, "failed");
      const described = { type: "TypeError", message: "no GPU", stack: expect.stringContaining("no GPU") };
      expect(lines()).toEqual([
        { level: "error", time: expect.any(Number), msg: "failed", err: described, causes: [described] },
      ]);
    });

    const circular: { self?: unknown } = {};
    circular.self = circular;

    test.each([
      ["a BigInt", { size: 10n }],
      ["a circular object", circular],
      [
        "an object that cannot be inspected",
        {
          toJSON() {
            throw new Error("no words");
          },
        },
      ],
    ])("does not throw for %s", (_what, fields) => {
      const lines = spyOnConsole("info");
      expect(() => createConsoleLogger().info({ fields }, "done")).not.toThrow();
      expect(lines()).toEqual([expect.objectContaining({ level: "info", msg: "done" })]);
    });
  });
});

describe("Refused deliveries", () => {
  const invalid = { code: "SECRET_INVALID", status: 403 };
  const message = "delivery refused: Invalid webhook secret.";

  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  function createLog() {
    const { lines, ...logger } = createMemoryLogger();
    const clock = { now: 1_000_000 };
    const log = createRefusalLog({ ...logger }, () => clock.now);
    const refuse = (times: number, fields: object = invalid) => {
      for (let refused = 0; refused < times; refused += 1) log.warn({ endpoint: "retrain", ...fields }, message);
    };
    const pass = (ms: number) => {
      clock.now += ms;
      vi.advanceTimersByTime(ms);
    };
    return { lines, clock, log, refuse, pass };
  }

  const one = { level: "warn", endpoint: "retrain", ...invalid, msg: message };
  const counted = (count: number) => ({
    ...{ level: "warn", ...invalid, count },
    msg: `${count} further deliveries refused: Invalid webhook secret.`,
  });

  describe("The refusal log", () => {
    test("logs the first ten lines in a second", () => {
      const { lines, refuse, pass } = createLog();
      refuse(10);
      pass(5_000);
      expect(lines).toEqual(Array(10).fill(one));
      expect(vi.getTimerCount()).toBe(0);
    });

    test("logs the count of suppressed lines once per second", () => {
      const { lines, refuse, pass } = createLog();
      refuse(147);
      expect(lines).toHaveLength(10);
      pass(1_000);
      expect(lines.slice(10)).toEqual([counted(137)]);
      expect(vi.getTimerCount()).toBe(0);
    });

    test("loses no count while refused requests continue", () => {
      const { lines, refuse, pass } = createLog();
      for (let step = 0; step < 50; step += 1) {
        refuse(20);
        pass(100);
      }
      pass(1_000);
      const total = lines.reduce((sum, { count = 1 }) => sum + Number(count), 0);
      expect(total).toBe(1_000);
      expect(lines.length).toBeLessThanOrEqual(6 * 11);
    });

    test("logs the pending count after the clock is set back or forward", () => {
      const { lines, clock, refuse } = createLog();
      for (const shift of [-3_600_000, 3_600_000]) {
        refuse(12);
        clock.now += shift;
      }
      refuse(1);
      expect(lines.filter(({ count }) => count !== undefined)).toEqual([counted(2), counted(2)]);
      expect(lines.at(-1)).toEqual(one);
    });

    test("counts different codes separately", () => {
      const { lines, log, refuse } = createLog();
      refuse(12);
      refuse(1, { code: "PAYLOAD_INVALID", status: 422 });
      expect(lines.at(-1)).toMatchObject({ code: "PAYLOAD_INVALID", msg: message });
      log.flush();
      expect(lines.at(-1)).toEqual(counted(2));
      expect(vi.getTimerCount()).toBe(0);
    });

    test("passes other levels through", () => {
      const { lines, log } = createLog();
      for (let logged = 0; logged < 12; logged += 1) log.error({ status: 500 }, "failed");
      log.info("ready");
      log.debug("details");
      log.child({ endpoint: "retrain" }).warn("slow");
      log.warn("refused");
      expect(lines.slice(11)).toEqual([
        { level: "error", status: 500, msg: "failed" },
        { level: "info", msg: "ready" },
        { level: "debug", msg: "details" },
        { level: "warn", endpoint: "retrain", msg: "slow" },
        { level: "warn", msg: "refused" },
      ]);
    });
  });
});

describe("Secrets", () => {
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
});
