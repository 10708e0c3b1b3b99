import { describe, expect, test } from "vitest";
import { formatDelivery, sanitizeLine } from "../../../../src/cli/commands/dev/dev-lines.ts";

/** Formats a log line with these fields. */
function format({ isRetry = false, ...fields }: Record<string, unknown> & { isRetry?: boolean }) {
  return formatDelivery(fields, { isRetry });
}

const delivery = {
  endpoint: "retrain",
  deliveryId: "d1",
  repo: "dataset:me/data",
  scope: "repo.content",
  action: "update",
};

describe("formatDelivery", () => {
  test.each([
    [
      "a success",
      { outcome: "succeeded", status: 200, ms: 1.2 },
      "✓",
      "200  retrain  dataset:me/data  repo.content update  1.2 ms",
    ],
    [
      "an accepted delivery",
      { status: 202, ms: 3 },
      "✓",
      "202  retrain  dataset:me/data  repo.content update  3 ms  accepted",
    ],
    [
      "a duplicate",
      { status: 202, ms: 3, duplicate: true },
      "✓",
      "202  retrain  dataset:me/data  repo.content update  3 ms  duplicate, not run again",
    ],
    [
      "a delivery that does not match the filter",
      { outcome: "ignored", status: 200, ms: 0.1, reason: "repo dataset:me/data is not model:me/*" },
      "·",
      "200  retrain  dataset:me/data  repo.content update  0.1 ms  ignored: repo dataset:me/data is not model:me/*",
    ],
    [
      "a background attempt",
      { outcome: "succeeded", attempt: 2, ms: 40 },
      "✓",
      "succeeded  retrain  dataset:me/data  repo.content update  40 ms  attempt 2",
    ],
    [
      "a failure",
      { outcome: "failed", status: 500, ms: 5, code: "HANDLER_FAILED", msg: "delivery failed: The handler failed." },
      "✗",
      "500  retrain  dataset:me/data  repo.content update  5 ms  The handler failed.",
    ],
    [
      "a dead delivery, with the message of the cause",
      {
        outcome: "dead",
        attempt: 3,
        code: "HANDLER_FAILED",
        msg: 'delivery is dead: The handler of endpoint "retrain" failed. Replay it.',
        err: { message: "boom" },
      },
      "✗",
      "dead  retrain  dataset:me/data  repo.content update  attempt 3  boom",
    ],
    [
      "a dead delivery without a cause",
      { outcome: "dead", attempt: 3, msg: "delivery is dead: The body does not match." },
      "✗",
      "dead  retrain  dataset:me/data  repo.content update  attempt 3  The body does not match.",
    ],
    [
      "a failed attempt with a retry",
      { outcome: "retrying", attempt: 1, ms: 5, nextAttemptInMs: 30_000, msg: "Timed out." },
      "✗",
      "failed  retrain  dataset:me/data  repo.content update  5 ms  attempt 1  Timed out.",
    ],
    [
      "a failed attempt with an error and a retry",
      { outcome: "retrying", attempt: 1, ms: 5, nextAttemptInMs: 30_000, msg: "It failed.", err: { message: "no" } },
      "✗",
      "failed  retrain  dataset:me/data  repo.content update  5 ms  attempt 1  next attempt in 30 s",
    ],
    [
      "a failed attempt with a repeated error and a retry",
      { outcome: "retrying", attempt: 2, ms: 5, nextAttemptInMs: 30_000, err: { message: "no" }, repeated: 1 },
      "✗",
      "failed  retrain  dataset:me/data  repo.content update  5 ms  attempt 2  no  next attempt in 30 s",
    ],
  ])("formats %s as one line", (_name, fields, sign, text) => {
    expect(format({ ...delivery, ...fields })).toMatchObject({ sign, text, stack: [] });
  });

  test("formats a rejected delivery, whose payload is unknown", () => {
    const fields = {
      endpoint: "retrain",
      status: 403,
      code: "SECRET_INVALID",
      msg: "delivery refused: Invalid secret.",
    };
    expect(format(fields)).toMatchObject({ sign: "✗", text: "403  retrain  delivery refused: Invalid secret." });
  });

  test("shows the frames of the user's code for an error", () => {
    const stack = [
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
      "    at processDelivery (file:///home/me/node_modules/hub-webhooks/dist/receiver/pipeline/run-handler.js:1:1)",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    ].join("\n");
    expect(format({ ...delivery, outcome: "failed", status: 500, err: { stack } })?.stack).toEqual([
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
    ]);
  });

  test("shows a string that a handler threw", () => {
    expect(format({ ...delivery, outcome: "failed", status: 500, err: "no database" })?.stack).toEqual(["no database"]);
  });

  test("returns undefined for other log lines", () => {
    expect(format({ msg: "hello" })).toBeUndefined();
    expect(format({ endpoint: "retrain", url: "http://x", msg: "Endpoint added." })).toBeUndefined();
  });

  test("removes escape codes", () => {
    expect(format({ ...delivery, repo: "dataset:me/\u001b[2Jdata", status: 200 })?.text).toContain("dataset:me/data");
  });
});

describe("sanitizeLine", () => {
  test("keeps colors and removes other control characters", () => {
    expect(sanitizeLine("\u001b[31mred\u001b[0m\u001b[2J\u0007\u202e\tend")).toBe("\u001b[31mred\u001b[0m[2J    end");
  });
});
