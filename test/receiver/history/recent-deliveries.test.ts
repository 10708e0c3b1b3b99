import { describe, expect, test } from "vitest";
import { RecentDeliveries, type RecordedDelivery, Run } from "../../../src/receiver/history.ts";

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

function finish(recent: RecentDeliveries, run: Run, result: string | null = null): void {
  const outcome = { status: "succeeded", result: undefined } as const;
  recent.grow(run, run.end({ outcome, resultText: result, durationMs: 1 }));
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

  test("count the results of their handlers", () => {
    const recent = new RecentDeliveries(recording);
    const body = "x".repeat(16_000);
    for (let number = 0; number < 500; number += 1) {
      const run = runOf(`d-${number}`, { body });
      recent.add(run);
      finish(recent, run, "r".repeat(6_000));
    }
    const bytes = 2_048 + 2 * 16_000 + 2 * 6_000;
    expect(idsIn(recent)).toHaveLength(Math.floor((16 * mebibyte) / bytes));
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
