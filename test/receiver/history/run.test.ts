import { describe, expect, test } from "vitest";
import { createSafeLogger } from "../../../src/core/log.ts";
import { WebhookError } from "../../../src/index.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { Run } from "../../../src/receiver/history.ts";
import { recordHeaders } from "../../../src/receiver/request.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const succeeded = { status: "succeeded", result: undefined } as const;

function createRecorder() {
  const redact = (text: string) => text.replaceAll("pl4nted", "[redacted]");
  const delivery = { id: "d-1", endpoint: "retrain", body: "{}", receivedAt: new Date(0) };
  const run = new Run(delivery, {}, { recordDetails: true, now: () => 7, redact });
  const logger = createMemoryLogger();
  const end = (outcome: Outcome, resultText: string | null = null) => run.end({ outcome, resultText, durationMs: 1 });
  const details = (outcome: Outcome, resultText?: string | null) => {
    end(outcome, resultText);
    return run.details;
  };
  return { end, details, logger, log: run.wrap(createSafeLogger(logger)), logs: () => details(succeeded)?.logs };
}

function failed(cause: unknown) {
  const error = new WebhookError("The handler failed.", { code: "HANDLER_FAILED", status: 500, cause });
  return { status: "failed", error } as const;
}

describe("The lines that a handler logs", () => {
  test("are recorded with level, time, message, and fields, and still logged", () => {
    const { log, logger, logs } = createRecorder();
    log.debug("plain");
    log.info({ step: 1 }, "with fields");
    log.warn({ only: "fields" });
    log.error("end");
    expect(logs()).toEqual([
      { at: 7, level: "debug", message: "plain" },
      { at: 7, level: "info", message: "with fields", fields: '{"step":1}' },
      { at: 7, level: "warn", message: "", fields: '{"only":"fields"}' },
      { at: 7, level: "error", message: "end" },
    ]);
    expect(logger.lines.map(({ msg }) => msg)).toEqual(["plain", "with fields", "", "end"]);
  });

  test("of child loggers contain their bindings", () => {
    const { log, logs, logger } = createRecorder();
    const child = log.child({ a: 1 }).child({ b: 2, a: 3 });
    child.info({ c: 4 }, "child");
    log.info("parent");
    expect(logs()).toMatchObject([{ message: "child", fields: '{"a":3,"b":2,"c":4}' }, { message: "parent" }]);
    expect(logs()?.[1]).not.toHaveProperty("fields");
    expect(logger.lines[0]).toMatchObject({ a: 3, b: 2, c: 4 });
  });

  test("do not contain secrets", () => {
    const { log, logs } = createRecorder();
    log.info({ header: "pl4nted" }, "The secret is pl4nted.");
    log.child({ token: "pl4nted" }).info("child");
    expect(JSON.stringify(logs())).not.toContain("pl4nted");
    expect(logs()?.[0]).toMatchObject({ message: "The secret is [redacted].", fields: '{"header":"[redacted]"}' });
  });

  test("can be errors", () => {
    const { log, logs } = createRecorder();
    log.error(new Error("first"));
    log.error(new Error("second"), "It failed.");
    log.error({ err: new Error("third") }, "It failed again.");
    expect(logs()?.map(({ message }) => message)).toEqual(["first", "It failed.", "It failed again."]);
    expect(logs()?.map(({ fields = "{}" }) => JSON.parse(fields).err.message)).toEqual(["first", "second", "third"]);
  });

  test("can have fields that are not JSON", () => {
    const { log, logs } = createRecorder();
    const circular: Record<string, unknown> = { name: "loop" };
    circular.self = circular;
    const throwing = Object.defineProperty({ fine: 1 }, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("read");
      },
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const fields of [{ circular, other: 1 }, { big: 7n }, throwing, { gone: () => 1 }, { proxy }]) {
      log.info(fields, "line");
      log.child({ ...(fields === throwing ? {} : fields) }).info("child");
    }
    expect(logs()?.every(({ fields }) => fields === undefined || JSON.parse(fields))).toBe(true);
    expect(logs()?.[0]?.fields).toBe('{"circular":"[cannot be serialized]","other":1}');
    expect(logs()?.[1]?.fields).toBe('{"circular":"[cannot be serialized]","other":1}');
  });

  test("never fail the handler, whatever JavaScript passes", () => {
    const { log, logs } = createRecorder();
    const info = (...given: readonly unknown[]) => Reflect.apply(log.info, log, given);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [undefined, null, 7, Symbol("x"), [], Object.create(null), proxy, () => {}]) {
      expect(() => info(value)).not.toThrow();
      expect(() => info({}, value)).not.toThrow();
    }
    expect(logs()?.length).toBeGreaterThan(8);
  });
});

