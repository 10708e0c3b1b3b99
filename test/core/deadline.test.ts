import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { untilAborted, withDeadline } from "../../src/core/time.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const late = () => new Error("It is late.");

describe("A deadline", () => {
  test("passes a result on, and leaves no timer", async () => {
    expect(await withDeadline(Promise.resolve("done"), 1_000, late)).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("passes an error on, and leaves no timer", async () => {
    await expect(withDeadline(Promise.reject(new Error("It failed.")), 1_000, late)).rejects.toThrow("It failed.");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("rejects after the time", async () => {
    const waiting = expect(withDeadline(new Promise(() => {}), 1_000, late)).rejects.toThrow("It is late.");
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
  });
});

test.each([
  ["passes a result on", async () => "done", "done"],
  ["passes an error on", () => Promise.reject(new Error("It failed.")), "Error: It failed."],
])("A wait until a signal aborts %s, and leaves no listener", async (_what, work, expected) => {
  const { signal } = new AbortController();
  expect(await untilAborted(work(), signal).catch(String)).toBe(expected);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
