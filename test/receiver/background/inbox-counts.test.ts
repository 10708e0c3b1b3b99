import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createCountsReader } from "../../../src/receiver/background.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Opens a real inbox whose `counts` method tests can delay or make fail. */
function openCounted({ timeoutMs = 10_000 } = {}) {
  const inbox: Inbox = new SqliteInbox({ file: inboxFile(), log: createMemoryLogger(), now: Date.now });
  onTestFinished(async () => void (await inbox.close(0)));
  const ask = vi.spyOn(inbox, "counts");
  const clock = { now: 1_000_000 };
  const opened = Promise.resolve(inbox);
  const counts = createCountsReader({ opened }, { now: () => clock.now, timeoutMs });
  return { inbox, ask, clock, counts };
}

const delivery = { id: "a", endpoint: "retrain", body: "{}", receivedAt: new Date() };
const queuedOnce = { retrain: { queued: 1, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0 } };

describe("The counts of an inbox", () => {
  test("are undefined while it is not open", async () => {
    expect(await createCountsReader({ opened: undefined }, { now: Date.now }).read()).toBeUndefined();
  });

  test("are unknown after one second if the inbox does not respond", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const opening = new Promise<Inbox>(() => {});
    const settled = vi.fn();
    createCountsReader({ opened: opening }, { now: Date.now }).read().then(settled);
    await vi.advanceTimersByTimeAsync(999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled).toHaveBeenCalledWith("unknown");
  });

  test("are read at most once a second", async () => {
    const { inbox, ask, clock, counts } = openCounted();
    expect(await Promise.all([counts.read(), counts.read()])).toEqual([{}, {}]);
    await inbox.accept(delivery);
    clock.now += 999;
    expect(await counts.read()).toEqual({});
    expect(ask).toHaveBeenCalledTimes(1);
    clock.now += 1;
    expect(await counts.read()).toEqual(queuedOnce);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("are read again after the clock is set back", async () => {
    const { inbox, clock, counts } = openCounted();
    await counts.read();
    await inbox.accept(delivery);
    clock.now -= 3_600_000;
    expect(await counts.read()).toEqual(queuedOnce);
  });

  test("are unknown if the inbox fails or cannot be opened", async () => {
    const { ask, counts } = openCounted();
    ask.mockRejectedValue(new Error("the database is down"));
    expect(await counts.read()).toBe("unknown");
    const unopened = createCountsReader({ opened: Promise.reject(new Error("locked")) }, { now: Date.now });
    expect(await unopened.read()).toBe("unknown");
  });

  test("are unknown while a read is pending, and are not read again during this time", async () => {
    const { ask, clock, counts } = openCounted({ timeoutMs: 5 });
    const frozen = Promise.withResolvers<typeof queuedOnce>();
    ask.mockReturnValue(frozen.promise);
    expect(await counts.read()).toBe("unknown");
    clock.now += 60_000;
    expect(await counts.read()).toBe("unknown");
    expect(ask).toHaveBeenCalledTimes(1);
    frozen.resolve(queuedOnce);
    expect(await counts.read()).toEqual(queuedOnce);
  });
});