describe("The details of an attempt", () => {
  test("are missing if there are none", () => {
    const { details } = createRecorder();
    expect(details(succeeded)).toBeUndefined();
    expect(details(succeeded, null)).toBeUndefined();
    expect(details(failed(undefined))).toBeUndefined();
  });

  test("contain the result, without secrets", () => {
    const { details } = createRecorder();
    expect(details(succeeded, '{"token":"pl4nted"}')).toEqual({ result: '{"token":"[redacted]"}' });
    expect(details(succeeded, '""')).toEqual({ result: '""' });
  });

  test("contain the stack with its causes, without frames of Node and of packages", () => {
    const { details } = createRecorder();
    const cause = new TypeError("The secret is pl4nted.");
    const error = new Error("outer", { cause });
    error.stack = [
      "Error: outer",
      "    at handler (/app/server.ts:3:9)",
      "    at run (/app/node_modules/hub-webhooks/dist/index.js:1:1)",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    ].join("\n");
    const { stack = "" } = details(failed(error)) ?? {};
    expect(stack).toMatch(
      /^Error: outer\n {4}at handler \(\/app\/server\.ts:3:9\)\nCaused by: TypeError: The secret is/,
    );
    expect(stack).toContain("run.test.ts");
    expect(stack).not.toMatch(/node_modules|node:internal|pl4nted/);
  });

  test.each([
    ["a text", "no luck", "string: no luck"],
    ["an object without a stack", { name: "Odd", message: "no stack" }, "Odd: no stack"],
    ["a number", 7, "number: 7"],
  ])("describe %s that was thrown", (_what, thrown, stack) => {
    expect(createRecorder().details(failed(thrown))).toEqual({ stack });
  });

  test("end after circular causes", () => {
    const error: Error & { cause?: unknown } = new Error("loop");
    error.cause = error;
    const { stack = "" } = createRecorder().details(failed(error)) ?? {};
    expect(stack.match(/Caused by/g)?.length).toBeLessThan(10);
  });

  test("are at most 16 KiB, and are marked if they were cut", () => {
    for (const lineLength of [1, 100, 5_000]) {
      const { details, log } = createRecorder();
      for (let line = 0; line < 1_000; line += 1) log.info({ field: "f".repeat(lineLength) }, "m".repeat(lineLength));
      const error = new Error("e".repeat(50_000));
      const recorded = details(failed(error), JSON.stringify("r".repeat(50_000)));
      const { result = "", stack = "", logs = [] } = recorded ?? {};
      const size = logs.reduce((sum, { message, fields = "" }) => sum + message.length + fields.length, 0);
      expect(result.length + stack.length + size).toBeLessThanOrEqual(16 * 1_024);
      expect([result.length, stack.length, recorded?.isTruncated]).toEqual([6 * 1_024, 4 * 1_024, true]);
      expect(logs.length).toBeGreaterThan(1);
    }
  });

  test("contain the first lines, without gaps", () => {
    const { log, logs } = createRecorder();
    for (let line = 0; line < 100; line += 1) log.info(`${line}`.padEnd(line === 45 ? 1_000 : 60));
    const numbers = logs()?.map(({ message }) => Number(message)) ?? [];
    expect(numbers).toEqual(numbers.map((_number, index) => index));
    expect(numbers.length).toBeGreaterThan(30);
  });

  test("are not marked as cut if everything fits", () => {
    const { details, log } = createRecorder();
    log.info("short");
    expect(details(succeeded, '"short"')).not.toHaveProperty("isTruncated");
  });

  test("never contain half of a character", () => {
    const { details, log } = createRecorder();
    log.info(`x${"😀".repeat(2_000)}`);
    const recorded = details(succeeded, `"x${"😀".repeat(5_000)}"`);
    expect(recorded?.result?.isWellFormed()).toBe(true);
    expect(recorded?.logs?.[0]?.message.isWellFormed()).toBe(true);
  });
});

