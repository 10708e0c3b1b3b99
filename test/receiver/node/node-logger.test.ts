import { execFileSync, spawnSync } from "node:child_process";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createNodeLogger, formatForTerminal } from "../../../src/receiver/node/node-logger.ts";

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

describe("On a terminal", () => {
  beforeEach(() => {
    vi.stubEnv("FORCE_COLOR", "0");
  });

  const noon = new Date(2026, 8, 1, 12, 0, 5).getTime();

  /** Formats a line of pino for a terminal. */
  function shown(line: Record<string, unknown>): string {
    return formatForTerminal(JSON.stringify({ level: 30, time: noon, pid: 7, hostname: "acme", ...line }));
  }

  describe("A line on a terminal", () => {
    test("has time, level, message and fields, without process and host", () => {
      expect(shown({ msg: "delivery succeeded", status: 200 })).toBe("12:00:05 info  delivery succeeded status=200\n");
    });

    test("has the fields of a delivery in a fixed order, then all others", () => {
      const fields = {
        zebra: 1,
        ms: 3.2,
        scope: "repo",
        deliveryId: "d-1",
        endpoint: "retrain",
        action: "update",
        status: 200,
        repo: "dataset:acme/data",
      };
      expect(shown({ msg: "done", ...fields })).toBe(
        "12:00:05 info  done status=200 endpoint=retrain repo=dataset:acme/data scope=repo action=update ms=3.2 deliveryId=d-1 zebra=1\n",
      );
    });

    test.each([
      [20, "debug"],
      [30, "info "],
      [40, "warn "],
      [50, "error"],
      [60, "fatal"],
      [35, "35   "],
    ])("names the level: %d is %j", (level, label) => {
      expect(shown({ level, msg: "done" })).toBe(`12:00:05 ${label} done\n`);
    });

    test("has a color for its level if the terminal supports colors", () => {
      const coloured = (level: number) => formatForTerminal(JSON.stringify({ level, time: noon, msg: "done" }));
      expect([coloured(50), coloured(30)].join("")).not.toContain("\u001b");
      vi.stubEnv("FORCE_COLOR", "1");
      expect(coloured(50)).toContain("\u001b[31merror\u001b[39m");
      expect(coloured(30)).toContain("\u001b[32minfo \u001b[39m");
    });

    test("has lists below with their names, one item per line", () => {
      expect(shown({ msg: "ready", endpoints: ["POST /a", "POST /b"], port: 7860, warnings: [] })).toBe(
        "12:00:05 info  ready port=7860 warnings=[]\n    endpoints:\n      POST /a\n      POST /b\n",
      );
    });

    test("has the stack of an error below, indented", () => {
      const err = { type: "Error", message: "no GPU", stack: "Error: no GPU\n    at train (bot.ts:3:1)" };
      expect(shown({ level: 50, msg: "failed", err })).toBe(
        "12:00:05 error failed\n    Error: no GPU\n        at train (bot.ts:3:1)\n",
      );
    });

    test.each([
      ["a string", "no GPU", "    no GPU\n"],
      ["an object without a stack", { reason: "no GPU" }, '    {"reason":"no GPU"}\n'],
      ["null", null, "    null\n"],
    ])("shows a thrown value that is not an error: %s", (_what, err, below) => {
      expect(shown({ level: 50, msg: "failed", err })).toBe(`12:00:05 error failed\n${below}`);
    });

    test("has objects as JSON, and an empty text for a missing message", () => {
      expect(shown({ nested: { a: [1] } })).toBe('12:00:05 info   nested={"a":[1]}\n');
    });

    test("may be a value other than an object", () => {
      expect(formatForTerminal('"only a text"')).toContain("only a text");
    });
  });

  /** Texts that a third party could put into a name, a title, or an ID to control a terminal. */
  const tricks = [
    ...["\u001b[31mred", "\u001b[2J\u001b[H", "\u001b]0;owned\u0007", "\u001b", "\u009b31m", "model\rforged"],
    ...["\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\", "good\b\b\b\bevil", "\u0007"],
    ...["\u202egnp.exe", "\u2066a\u2069", "a\u0000b", "a\u007fb"],
  ];
  const forbidden = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  test.each<[string, (trick: string) => Record<string, unknown>]>([
    ["the message", (trick) => ({ msg: trick })],
    ["a field", (trick) => ({ msg: "done", repo: trick })],
    ["the name of a field", (trick) => ({ msg: "done", [trick]: 1 })],
    ["a list", (trick) => ({ msg: "done", endpoints: [trick] })],
    ["the name of a list", (trick) => ({ msg: "done", [trick]: ["a"] })],
    ["an object", (trick) => ({ msg: "done", nested: { [trick]: trick } })],
    ["an error", (trick) => ({ msg: "failed", err: { stack: trick } })],
    ["what was thrown", (trick) => ({ msg: "failed", err: trick })],
  ])("neither control characters nor a line break of a sender have an effect in %s", (_where, line) => {
    for (const trick of [...tricks, "x\n12:00:06 info  delivery succeeded"]) {
      const text = shown(line(trick));
      expect(text).not.toMatch(forbidden);
      const below = text.trimEnd().split("\n").slice(1);
      expect(below.filter((one) => !one.startsWith("    "))).toEqual([]);
    }
  });
});
