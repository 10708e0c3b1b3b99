import { describe, expect, test, vi } from "vitest";
import { CachedRead } from "../../src/receiver/cached-read.ts";

describe("A throttled read", () => {
  test("leaves no timer once the value is there", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const read = new CachedRead({ now: Date.now, timeoutMs: 1_000, fallback: "fallback" });
      expect(await read.get({}, async () => "value")).toBe("value");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("reads another source at once, though the first one has not answered", async () => {
    const read = new CachedRead({ now: () => 0, timeoutMs: 1, fallback: "fallback" });
    expect(await read.get({}, () => new Promise<string>(() => {}))).toBe("fallback");
    const source = {};
    const readSource = vi.fn(async () => "value");
    expect(await read.get(source, readSource)).toBe("value");
    expect(await read.get(source, readSource)).toBe("value");
    expect(readSource).toHaveBeenCalledTimes(1);
  });
});
