import { describe, expect, test, vi } from "vitest";
import { CachedRead } from "../../../src/receiver/background.ts";

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

  test("has one read in progress, even if a read of another source ends meanwhile", async () => {
    let now = 0;
    const read = new CachedRead({ now: () => now, timeoutMs: 1, fallback: "fallback" });
    const former = Promise.withResolvers<string>();
    await read.get({}, () => former.promise);
    const source = {};
    const readSource = vi.fn(() => new Promise<string>(() => {}));
    await read.get(source, readSource);
    former.resolve("former");
    await former.promise;
    now = 10_000;
    expect(await read.get(source, readSource)).toBe("fallback");
    expect(readSource).toHaveBeenCalledTimes(1);
  });
});
