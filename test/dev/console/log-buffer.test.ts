import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import type { LogLine } from "../../../src/console/protocol/session.ts";
import { LogBuffer, parseLogLine } from "../../../src/dev/console/log-buffer.ts";

function openBuffer() {
  const published: (readonly LogLine[])[] = [];
  const buffer = new LogBuffer({ now: () => 1_000, onLines: (lines) => published.push(lines) });
  return { buffer, published };
}

const logged = (fields: object) => ({ stream: "stdout" as const, text: JSON.stringify(fields) });

describe("A line of the logger", () => {
  test("keeps its level, message, delivery, and other fields", () => {
    const { buffer } = openBuffer();
    buffer.add(
      logged({ level: 40, time: 5, pid: 1, hostname: "h", msg: "slow", endpoint: "retrain", deliveryId: "7", ms: 12 }),
    );
    expect(buffer.after(0)).toEqual([
      { sequence: 1, at: 5, level: "warn", message: "slow", endpoint: "retrain", deliveryId: "7", fields: '{"ms":12}' },
    ]);
  });

  test.for([
    [10, "debug"],
    [20, "debug"],
    [30, "info"],
    [50, "error"],
    [60, "error"],
    [35, "info"],
    ["info", "info"],
  ] as const)("with level %s is shown as %s", ([level, shown]) => {
    const { buffer } = openBuffer();
    buffer.add(logged({ level, time: 5, msg: "" }));
    expect(buffer.after(0)[0]?.level).toBe(shown);
  });

  test("whose time is in nanoseconds has the time at which it arrived", () => {
    const { buffer } = openBuffer();
    buffer.add(logged({ level: 30, time: 1.7e18, msg: "" }));
    expect(buffer.after(0)[0]?.at).toBe(1_000);
  });
});

describe("Any other line", () => {
  test.for([
    ["stdout", "hello", "output"],
    ["stderr", "Error: boom", "error"],
    ["stdout", "{not json", "output"],
    ["stdout", '{"level":30,"msg":"no time"}', "output"],
  ] as const)("on %s is shown as it is: %s", ([stream, text, level]) => {
    const { buffer } = openBuffer();
    buffer.add({ stream, text });
    expect(buffer.after(0)).toEqual([{ sequence: 1, at: 1_000, level, message: text }]);
  });

  test("is text if it is nested too deeply to be written again", () => {
    const { buffer } = openBuffer();
    buffer.add({ stream: "stdout", text: `{"level":30,"time":1,"x":${"[".repeat(9_000)}${"]".repeat(9_000)}}` });
    expect(buffer.after(0)[0]?.level).toBe("output");
  });

  test("is cut if it is very long", () => {
    const { buffer } = openBuffer();
    buffer.add({ stream: "stdout", text: "x".repeat(100_000) });
    expect(buffer.after(0)[0]?.message).toHaveLength(8_192);
  });
});

test("Long lines do not stay in memory", { tags: "slow" }, () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const usedBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const { buffer } = openBuffer();
  const before = usedBytes();
  for (let line = 0; line < 40; line += 1) {
    const text = Buffer.alloc(1_000_000, `${line} `).toString("latin1");
    buffer.add({ stream: "stdout", text });
    buffer.add(logged({ level: 30, time: 5, msg: text, data: text }));
  }
  expect(usedBytes() - before).toBeLessThan(20_000_000);
  expect(buffer.after(0)).toHaveLength(80);
});

test("The newest 2,000 lines are kept", () => {
  const { buffer } = openBuffer();
  for (let line = 1; line <= 5_000; line += 1) buffer.add({ stream: "stdout", text: String(line) });
  const lines = buffer.after(0);
  expect([lines.length, lines[0]?.message, lines.at(-1)?.message]).toEqual([2_000, "3001", "5000"]);
  expect(buffer.after(4_998).map(({ message }) => message)).toEqual(["4999", "5000"]);
});

test("New lines are published together, and each line once", () => {
  vi.useFakeTimers();
  try {
    const { buffer, published } = openBuffer();
    buffer.add({ stream: "stdout", text: "one" });
    buffer.add({ stream: "stdout", text: "two" });
    vi.runAllTimers();
    buffer.add({ stream: "stdout", text: "three" });
    vi.runAllTimers();
    expect(published.map((lines) => lines.map(({ message }) => message))).toEqual([["one", "two"], ["three"]]);
  } finally {
    vi.useRealTimers();
  }
});

test("The fields of a line of a JSON logger are parsed", () => {
  const fields = { level: 30, time: 1, msg: "hello", err: { message: "boom" } };
  expect(parseLogLine(JSON.stringify(fields))).toEqual(fields);
});

test.for(["plain text", "{ not json", "{}", "[1]", "null", '{"level":30}', '{"time":1}'])(
  "Text that is not from a JSON logger is ignored: %s",
  (text) => {
    expect(parseLogLine(text)).toBeUndefined();
  },
);
