import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  exponentialBackoff,
  loadOnce,
  resolvesWithin,
  shareRun,
  untilAborted,
  withDeadline,
} from "../../src/core/time.ts";

test.each([
  [1, 500],
  [2, 1_000],
  [3, 2_000],
  [4, 3_000],
  [5_000, 3_000],
])("The wait doubles with each failed attempt, up to a maximum: after attempt %i, it is %i ms", (attempt, wait) => {
  expect(exponentialBackoff(attempt, { firstMs: 500, maxMs: 3_000 })).toBe(wait);
});

const endings: readonly (readonly [string, () => Promise<string>, string])[] = [
  ["passes a result on", async () => "done", "done"],
  ["passes an error on", () => Promise.reject(new Error("It failed.")), "Error: It failed."],
];

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("A deadline", () => {
  const late = () => new Error("It is late.");

  test.each(endings)("%s, and leaves no timer", async (_what, work, expected) => {
    useFakeTimers();
    expect(await withDeadline(work(), 1_000, late).catch(String)).toBe(expected);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("rejects after the time", async () => {
    useFakeTimers();
    const waiting = expect(withDeadline(new Promise(() => {}), 1_000, late)).rejects.toThrow("It is late.");
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
  });
});

test.each(endings)("A wait until a signal aborts %s, and leaves no listener", async (_what, work, expected) => {
  const { signal } = new AbortController();
  expect(await untilAborted(work(), signal).catch(String)).toBe(expected);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("loadOnce()", () => {
  test("calls the function once, also for concurrent callers", async () => {
    const load = vi.fn(async () => "loaded");
    const loaded = loadOnce(load);
    expect(await Promise.all([loaded(), loaded()])).toEqual(["loaded", "loaded"]);
    await loaded();
    expect(load).toHaveBeenCalledOnce();
  });

  test("tries again after a failure, which all of its callers receive", async () => {
    const load = vi.fn(async () => "loaded").mockRejectedValueOnce(new Error("offline"));
    const loaded = loadOnce(load);
    const failed = { status: "rejected" };
    expect(await Promise.allSettled([loaded(), loaded()])).toMatchObject([failed, failed]);
    expect(await loaded()).toBe("loaded");
    expect(load).toHaveBeenCalledTimes(2);
  });
});

test("shareRun() shares a run that is in progress, and starts a new one after its end", async () => {
  const run = vi.fn(async () => {}).mockRejectedValueOnce(new Error("failed"));
  const share = shareRun(run);
  await Promise.allSettled([share(), share()]);
  expect(run).toHaveBeenCalledOnce();
  await share();
  expect(run).toHaveBeenCalledTimes(2);
});

describe("resolvesWithin()", () => {
  test("returns whether the promise resolves in time", async () => {
    expect(await resolvesWithin(Promise.resolve(), 1_000)).toBe(true);
    expect(await resolvesWithin(new Promise(() => {}), 1)).toBe(false);
  });

  test("rejects only with a rejection in time, and leaves no timer", async () => {
    useFakeTimers();
    await expect(resolvesWithin(Promise.reject(new Error("failed")), 1_000)).rejects.toThrow("failed");
    expect(vi.getTimerCount()).toBe(0);
    const late = Promise.withResolvers<void>();
    const result = resolvesWithin(late.promise, 1_000);
    vi.advanceTimersByTime(1_000);
    expect(await result).toBe(false);
    late.reject(new Error("late"));
  });
});
