import { describe, expect, test } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { DeliveryHistory } from "../../../src/receiver/history.ts";
import { openReceiverConsole, payloadOf } from "../console/open-receiver-console.ts";

test("A duplicate of a running delivery is not another attempt", async () => {
  const gate = Promise.withResolvers<void>();
  const { deliver, one, untilStatus } = await openReceiverConsole((server) =>
    server.webhook("waits", async () => gate.promise),
  );
  const answers = [deliver("waits", "d-1"), deliver("waits", "d-1")];
  await untilStatus("waits", "d-1", "running");
  gate.resolve();
  expect(await Promise.all(answers)).toEqual([200, 202]);
  expect((await one("waits", "d-1")).timeline).toHaveLength(1);
});

test("Refused requests are not recorded, and deliveries without a request are", async () => {
  const { server, deliver, ids, one } = await openReceiverConsole((declared) => declared.webhook("inline", () => {}));
  expect(await deliver("inline", "d-1", { headers: { "x-webhook-secret": "wrong" } })).toBe(403);
  expect(await deliver("inline", "d-2", { payload: { ...payloadOf("acme/data"), repo: 7 } })).toBe(422);
  expect(await deliver("none", "d-3")).toBe(404);
  expect(await ids()).toEqual([]);
  await server.receive(payloadOf("acme/data"), { id: "d-4" });
  expect(await ids()).toEqual(["d-4"]);
  expect(await one("inline", "d-4")).toMatchObject({ status: "succeeded", attempts: 1 });
});

const done: Outcome = { status: "succeeded", result: undefined };
const failed: Outcome = { status: "failed", error: new WebhookError("boom", { code: "HANDLER_FAILED" }) };

function createHistory(): DeliveryHistory {
  return new DeliveryHistory({ recordDetails: true, now: () => 0, redact: (text) => text });
}

/** Starts a run of an inline endpoint. Returns a function that ends the run. */
function start(history: DeliveryHistory, { id, at }: { id: string; at: number }): (outcome: Outcome) => void {
  const receivedAt = new Date(at);
  const delivery = { id, endpoint: "retrain", body: "{}", payload: {}, receivedAt, attempt: 1 };
  const run = history.start(delivery, {});
  return (outcome) => run && history.end(run, { outcome, resultText: null, durationMs: 1 });
}

test("Bodies and results of deliveries in memory take at most 16 MiB together", () => {
  const history = createHistory();
  const [body, resultText] = ["x".repeat(14_000), "r".repeat(6_000)];
  for (let number = 0; number < 500; number += 1) {
    const delivery = { id: `d-${number}`, endpoint: "retrain", body, payload: {}, attempt: 1 };
    const run = history.start({ ...delivery, receivedAt: new Date(number * 1_000) }, {});
    if (run) history.end(run, { outcome: done, resultText, durationMs: 1 });
  }
  // Two bytes for each character, and 2 KiB for the rest of each.
  expect([...history.recent.values()]).toHaveLength(Math.floor((16 * 1024 * 1024) / (2_048 + 2 * 20_000)));
});

test("A run that newer runs have dropped from memory is shown again if it fails, and counts once", () => {
  const history = createHistory();
  const [fail, succeed] = [start(history, { id: "fails", at: 0 }), start(history, { id: "succeeds", at: 0 })];
  for (let number = 1; number <= 600; number += 1) start(history, { id: `d-${number}`, at: number * 10 })(done);
  succeed(done);
  fail(failed);
  const ids = Array.from(history.recent.values(), ({ id }) => id);
  expect([ids.length, ids.at(-1), ids.includes("succeeds")]).toEqual([500, "fails", false]);
});

describe("A flood of deliveries", () => {
  const record = (history: DeliveryHistory, id: string, at: number, outcome: Outcome = done) =>
    start(history, { id, at })(outcome);
  const flooded = () => {
    const history = createHistory();
    for (let number = 0; number < 700; number += 1) record(history, `d-${number}`, number);
    return history;
  };
  const idsIn = (history: DeliveryHistory) => Array.from(history.recent.values(), ({ id }) => id);

  test("keeps the first 500 within a second, and each failure", () => {
    const history = flooded();
    expect(idsIn(history)).toEqual(Array.from({ length: 500 }, (_, index) => `d-${index}`));
    record(history, "failure", 800, failed);
    expect(idsIn(history).slice(-2)).toEqual(["d-499", "failure"]);
  });

  test("keeps new deliveries again when a second has passed", () => {
    const history = flooded();
    record(history, "later", 1_000);
    expect(idsIn(history).at(-1)).toBe("later");
  });

  test("keeps new deliveries if the clock was set back", () => {
    const history = flooded();
    record(history, "earlier", -5_000);
    expect(idsIn(history).at(-1)).toBe("earlier");
  });
});
