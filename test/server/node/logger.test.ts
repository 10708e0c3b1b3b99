import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createNodeLogger } from "../../../src/server/node/logger.ts";

beforeEach(() => {
  vi.stubEnv("LOG_LEVEL", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const levels = ["debug", "info", "warn", "error"] as const;

/** The levels that a logger lets through, by pino's own account. */
function enabledLevels() {
  const logger: object = createNodeLogger();
  return levels.filter((level) => Reflect.apply(Reflect.get(logger, "isLevelEnabled"), logger, [level]));
}

describe("The logger of a launched server", () => {
  test("leaves out what is only for debugging", () => {
    expect(enabledLevels()).toEqual(["info", "warn", "error"]);
  });

  test.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["silent", []],
    ["INFO", ["info", "warn", "error"]],
  ])("heeds LOG_LEVEL: %s", (level, enabled) => {
    vi.stubEnv("LOG_LEVEL", level);
    expect(enabledLevels()).toEqual(enabled);
  });

  test.each(["verbose", "20"])("refuses a LOG_LEVEL that is none, with those that are: %s", (level) => {
    vi.stubEnv("LOG_LEVEL", level);
    expect(() => createNodeLogger()).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringMatching(new RegExp(`LOG_LEVEL is "${level}".*debug.*info.*warn.*error`)),
      }),
    );
  });
});
