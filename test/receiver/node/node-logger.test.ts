import { execFileSync } from "node:child_process";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createNodeLogger } from "../../../src/receiver/node/node-logger.ts";

beforeEach(() => {
  vi.stubEnv("LOG_LEVEL", "");
});

const levels = ["debug", "info", "warn", "error"] as const;

/** Returns the levels that pino reports as enabled. */
function enabledLevels() {
  const logger: object = createNodeLogger();
  return levels.filter((level) => Reflect.apply(Reflect.get(logger, "isLevelEnabled"), logger, [level]));
}

describe("The logger of a launched server", () => {
  test("omits debug lines by default", () => {
    expect(enabledLevels()).toEqual(["info", "warn", "error"]);
  });

  test.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["silent", []],
    ["INFO", ["info", "warn", "error"]],
    ["SILENT", []],
  ])("applies LOG_LEVEL=%s", (level, enabled) => {
    vi.stubEnv("LOG_LEVEL", level);
    expect(enabledLevels()).toEqual(enabled);
  });

  test("escapes deceptive characters as JSON does, unless it writes to a terminal", () => {
    const file = new URL("../../../src/receiver/node/node-logger.ts", import.meta.url);
    const repo = "dataset:me/\u009b2J\u202e\u001bÜ";
    // DEL is ASCII, so comparing the length in characters and bytes does not detect it.
    const title = "de\u007fl";
    const script = `const { createNodeLogger } = await import(${JSON.stringify(file.href)});
      createNodeLogger().info({ repo: ${JSON.stringify(repo)} }, "delivery ignored");
      createNodeLogger().info({ title: ${JSON.stringify(title)} }, "delivery succeeded");`;
    const written = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    const lines = written.trimEnd().split("\n");
    expect(lines[0]).toContain(String.raw`dataset:me/\u009b2J\u202e\u001bÜ`);
    expect(lines[1]).toContain(String.raw`"title":"de\u007fl"`);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { repo, msg: "delivery ignored" },
      { title, msg: "delivery succeeded" },
    ]);
  });

  test.each(["verbose", "20"])("rejects the LOG_LEVEL %s, with the valid ones", (level) => {
    vi.stubEnv("LOG_LEVEL", level);
    expect(() => createNodeLogger()).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
