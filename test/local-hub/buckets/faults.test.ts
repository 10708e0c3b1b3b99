import { expect, test } from "vitest";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";

const request = { operation: "PUT", bucket: "me/store", keys: ["log/1"], isConditional: false } as const;

test("A latency ends when the local Hub closes", async () => {
  const faults = new BucketFaults();
  const waiting = faults.wait(3_600_000);
  faults.close();
  expect(await waiting).toBe(false);
  expect(await faults.wait(0)).toBe(true);
});

test("Latencies of several faults add up", () => {
  const faults = new BucketFaults();
  faults.set([
    { kind: "latency", latency: "1s" },
    { kind: "latency", latency: 500, count: 1 },
  ]);
  expect(faults.take(request).latencyMs).toBe(1_500);
  expect(faults.take(request).latencyMs).toBe(1_000);
});

test("A request that fails does not use up later faults", () => {
  const faults = new BucketFaults();
  faults.set([
    { kind: "error", status: 500, count: 1 },
    { kind: "answer-lost", count: 1 },
  ]);
  expect(faults.take(request)).toMatchObject({ error: { status: 500 }, isAnswerLost: false });
  expect(faults.take(request)).toMatchObject({ error: undefined, isAnswerLost: true });
});

test.each([
  ["log/*", true],
  ["log/.", false],
  ["*", true],
  ["*/1", true],
  ["log", false],
])("The pattern %s selects the key log/1: %s", (keys, isSelected) => {
  const faults = new BucketFaults();
  faults.set([{ kind: "torn-body", keys }]);
  expect(faults.take(request).isTorn).toBe(isSelected);
});
