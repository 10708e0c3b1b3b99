import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConsoleLogger } from "../../../src/receiver/logs.ts";

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
      for (const variable of ["LOG_LEVEL", "VITEST", "NODE_TEST_CONTEXT", "NODE_ENV"]) vi.stubEnv(variable, undefined);
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
    const told = { type: "TypeError", message: "no GPU", stack: expect.stringContaining("no GPU") };
    expect(lines()).toEqual([{ level: "error", time: expect.any(Number), msg: "failed", err: told, causes: [told] }]);
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
