import { expect, test } from "vitest";
import {
  countBars,
  describeBars,
  describeFilter,
  sumBars,
  toHeights,
} from "../../../../src/console/app/endpoints/endpoints-model.ts";

const bars = [
  { deliveries: 4, failures: 1, attempts: 6, failedAttempts: 3 },
  { deliveries: 0, failures: 2, attempts: 0, failedAttempts: 0 },
];

test("counts deliveries and attempts apart", () => {
  expect(sumBars(countBars(bars, "deliveries"))).toEqual({ total: 4, failed: 3 });
  expect(sumBars(countBars(bars, "attempts"))).toEqual({ total: 6, failed: 3 });
});

test("scales to the highest bar, even if only failures of earlier deliveries are in one", () => {
  expect(toHeights(countBars(bars, "deliveries"))).toEqual([
    { good: 0.75, bad: 0.25 },
    { good: 0, bad: 0.5 },
  ]);
  expect(toHeights([{ total: 0, failed: 0 }])).toEqual([{ good: 0, bad: 0 }]);
});

test("describes a chart in words", () => {
  expect(describeBars({ total: 1, failed: 0 }, "deliveries")).toBe("1 delivery, 0 failed");
});

test("describes which events an endpoint accepts", () => {
  expect(describeFilter({ scopes: [], repos: [], watch: [] })).toBe("All events");
  expect(describeFilter({ scopes: ["repo"], repos: ["dataset:acme/*"], watch: ["acme"] })).toBe(
    "repo of dataset:acme/* watching acme",
  );
});
