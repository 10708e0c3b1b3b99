import { execFileSync, spawnSync } from "node:child_process";
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

  test.each([true, false])(
    "does not end or hold up the process on a full disk (space before the exit: %s)",
    (isFreed) => {
      const file = new URL("../../../src/receiver/node/node-logger.ts", import.meta.url);
      const script = `import fs from "node:fs";
      import { setImmediate } from "node:timers/promises";
      const { createNodeLogger } = await import(${JSON.stringify(file.href)});
      const { write, writeSync } = fs;
      const full = Object.assign(new Error(), { code: "ENOSPC" });
      fs.write = (...given) => process.nextTick(given.at(-1), full);
      fs.writeSync = () => { throw full; };
      const log = createNodeLogger();
      for (const line of ["first", "second"]) {
        log.info(line);
        await setImmediate();
      }
      if (${isFreed}) {
        fs.writeSync = writeSync;
        await new Promise((resolve) => {
          fs.write = (fd, text, callback) => write(fd, text, (...result) => {
            callback(...result);
            if (String(text).includes("third")) resolve();
          });
          log.info("third");
        });
      }
      // The first of these is being written when the process exits.
      for (const line of ["fourth", "last"]) log.info(line);
      process.exit(3);`;
      const exited = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { timeout: 5_000 });
      const lines = exited.stdout.toString().split("\n");
      const written = lines.flatMap((line) => (line === "" ? [] : JSON.parse(line).msg));
      expect(written.filter((line) => line !== "fourth")).toEqual(isFreed ? ["first", "second", "third", "last"] : []);
      expect(exited.status).toBe(3);
    },
  );

  test.each(["verbose", "20"])("rejects the LOG_LEVEL %s, with the valid ones", (level) => {
    vi.stubEnv("LOG_LEVEL", level);
    expect(() => createNodeLogger()).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
