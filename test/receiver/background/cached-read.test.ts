import { describe, expect, test, vi } from "vitest";
import { CachedRead } from "../../../src/receiver/background/cached-read.ts";

describe("A cached read", () => {
  test("leaves no timer after the value is read", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const read = new CachedRead({ now: Date.now, timeoutMs: 1_000, fallback: "fallback" });
      expect(await read.get({}, async () => "value")).toBe("value");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("reads another source immediately, even while the first read is pending", async () => {
    const read = new CachedRead({ now: () => 0, timeoutMs: 1, fallback: "fallback" });
    expect(await read.get({}, () => new Promise<string>(() => {}))).toBe("fallback");
    const source = {};
    const readSource = vi.fn(async () => "value");
    expect(await read.get(source, readSource)).toBe("value");
    expect(await read.get(source, readSource)).toBe("value");
    expect(readSource).toHaveBeenCalledTimes(1);
  });
});
