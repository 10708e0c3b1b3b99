import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  createForwardingLogger,
  createRedactingLogger,
  createSafeLogger,
  type Logger,
  LogRedaction,
} from "../../src/core/log.ts";
import { createConsoleLogger } from "../../src/receiver/logs.ts";
import { hostileValues } from "../support/hostile-values.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

afterEach(() => void vi.restoreAllMocks());

const levels = ["debug", "info", "warn", "error"] as const;

/** Creates a pino logger that records its lines. */
function createPino() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger: createSafeLogger(logger) };
}

/** Creates a logger whose methods throw, except for spared lines. */
function createFailing(spared: (given: readonly unknown[]) => boolean = () => false) {
  const written: unknown[][] = [];
  const write = (...given: unknown[]) => {
    if (!spared(given)) throw new RangeError("planted-detail");
    written.push(given);
  };
  const failing: Logger = {
    ...{ debug: write, info: write, warn: write, error: write },
    child() {
      throw new RangeError("no children");
    },
  };
  return { written, logger: createSafeLogger(failing) };
}

describe("A forwarding logger", () => {
  test.each(levels)("passes %s() with and without fields to the current logger", (level) => {
    const first = createMemoryLogger();
    const second = createMemoryLogger();
    let current = first;
    const logger = createForwardingLogger(() => current);
    logger[level]("to the first");
    current = second;
    logger[level]({ endpoint: "retrain" }, "to the second");
    expect(first.lines).toEqual([{ level, msg: "to the first" }]);
    expect(second.lines).toEqual([{ level, endpoint: "retrain", msg: "to the second" }]);
  });

  test("creates children of the current logger", () => {
    const memory = createMemoryLogger();
    createForwardingLogger(() => memory)
      .child({ deliveryId: "d1" })
      .info("from the child");
    expect(memory.lines).toEqual([{ level: "info", deliveryId: "d1", msg: "from the child" }]);
  });
});

describe("A safe logger", () => {
  test("passes on levels, fields and children unchanged", () => {
    const memory = createMemoryLogger();
    const logger = createSafeLogger(memory);
    const err = new Error("kept as it is");
    for (const level of levels) logger[level]({ err }, level);
    logger.child({ endpoint: "retrain" }).info("alone");
    expect(memory.lines).toEqual([
      ...levels.map((level) => ({ level, msg: level, err })),
      { level: "info", msg: "alone", endpoint: "retrain" },
    ]);
    expect(memory.lines[0]?.err).toBe(err);
  });

  test.each(Object.entries(hostileValues()))("writes a line about %s, with its other fields", (_what, err) => {
    const { lines, logger } = createPino();
    logger.error({ err, endpoint: "retrain" }, "failed");
    expect(lines).toEqual([expect.objectContaining({ level: 50, msg: "failed", endpoint: "retrain" })]);
    expect(lines[0]).toHaveProperty("err");
    vi.stubEnv("LOG_LEVEL", "error");
    const onConsole = vi.spyOn(console, "error").mockImplementation(() => {});
    createSafeLogger(createConsoleLogger()).error({ err, endpoint: "retrain" }, "failed");
    expect(onConsole).toHaveBeenCalledOnce();
    expect(JSON.parse(String(onConsole.mock.calls[0]?.[0]))).toMatchObject({ msg: "failed", endpoint: "retrain" });
  });

  test("replaces fields that cannot be inspected with a placeholder", () => {
    const { lines, logger } = createPino();
    const { "a revoked proxy": revoked } = hostileValues();
    if (typeof revoked !== "object" || revoked === null) throw new Error("A proxy is an object.");
    logger.error({ err: revoked, job: Object.defineProperty({}, "id", { get: raise, enumerable: true }) }, "failed");
    logger.error(revoked, "failed again");
    expect(lines).toMatchObject([
      { msg: "failed", job: "[cannot be serialized]" },
      { msg: "failed again", fields: "[cannot be serialized]" },
    ]);
  });

  test("drops the fields if the logger throws for any field", () => {
    const { logger, written } = createFailing(([first]) => typeof first === "string");
    logger.info({ endpoint: "retrain" }, "done");
    expect(written).toEqual([["done"]]);
  });

  test("reports a logger that always throws once on the console, without its message", () => {
    const onConsole = vi.spyOn(console, "error").mockImplementation(() => {});
    const { logger } = createFailing();
    for (const level of levels) logger[level]({ endpoint: "retrain" }, "lost");
    logger.child({ deliveryId: "d-1" }).info("lost as well");
    expect(onConsole.mock.calls).toEqual([
      ['The logger threw RangeError, and log lines are lost. Check the "logger" option.'],
    ]);
  });

  test("reports lost lines once for all children", () => {
    const onConsole = vi.spyOn(console, "error").mockImplementation(() => {});
    const failing: Logger = { ...{ debug: raise, info: raise, warn: raise, error: raise }, child: () => failing };
    const logger = createSafeLogger(failing);
    for (const deliveryId of ["d-1", "d-2"]) logger.child({ deliveryId }).info("lost");
    logger.info("lost as well");
    expect(onConsole).toHaveBeenCalledOnce();
  });

  test("creates a child with plain bindings if pino rejects the given ones", () => {
    const { lines, logger } = createPino();
    const job = Object.defineProperty({}, "id", { get: raise, enumerable: true });
    logger.child({ job, endpoint: "retrain" }).info("done");
    expect(lines).toMatchObject([{ endpoint: "retrain", msg: "done" }]);
  });
});

function raise(): never {
  throw new Error("This must not be looked at.");
}

const secret = "Planted-5ecret";

function createLogger() {
  const memory = createMemoryLogger();
  const redaction = new LogRedaction();
  redaction.add([secret]);
  return { lines: memory.lines, logger: createRedactingLogger(memory, redaction) };
}

test.each(["debug", "info", "warn", "error"] as const)("No secret reaches a logger by %s()", (level) => {
  const { lines, logger } = createLogger();
  logger[level](`It is ${secret}.`);
  logger[level]({ err: secret }, `It is ${secret}.`);
  logger.child({ key: secret })[level]({ step: 1 });
  expect(lines).toEqual([
    { level, msg: "It is [redacted]." },
    { level, msg: "It is [redacted].", err: "[redacted]" },
    { level, msg: "", key: "[redacted]", step: 1 },
  ]);
});

test("Fields without a secret are passed on unchanged", () => {
  const { lines, logger } = createLogger();
  const err = new Error("no");
  logger.error({ err }, "failed");
  expect(lines[0]?.err).toBe(err);
});
