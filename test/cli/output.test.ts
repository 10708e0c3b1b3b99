import { Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type Column, formats, Output, type Result } from "../../src/cli/invocation.ts";

const columns: readonly Column[] = [
  { key: "id", title: "Id" },
  { key: "state", title: "State", color: (state) => (state === "on" ? "green" : undefined) },
  { key: "last", title: "Last", empty: "never" },
];

const result: Result = {
  json: [{ id: "a" }, { id: "bbbb" }],
  quiet: ["a", "bbbb"],
  columns,
  rows: [
    ["a", "on", ""],
    ["bbbb", "off", "today"],
  ],
};

interface Wanted {
  format?: (typeof formats)[number];
  isTerminal?: boolean;
  env?: Record<string, string>;
}

/** Returns the text written to standard output and standard error. */
function writtenBy(
  use: (output: Output) => void,
  { format, isTerminal = false, env = {} }: Wanted = {},
): { stdout: string; stderr: string } {
  const text = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof text) =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          text[name] += chunk;
          done();
        },
      }),
      { isTTY: isTerminal },
    );
  const shell = {
    stdin: Readable.from([]),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env,
    untilStopped: () => Promise.resolve(),
    stop() {},
  };
  use(new Output({ shell, format }));
  return text;
}

/** Returns the text written for a result. */
function written(shown: Result, wanted: Wanted = {}): string {
  const { stdout, stderr } = writtenBy((output) => output.printResult(shown), wanted);
  expect(stderr).toBe("");
  return stdout;
}

describe("The output", () => {
  test("is a table on a terminal", () => {
    expect(written(result, { isTerminal: true, env: { NO_COLOR: "1" } })).toBe(
      ["ID    STATE  LAST", "a     on     never", "bbbb  off    today", ""].join("\n"),
    );
  });

  test("has colors on a terminal, which do not shift the columns", () => {
    expect(written(result, { isTerminal: true })).toContain("a     \u001b[32mon   \u001b[39m  never");
  });

  test("aligns columns by display width: a CJK character has a width of two columns", () => {
    const rows = [
      ["データ", "on", ""],
      ["abc", "off", ""],
    ];
    const lines = written({ ...result, rows }, { isTerminal: true, env: { NO_COLOR: "1" } }).split("\n");
    expect(lines[1]).toMatch(/^データ {2}on/);
    expect(lines[2]).toMatch(/^abc {5}off/);
  });

  test("has no colors without a terminal, even with --format table", () => {
    const table = written(result, { format: "table" });
    expect(table).toContain("a     on     never");
    expect(table).not.toContain("\u001b");
  });

  test("is tab-separated when it is piped, with a header for programs", () => {
    expect(written(result)).toBe("id\tstate\tlast\na\ton\t\nbbbb\toff\ttoday\n");
  });

  test("prints one line per row, regardless of its content", () => {
    expect(written({ ...result, rows: [["a\tb\nc", "on", "\u001b[2J"]] })).toBe("id\tstate\tlast\na b c\ton\t\n");
  });

  test("is JSON with --format json, also on a terminal", () => {
    expect(JSON.parse(written(result, { format: "json", isTerminal: true }))).toEqual(result.json);
  });

  test("is one id per line with --format quiet", () => {
    expect(written(result, { format: "quiet" })).toBe("a\nbbbb\n");
  });

  test("of one object is a block on a terminal", () => {
    const [row = []] = result.rows;
    const block = written({ ...result, rows: [row], asBlocks: true }, { isTerminal: true, env: { NO_COLOR: "1" } });
    expect(block).toBe("Id     a\nState  on\nLast   never\n");
  });

  test.each([...formats, undefined])("of an empty list has no lines: %s", (format) => {
    const nothing = written({ ...result, json: [], quiet: [], rows: [] }, { format });
    expect(nothing).toBe(format === "json" ? "[]\n" : "");
  });

  test.each([true, false])(
    "has no escape codes and one line per message on standard error (terminal: %s)",
    (isTerminal) => {
      const hostile = "Webhook \u001b[2J\u001b]0;title\u0007\u009b31mred\r\nis gone";
      expect(writtenBy((output) => output.log(hostile), { isTerminal })).toEqual({
        stdout: "",
        stderr: "Webhook red is gone\n",
      });
    },
  );
});