test("Logged lines and the result count in the memory of a run", () => {
  const memoryOf = (result: string | null) => {
    const { log, end } = createRecorder();
    log.info("x".repeat(1_000));
    return end(succeeded, result);
  };
  expect(memoryOf(null)).toBeGreaterThanOrEqual(2 * 1_000);
  expect(memoryOf("r".repeat(500))).toBeGreaterThanOrEqual(2 * 1_500);
});

test("A long result takes little memory, and is marked as cut", () => {
  const { end, details } = createRecorder();
  const long = JSON.stringify("r".repeat(100_000));
  expect(end(succeeded, long)).toBeLessThan(14_000);
  expect(details(succeeded, long)).toMatchObject({ isTruncated: true });
});

const redact = (text: string) => text.replaceAll("pl4nted", "[redacted]");
const record = (entries: readonly (readonly [string, string])[]) => ({ ...recordHeaders(entries, redact) });

describe("Recorded headers", () => {
  test.each([
    ...[
      ...["X-Webhook-Secret", "Authorization", "Proxy-Authorization"],
      ...["Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token"],
    ],
    ...["X-Hub-Signature-256", "X-Amz-Security-Token", "X-CSRF-Token", "X-Session-Id", "CF-Access-Jwt-Assertion"],
    ...["X-Password", "X-Credentials", "X-Amzn-Oidc-Data", "X-Ms-Client-Principal", "X-Vercel-Protection-Bypass"],
  ])("never contain the value of %s", (name) => {
    expect(record([[name, "anything"]])).toEqual({ [name.toLowerCase()]: "[redacted]" });
  });

  test.each([
    ["X-Original-URI", "/webhooks/retrain?secret=pl4nted", "/webhooks/retrain?secret=[redacted]"],
    ["Referer", "https://bot.example/?secret=pl4nted", "https://bot.example/?secret=[redacted]"],
    ["X-Note", "pl4nted", "[redacted]"],
  ])("do not contain a known secret in %s", (name, value, shown) => {
    expect(record([[name, value]])).toEqual({ [name.toLowerCase()]: shown });
  });

  test("contain the others by lower-case name", () => {
    const entries = [
      ["Host", "bot.example"],
      ["Content-Type", "application/json"],
      ["Webhook-Id", "d-1"],
      ["X-Request-Id", "r-1"],
    ] as const;
    expect(record(entries)).toEqual({
      host: "bot.example",
      "content-type": "application/json",
      "webhook-id": "d-1",
      "x-request-id": "r-1",
    });
  });

  test("join repeated headers", () => {
    const entries = [
      ["Via", "1.1 a"],
      ["via", "1.1 b"],
    ] as const;
    expect(record(entries)).toEqual({ via: "1.1 a, 1.1 b" });
  });

  test("are at most 4,096 characters", () => {
    const entries = Array.from({ length: 100 }, (_, index) => [`x-${index}`, "y".repeat(200)] as const);
    const recorded = record(entries);
    expect(JSON.stringify(recorded).length).toBeLessThan(4_500);
    expect(Object.keys(recorded).length).toBeGreaterThan(15);
    expect(record([["x-long", "y".repeat(5_000)]])).toEqual({});
  });

  test("hide secrets by name however many other names clients have sent", () => {
    for (let index = 0; index < 300; index += 1) record([[`X-Other-${index}`, "y"]]);
    expect(record([["X-Late-Token", "anything"]])).toEqual({ "x-late-token": "[redacted]" });
  });

  test("can have the name of a property of objects", () => {
    const recorded = recordHeaders(
      [
        ["__proto__", "a"],
        ["constructor", "b"],
        ["toString", "c"],
      ],
      redact,
    );
    expect(Object.entries(recorded)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["tostring", "c"],
    ]);
  });
});
