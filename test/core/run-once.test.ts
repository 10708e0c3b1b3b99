import { describe, expect, onTestFinished, test, vi } from "vitest";
import { loadOnce, resolvesWithin, shareRun } from "../../src/core/time.ts";

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
    expect(await Promise.allSettled([loaded(), loaded()])).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
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
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await expect(resolvesWithin(Promise.reject(new Error("failed")), 1_000)).rejects.toThrow("failed");
    expect(vi.getTimerCount()).toBe(0);
    const late = Promise.withResolvers<void>();
    const result = resolvesWithin(late.promise, 1_000);
    vi.advanceTimersByTime(1_000);
    expect(await result).toBe(false);
    late.reject(new Error("late"));
  });
});
