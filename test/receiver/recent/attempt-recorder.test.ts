import { describe, expect, test } from "vitest";
import { createSafeLogger } from "../../../src/core/log.ts";
import { WebhookError } from "../../../src/index.ts";
import { AttemptRecorder, trimResult } from "../../../src/receiver/recent/attempt-recorder.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const succeeded = { status: "succeeded", result: undefined } as const;

function createRecorder() {
  const recorder = new AttemptRecorder({ now: () => 7, redact: (text) => text.replaceAll("pl4nted", "[redacted]") });
  const logger = createMemoryLogger();
  return {
    recorder,
    logger,
    log: recorder.wrap(createSafeLogger(logger)),
    logs: () => recorder.details(succeeded, undefined)?.logs,
  };
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
    const { recorder } = createRecorder();
    expect(recorder.details(succeeded, undefined)).toBeUndefined();
    expect(recorder.details(succeeded, null)).toBeUndefined();
    expect(recorder.details(failed(undefined), undefined)).toBeUndefined();
  });

  test("contain the result, without secrets", () => {
    const { recorder } = createRecorder();
    expect(recorder.details(succeeded, '{"token":"pl4nted"}')).toEqual({ result: '{"token":"[redacted]"}' });
    expect(recorder.details(succeeded, '""')).toEqual({ result: '""' });
  });

  test("contain the stack with its causes, without frames of Node and of packages", () => {
    const { recorder } = createRecorder();
    const cause = new TypeError("The secret is pl4nted.");
    const error = new Error("outer", { cause });
    error.stack = [
      "Error: outer",
      "    at handler (/app/server.ts:3:9)",
      "    at run (/app/node_modules/hub-webhooks/dist/index.js:1:1)",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    ].join("\n");
    const { stack = "" } = recorder.details(failed(error), undefined) ?? {};
    expect(stack).toMatch(
      /^Error: outer\n {4}at handler \(\/app\/server\.ts:3:9\)\nCaused by: TypeError: The secret is/,
    );
    expect(stack).toContain("attempt-recorder.test.ts");
    expect(stack).not.toMatch(/node_modules|node:internal|pl4nted/);
  });

  test.each([
    ["a text", "no luck", "string: no luck"],
    ["an object without a stack", { name: "Odd", message: "no stack" }, "Odd: no stack"],
    ["a number", 7, "number: 7"],
  ])("describe %s that was thrown", (_what, thrown, stack) => {
    expect(createRecorder().recorder.details(failed(thrown), undefined)).toEqual({ stack });
  });

  test("end after circular causes", () => {
    const error: Error & { cause?: unknown } = new Error("loop");
    error.cause = error;
    const { stack = "" } = createRecorder().recorder.details(failed(error), undefined) ?? {};
    expect(stack.match(/Caused by/g)?.length).toBeLessThan(10);
  });

  test("are at most 16 KiB, and are marked if they were cut", () => {
    for (const lineLength of [1, 100, 5_000]) {
      const { recorder, log } = createRecorder();
      for (let line = 0; line < 1_000; line += 1) log.info({ field: "f".repeat(lineLength) }, "m".repeat(lineLength));
      const error = new Error("e".repeat(50_000));
      const details = recorder.details(failed(error), JSON.stringify("r".repeat(50_000)));
      const { result = "", stack = "", logs = [] } = details ?? {};
      const size = logs.reduce((sum, { message, fields = "" }) => sum + message.length + fields.length, 0);
      expect(result.length + stack.length + size).toBeLessThanOrEqual(16 * 1_024);
      expect([result.length, stack.length, details?.isTruncated]).toEqual([6 * 1_024, 4 * 1_024, true]);
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
    const { recorder, log } = createRecorder();
    log.info("short");
    expect(recorder.details(succeeded, '"short"')).not.toHaveProperty("isTruncated");
  });

  test("never contain half of a character", () => {
    const { recorder, log } = createRecorder();
    log.info(`x${"😀".repeat(2_000)}`);
    const details = recorder.details(succeeded, `"x${"😀".repeat(5_000)}"`);
    expect(details?.result?.isWellFormed()).toBe(true);
    expect(details?.logs?.[0]?.message.isWellFormed()).toBe(true);
  });
});

test("A trimmed result is marked as cut later", () => {
  const { recorder } = createRecorder();
  const long = JSON.stringify("r".repeat(100_000));
  expect(trimResult(long).length).toBeLessThan(7_000);
  expect(recorder.details(succeeded, trimResult(long))).toMatchObject({ isTruncated: true });
  expect(trimResult('"short"')).toBe('"short"');
});
