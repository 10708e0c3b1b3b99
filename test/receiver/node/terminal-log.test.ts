import { beforeEach, describe, expect, test, vi } from "vitest";
import { formatForTerminal } from "../../../src/receiver/node/node-logger.ts";

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

/** Text that a third party could put into a name, a title, or an ID to control a terminal. */
const tricks: readonly [string, string][] = [
  ["a color", "\u001b[31mred"],
  ["a cleared screen", "\u001b[2J\u001b[H"],
  ["a window title", "\u001b]0;owned\u0007"],
  ["a link", "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\"],
  ["a lone escape", "\u001b"],
  ["an eight-bit control sequence", "\u009b31m"],
  ["a carriage return, which overwrites the line", "model\rforged"],
  ["a backspace", "good\b\b\b\bevil"],
  ["a bell", "\u0007"],
  ["a reversed text", "\u202egnp.exe"],
  ["an isolated direction", "\u2066a\u2069"],
  ["a nul", "a\u0000b"],
  ["a delete", "a\u007fb"],
];

describe.each(tricks)("On a terminal, %s", (_what, trick) => {
  const forbidden = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  test.each([
    ["the message", { msg: trick }],
    ["a field", { msg: "done", repo: trick }],
    ["the name of a field", { msg: "done", [trick]: 1 }],
    ["a list", { msg: "done", endpoints: [trick] }],
    ["the name of a list", { msg: "done", [trick]: ["a"] }],
    ["an object", { msg: "done", nested: { [trick]: trick } }],
    ["an error", { msg: "failed", err: { stack: trick } }],
    ["what was thrown", { msg: "failed", err: trick }],
  ])("does nothing in %s", (_where, line) => {
    const text = shown(line);
    expect(text).not.toMatch(forbidden);
    const lines = text.trimEnd().split("\n").slice(1);
    expect(lines.every((below) => below.startsWith("    "))).toBe(true);
  });
});

describe("A line break that a sender puts", () => {
  const forged = "x\n12:00:06 info  delivery succeeded";

  test.each([
    ["into the message", { msg: forged }],
    ["into a field", { msg: "done", repo: forged }],
    ["into a list", { msg: "done", endpoints: [forged] }],
    ["into an error", { msg: "failed", err: { stack: forged } }],
    ["into the name of a field", { msg: "done", [forged]: 1 }],
  ])("%s does not start a new log line", (_where, line) => {
    const [, ...below] = shown(line).trimEnd().split("\n");
    expect(below.every((text) => text.startsWith("    "))).toBe(true);
  });
});
