import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { InboxReader } from "../../../src/receiver/background.ts";

const neverOpened = () => new Promise<Inbox>(() => {});

describe("A read of an inbox", () => {
  test("leaves no timer after the value is read", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const options = { now: Date.now, timeoutMs: 1_000, fallback: "fallback", read: async () => "value" };
    expect(await new InboxReader({ opened: neverOpened() }, options).read()).toBe("value");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("reads another inbox immediately, even while the first read is pending", async () => {
    const background = { opened: neverOpened() };
    const readInbox = vi.fn(() => new Promise<string>(() => {}));
    const reader = new InboxReader(background, { now: () => 0, timeoutMs: 1, fallback: "fallback", read: readInbox });
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
    const reader = new InboxReader(background, { now: () => now, timeoutMs: 1, fallback: "fallback", read: readInbox });
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
