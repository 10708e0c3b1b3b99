import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withDeadline } from "../../../src/inbox/bullmq/queue-server.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const late = () => new Error("It is late.");

describe("A deadline", () => {
  test("lets a result through, and leaves no timer", async () => {
    expect(await withDeadline(Promise.resolve("done"), 1_000, late)).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("lets an error through, and leaves no timer", async () => {
    await expect(withDeadline(Promise.reject(new Error("It failed.")), 1_000, late)).rejects.toThrow("It failed.");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends the wait when the time is over", async () => {
    const waiting = expect(withDeadline(new Promise(() => {}), 1_000, late)).rejects.toThrow("It is late.");
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
  });
});
