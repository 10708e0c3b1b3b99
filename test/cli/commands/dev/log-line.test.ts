import { describe, expect, test } from "vitest";
import { harmless, parseLogLine, tellDelivery } from "../../../../src/cli/commands/dev/log-line.ts";

/** What is told of a line of the log with these fields. */
function told(fields: object) {
  const line = parseLogLine(JSON.stringify({ level: 30, time: 1, ...fields }));
  return line && tellDelivery(line);
}

const delivery = {
  endpoint: "retrain",
  deliveryId: "d1",
  repo: "dataset:me/data",
  scope: "repo.content",
  action: "update",
};

describe("A line of the log", () => {
  test.each([
    [
      "a success",
      { outcome: "succeeded", status: 200, ms: 1.2 },
      "✓",
      "200  retrain  dataset:me/data  repo.content update  1.2 ms",
    ],
    [
      "what was accepted",
      { status: 202, ms: 3 },
      "✓",
      "202  retrain  dataset:me/data  repo.content update  3 ms  accepted",
    ],
    [
      "a duplicate",
      { status: 202, ms: 3, duplicate: true },
      "✓",
      "202  retrain  dataset:me/data  repo.content update  3 ms  a duplicate, not run again",
    ],
    [
      "what a filter does not want",
      { outcome: "ignored", status: 200, ms: 0.1, reason: "repo dataset:me/data is not model:me/*" },
      "·",
      "200  retrain  dataset:me/data  repo.content update  0.1 ms  ignored: repo dataset:me/data is not model:me/*",
    ],
    [
      "an attempt in the background",
      { outcome: "succeeded", attempt: 2, ms: 40 },
      "✓",
      "succeeded  retrain  dataset:me/data  repo.content update  40 ms  attempt 2",
    ],
    [
      "a failure",
      { outcome: "failed", status: 500, ms: 5, code: "HANDLER_FAILED", msg: "The handler failed." },
      "✗",
      "500  retrain  dataset:me/data  repo.content update  5 ms  The handler failed.",
    ],
    [
      "an attempt that will be tried again",
      { outcome: "retrying", attempt: 1, ms: 5, nextAttemptInMs: 30_000, msg: "Timed out." },
      "✗",
      "retrying  retrain  dataset:me/data  repo.content update  5 ms  attempt 1  Timed out.",
    ],
    [
      "an attempt that threw and will be tried again",
      { outcome: "retrying", attempt: 1, ms: 5, nextAttemptInMs: 30_000, msg: "It failed.", err: { message: "no" } },
      "✗",
      "retrying  retrain  dataset:me/data  repo.content update  5 ms  attempt 1  next attempt in 30 s",
    ],
  ])("of %s is told in one line", (_name, fields, sign, text) => {
    expect(told({ ...delivery, ...fields })).toMatchObject({ sign, text, below: [] });
  });

  test("of a refused delivery is told, though nothing is known of its payload", () => {
    const fields = {
      endpoint: "retrain",
      status: 403,
      code: "SECRET_INVALID",
      msg: "delivery refused: Invalid secret.",
    };
    expect(told(fields)).toMatchObject({ sign: "✗", text: "403  retrain  delivery refused: Invalid secret." });
  });

  test("of what a handler threw shows where, without the way there", () => {
    const stack = [
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
      "    at processDelivery (file:///home/me/node_modules/hub-webhooks/dist/receiver/run-handler.js:1:1)",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    ].join("\n");
    expect(told({ ...delivery, outcome: "failed", status: 500, err: { stack } })?.below).toEqual([
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
    ]);
  });

  test("of a handler that threw a text shows that", () => {
    expect(told({ ...delivery, outcome: "failed", status: 500, err: "no database" })?.below).toEqual(["no database"]);
  });

  test("of something else is no delivery", () => {
    expect(told({ msg: "hello" })).toBeUndefined();
    expect(told({ endpoint: "retrain", url: "http://x", msg: "endpoint added" })).toBeUndefined();
  });

  test.each(["plain text", "{ not json", "{}", "[1]", '{"level":30}'])("is none of a logger: %s", (text) => {
    expect(parseLogLine(text)).toBeUndefined();
  });

  test("brings no escape codes to the terminal", () => {
    expect(told({ ...delivery, repo: "dataset:me/\u001b[2Jdata", status: 200 })?.text).toContain("dataset:me/data");
  });
});

describe("What the user's code prints", () => {
  test("keeps its colours, and nothing else that a terminal obeys", () => {
    expect(harmless("\u001b[31mred\u001b[0m\u001b[2J\u0007\u202e\tend")).toBe("\u001b[31mred\u001b[0m[2J    end");
  });
});
