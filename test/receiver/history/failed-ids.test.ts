import { expect, test } from "vitest";
import { FailedIds } from "../../../src/receiver/history.ts";

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
