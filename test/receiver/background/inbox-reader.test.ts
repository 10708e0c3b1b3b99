import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createCountsReader, createInboxReader } from "../../../src/receiver/inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const neverOpened = () => new Promise<Inbox>(() => {});

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

// The tests of GET /ready contain how often an inbox is read.
describe("The counts of an inbox", () => {
  test("are undefined while it is not open", async () => {
    expect(await createCountsReader({ opened: undefined }, { now: Date.now }).read()).toBeUndefined();
  });

  test("are unknown after one second if the inbox does not respond", async () => {
    useFakeTimers();
    const settled = vi.fn();
    createCountsReader({ opened: neverOpened() }, { now: Date.now }).read().then(settled);
    await vi.advanceTimersByTimeAsync(999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled).toHaveBeenCalledWith("unknown");
  });

  test("are unknown if the inbox fails or cannot be opened", async () => {
    const inbox = new SqliteInbox({ file: ":memory:", log: createMemoryLogger(), now: Date.now });
    await inbox.close(0);
    for (const opened of [Promise.resolve(inbox), Promise.reject(new Error("locked"))]) {
      expect(await createCountsReader({ opened }, { now: Date.now }).read()).toBe("unknown");
    }
  });
});

describe("A read of an inbox", () => {
  const options = { timeoutMs: 1, fallback: "fallback" };

  test("leaves no timer after the value is read", async () => {
    useFakeTimers();
    const reader = createInboxReader(
      { opened: neverOpened() },
      { ...options, now: Date.now, read: async () => "value" },
    );
    expect(await reader.read()).toBe("value");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("reads another inbox immediately, even while the first read is pending", async () => {
    const background = { opened: neverOpened() };
    const readInbox = vi.fn(() => new Promise<string>(() => {}));
    const reader = createInboxReader(background, { ...options, now: () => 0, read: readInbox });
    expect(await reader.read()).toBe("fallback");
    background.opened = neverOpened();
    readInbox.mockReset().mockResolvedValue("value");
    expect(await reader.read()).toBe("value");
    expect(await reader.read()).toBe("value");
    expect(readInbox).toHaveBeenCalledTimes(1);
  });

  test("is one at a time, even if a read of another inbox ends meanwhile", async () => {
    let now = 0;
    const former = Promise.withResolvers<string>();
    const background = { opened: neverOpened() };
    const readInbox = vi.fn(() => former.promise);
    const reader = createInboxReader(background, { ...options, now: () => now, read: readInbox });
    await reader.read();
    background.opened = neverOpened();
    readInbox.mockReset().mockReturnValue(new Promise(() => {}));
    await reader.read();
    former.resolve("former");
    await former.promise;
    now = 10_000;
    expect(await reader.read()).toBe("fallback");
    expect(readInbox).toHaveBeenCalledTimes(1);
  });
});
