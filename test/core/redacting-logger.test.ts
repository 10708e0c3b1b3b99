import { expect, test } from "vitest";
import { redactingLogger } from "../../src/core/redacting-logger.ts";
import { Redaction } from "../../src/core/redaction.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

const secret = "Planted-5ecret";

function createLogger() {
  const memory = createMemoryLogger();
  const redaction = new Redaction();
  redaction.add([secret]);
  return { lines: memory.lines, logger: redactingLogger(memory, redaction) };
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

test("Fields without a secret reach a logger as they are", () => {
  const { lines, logger } = createLogger();
  const err = new Error("no");
  logger.error({ err }, "failed");
  expect(lines[0]?.err).toBe(err);
});
