import { describe, expect, test } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import {
  DeliveryHistory,
  FailedIds,
  RecentDeliveries,
  type RecordedDelivery,
  Run,
} from "../../../src/receiver/history.ts";
import { openReceiverConsole, payloadOf } from "../console/open-receiver-console.ts";

const mebibyte = 1024 * 1024;
const recording = { recordDetails: true, now: () => 0, redact: (text: string) => text };

function runOf(id: string, fields: Partial<RecordedDelivery> = {}): Run {
  const delivery = { id, endpoint: "retrain", body: "{}", receivedAt: new Date(0), ...fields };
  return new Run(delivery, {}, recording);
}

/** Adds runs, oldest first. */
function keep(...runs: readonly Run[]): RecentDeliveries {
  const recent = new RecentDeliveries(recording);
  for (const run of runs) recent.add(run);
  return recent;
}

function many(count: number): Run[] {
  return Array.from({ length: count }, (_, number) => runOf(`d-${number}`));
}

function idsIn(recent: RecentDeliveries): string[] {
  return Array.from(recent.values(), ({ id }) => id);
}

function finish(recent: RecentDeliveries, run: Run): void {
  const outcome = { status: "succeeded", result: undefined } as const;
  recent.grow(run, run.end({ outcome, resultText: null, durationMs: 1 }));
}

describe("Recent deliveries", () => {
  test("are the latest 500, oldest first", () => {
    const recent = keep(...many(1_203));
    expect(idsIn(recent)).toEqual(Array.from({ length: 500 }, (_, index) => `d-${703 + index}`));
    expect(recent.get({ endpoint: "retrain", id: "d-702" })).toBeUndefined();
    expect(recent.get({ endpoint: "retrain", id: "d-703" })).toMatchObject({ id: "d-703" });
  });

  test("take at most 16 MiB, of which a character is two bytes", () => {
    const body = "x".repeat(2 * mebibyte);
    expect(idsIn(keep(...Array.from({ length: 10 }, (_, number) => runOf(`d-${number}`, { body }))))).toEqual([
      "d-7",
      "d-8",
      "d-9",
    ]);
  });

  test("do not contain a delivery that is larger than the limit, which drops no others", () => {
    const recent = keep(runOf("small"), runOf("large", { body: "x".repeat(9 * mebibyte) }));
    expect(idsIn(recent)).toEqual(["small"]);
    recent.add(runOf("next"));
    expect(idsIn(recent)).toEqual(["small", "next"]);
  });

  test("count the details that another process has recorded", () => {
    const details = { result: "r".repeat(16_000) };
    const runs = many(500);
    for (const run of runs) run.restore({ outcome: "succeeded", startedAt: new Date(0), durationMs: 1, details });
    const kept = idsIn(keep(...runs)).length;
    expect(kept).toBeGreaterThan(450);
    expect(kept).toBeLessThan(500);
  });

  test("do not count the result of a delivery that is not kept any longer", () => {
    const recent = new RecentDeliveries(recording);
    const run = runOf("first", { body: "x".repeat(mebibyte) });
    recent.add(run);
    for (const other of many(500)) recent.add(other);
    for (let time = 0; time < 100; time += 1) recent.grow(run, mebibyte);
    expect(idsIn(recent)).toHaveLength(500);
  });

  test("of two endpoints with the same ID are two deliveries", () => {
    const recent = keep(
      runOf("d-1", { endpoint: "one", receivedAt: new Date(1) }),
      runOf("d-1", { endpoint: "two", receivedAt: new Date(2) }),
    );
    expect(Array.from(recent.values(), ({ endpoint }) => endpoint)).toEqual(["one", "two"]);
    expect(recent.get({ endpoint: "two", id: "d-1" })?.startedAt).toEqual(new Date(2));
  });
});

describe("A delivery that the Hub sends again", () => {
  const at = (ms: number) => ({ receivedAt: new Date(ms) });

  test("is one delivery with two attempts, the latest body, and the time of its first arrival", () => {
    const runs = [runOf("again", at(1)), runOf("other", at(2)), runOf("again", { body: '{"new":1}', ...at(3) })];
    const recent = keep(...runs);
    const again = () => recent.get({ endpoint: "retrain", id: "again" });
    for (const run of runs.slice(0, 2)) finish(recent, run);
    expect(again()).toMatchObject({ status: "running", startedAt: new Date(3), attempts: [{ number: 1 }] });
    for (const run of runs.slice(2)) finish(recent, run);
    expect(idsIn(recent)).toEqual(["other", "again"]);
    expect(again()).toMatchObject({
      status: "succeeded",
      body: '{"new":1}',
      receivedAt: new Date(1),
      finishedAt: new Date(4),
      attempts: [
        { number: 1, startedAt: new Date(1) },
        { number: 2, startedAt: new Date(3) },
      ],
    });
  });

  test("takes no more than the 500 kept runs, however often it is sent", () => {
    const runs = Array.from({ length: 10_000 }, (_, number) => runOf("again", at(number)));
    const recent = keep(...runs);
    for (const run of runs) finish(recent, run);
    const again = recent.get({ endpoint: "retrain", id: "again" });
    expect([again?.attempts.length, again?.attempts[0]?.startedAt]).toEqual([500, new Date(9_500)]);
  });
});

describe("A run", () => {
  test("has no end while the handler runs, and then its duration, outcome, and result", () => {
    const run = runOf("d-1", { receivedAt: new Date(7) });
    expect(run.attempt(1)).toBeUndefined();
    const outcome = { status: "succeeded", result: undefined } as const;
    run.end({ outcome, resultText: '{"large":"object"}', durationMs: 5.04 });
    expect(run.attempt(1)).toEqual({
      ...{ number: 1, startedAt: new Date(7), durationMs: 5, outcome: "succeeded" },
      details: { result: '{"large":"object"}' },
    });
  });

  test("has neither details nor headers if they are not recorded", () => {
    const delivery = { id: "d-1", endpoint: "retrain", body: "{}", receivedAt: new Date(0) };
    const run = new Run(delivery, { headers: () => [["a", "b"]] }, { ...recording, recordDetails: false });
    run.end({ outcome: { status: "succeeded", result: 1 }, resultText: "1", durationMs: 1 });
    expect([run.headers, run.attempt(1)?.details]).toEqual([undefined, undefined]);
  });
});

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

const key = (number: number, endpoint = "retrain") => ({ endpoint, id: `d-${number}` });

test("Failed deliveries are known per endpoint", () => {
  const failed = new FailedIds();
  expect(failed.has(key(1))).toBe(false);
  failed.add(key(1));
  expect([failed.has(key(1)), failed.has(key(1, "other"))]).toEqual([true, false]);
});

test("At least the latest 2,000 failed deliveries are known, and at most 4,000", () => {
  const failed = new FailedIds();
  for (let number = 0; number < 9_999; number += 1) failed.add(key(number));
  const known = Array.from({ length: 9_999 }, (_, number) => number).filter((number) => failed.has(key(number)));
  expect(known[0]).toBe(6_000);
  expect(known.at(-1)).toBe(9_998);
});
