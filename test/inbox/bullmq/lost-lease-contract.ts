import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/payload/parse.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "../engine.ts";

const script = new URL("./handler-process.ts", import.meta.url);

/** Tests of deliveries whose process is blocked or frozen while it runs them. */
export function describeLostLeases(engine: Engine): void {
  const start = (store: string, environment: Readonly<Record<string, string>> = {}) =>
    startReceiverProcess(script, { STORE: store, ...environment });

  describe("A delivery whose handler blocks the event loop", () => {
    test("for longer than its lease runs once, although another receiver is waiting", { timeout: 60_000 }, async () => {
      // The thread that renews the lease competes with the other tests for the processor.
      const leaseMs = 3_000;
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      // The renewal thread loads its code when the event loop is first blocked, which is slow on a busy machine.
      await inbox.accept(incoming(`blocks-${leaseMs / 2}`));
      await waitForStatus(inbox, `blocks-${leaseMs / 2}`, "succeeded");
      const id = `blocks-${2 * leaseMs}`;
      await inbox.accept(incoming(id));
      await child.says("claimed", 2);
      const runs = work(inbox, () => succeeded);
      const stored = await waitForStatus(inbox, id, "succeeded");
      expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
      expect(runs).toEqual([]);
    });

    test("for too long is run by another receiver", async () => {
      const leaseMs = 1_500;
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}`, MAX_BLOCKED_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("blocks-1000"));
      await waitForStatus(inbox, "blocks-1000", "succeeded");
      await inbox.accept(incoming("blocks-60000"));
      await child.says("claimed", 2);
      const runs = work(inbox, () => succeeded);
      await waitForStatus(inbox, "blocks-60000", "succeeded");
      expect(runs).toMatchObject([{ id: "blocks-60000", attempt: 2 }]);
    });
  });

  describe("A delivery whose process is frozen for longer than its lease", () => {
    const leaseMs = 500;

    /** Starts a process that runs a delivery and freezes it until another receiver also runs the delivery. */
    async function takenOver(run: () => Outcome | Promise<Outcome>) {
      const { inbox, store, logger } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("held-a"));
      await child.says("claimed");
      child.signal("SIGSTOP");
      const runs = work(inbox, run, { policy: { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 } });
      await waitFor(() => expect(runs).toHaveLength(1));
      const thaw = async () => {
        child.signal("SIGCONT");
        child.signal("SIGUSR2");
        await child.says("ended");
      };
      return { inbox, runs, thaw, logger };
    }

    const hasLateSuccess = async (inbox: Awaited<ReturnType<typeof takenOver>>["inbox"]) =>
      waitFor(
        async () =>
          expect((await inbox.get({ id: "held-a", endpoint: "retrain" }))?.attempts[0]).toMatchObject({
            outcome: "succeeded",
          }),
        { interval: 20 },
      );

    test("succeeds if its first run does, even if the second one fails", async () => {
      const hold = Promise.withResolvers<Outcome>();
      const { inbox, runs, thaw } = await takenOver(() => hold.promise);
      await thaw();
      await hasLateSuccess(inbox);
      hold.resolve(failed({ retryable: false }));
      const stored = await waitForStatus(inbox, "held-a", "succeeded");
      expect(stored?.attempts).toMatchObject([{ outcome: "succeeded" }, { outcome: "failed" }]);
      expect(runs).toHaveLength(1);
    });

    test("succeeds if its first run does, even after the second one has failed permanently", async () => {
      const { inbox, runs, thaw, logger } = await takenOver(() => failed({ retryable: false }));
      await waitForStatus(inbox, "held-a", "dead");
      const before = logger.lines.length;
      await thaw();
      await waitForStatus(inbox, "held-a", "succeeded");
      expect(runs).toHaveLength(1);
      // The thawed process logs the lost lease, so the other receiver logs nothing.
      expect(logger.lines.slice(before)).toEqual([]);
    });

    test("succeeds as soon as its first run does, even if the second one waits for a retry", async () => {
      const retryAt = new Date(Date.now() + 3_600_000);
      const { inbox, runs, thaw } = await takenOver(() => failed({ retryAt }));
      await waitForStatus(inbox, "held-a", "queued");
      await thaw();
      await waitForStatus(inbox, "held-a", "succeeded");
      expect(runs).toHaveLength(1);
    });

    test("runs once if there is no other receiver", async () => {
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("held-a"));
      await child.says("claimed");
      child.signal("SIGSTOP");
      const frozenAt = performance.now();
      await waitFor(() => expect(performance.now() - frozenAt).toBeGreaterThan(2 * leaseMs));
      child.signal("SIGCONT");
      child.signal("SIGUSR2");
      const stored = await waitForStatus(inbox, "held-a", "succeeded");
      expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
      expect(child.lines.filter(({ msg }) => msg === "claimed")).toHaveLength(1);
    });
  });
}
