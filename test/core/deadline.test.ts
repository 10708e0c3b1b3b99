import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withDeadline } from "../../src/core/time.ts";

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
