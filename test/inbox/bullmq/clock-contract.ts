import { expect, onTestFinished, test, vi } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "../engine.ts";

/** Changes the leases of an inbox as a clock that is set back does. */
export interface LeaseTampering {
  /** Makes the lease of the running delivery belong to a process that is gone, and end in an hour. */
  orphanLease: (store: string) => Promise<void>;
  /** Returns when the lease of the running delivery ends, or `undefined` if it has ended. */
  leaseEnd: (store: string) => Promise<number | undefined>;
}

const hourMs = 3_600_000;

/** Tests of clocks that are set back by an hour while deliveries wait or run. */
export function describeClockSetBack(engine: Engine, { orphanLease, leaseEnd }: LeaseTampering): void {
  /** Lets the test set the clock of this process back by an hour. Timers are not affected. */
  const controlClock = () => {
    const realNow = Date.now;
    let behindMs = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => realNow() - behindMs);
    onTestFinished(() => clock.mockRestore());
    return {
      setBack() {
        behindMs = hourMs;
      },
    };
  };

  test("A retry waits no longer than before when the clock of this machine is set back by an hour", async () => {
    const clock = controlClock();
    const { inbox } = await openInbox(engine, { now: () => Date.now() });
    const runs = work(inbox, ({ attempt }) => (attempt === 1 ? failed() : succeeded), {
      policy: { maxAttempts: 2, waitAfter: () => 2_000, totalWaitMs: 0 },
    });
    await inbox.problems();
    await inbox.accept(incoming("a"));
    await waitFor(async () =>
      expect((await inbox.list()).deliveries).toMatchObject([{ status: "queued", attempts: [{}] }]),
    );
    clock.setBack();
    await inbox.problems();
    await waitForStatus(inbox, "a", "succeeded");
    expect(runs).toHaveLength(2);
  });

  test("The lease of a running delivery is renewed when the clock of this machine is set back by an hour", async () => {
    const clock = controlClock();
    const { inbox, store } = await openInbox(engine, { leaseMs: 3_000, now: () => Date.now() });
    const end = Promise.withResolvers<void>();
    const runs = work(inbox, () => end.promise.then(() => succeeded));
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    clock.setBack();
    const before = await leaseEnd(store);
    const isRenewed = await waitFor(async () => {
      const now = await leaseEnd(store);
      if (now === undefined) return false;
      expect(Math.abs(now - (before ?? 0))).toBeGreaterThan(100);
      return true;
    });
    expect(isRenewed).toBe(true);
    end.resolve();
    await waitForStatus(inbox, "a", "succeeded");
    expect(runs).toHaveLength(1);
  });

  test("The lease of a process that is gone ends in time although a clock was set back by an hour", async () => {
    const { inbox, store } = await openInbox(engine, { leaseMs: 500 });
    const gone = await openInbox(engine, { store, leaseMs: 500 });
    work(
      gone.inbox,
      (_claimed, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed()))),
    );
    await inbox.accept(incoming("a"));
    await waitForStatus(inbox, "a", "running");
    await orphanLease(store);
    await gone.inbox.close(0);
    work(inbox, () => succeeded);
    await inbox.problems();
    await waitForStatus(inbox, "a", "succeeded");
  });
}
