import { describe, expect, test } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

const key = { id: "a", endpoint: "retrain" };

/** Tests of discarded deliveries that every inbox must pass. */
export function describeDiscarding(engine: Engine): void {
  describe("a discarded delivery", () => {
    test("does not run, also after a restart, and is a duplicate when it is received again", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept(incoming("a"));
      await first.inbox.discard(key);
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      const runs = work(inbox, () => succeeded);
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      await inbox.accept(incoming("b"));
      await waitForStatus(inbox, "b", "succeeded");
      expect(runs.map(({ id }) => id)).toEqual(["b"]);
      const stored = await inbox.get(key);
      expect(stored).toMatchObject({ status: "cancelled", body: '{"id":"a"}', finishedAt: expect.any(Date) });
      expect(stored).not.toHaveProperty("dueAt");
    });

    test("is counted and listed as cancelled", async () => {
      const { inbox } = await openInbox(engine);
      for (const id of ["a", "b"]) await inbox.accept(incoming(id));
      await inbox.discard(key);
      expect(await inbox.counts()).toEqual({
        retrain: { queued: 1, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 1 },
      });
      expect((await inbox.list({ status: "cancelled" })).deliveries).toMatchObject([{ id: "a", status: "cancelled" }]);
      expect((await inbox.list({ status: "queued" })).deliveries).toMatchObject([{ id: "b" }]);
      expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["b", "a"]);
    });

    test("keeps its attempts, and can be replayed with all attempts", async () => {
      const { inbox } = await openInbox(engine);
      let works = false;
      const runs = work(inbox, () => (works ? succeeded : failed({ message: "Too early." })));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      await inbox.discard(key);
      expect(await inbox.get(key)).toMatchObject({ status: "cancelled", attempts: [{}, {}, { number: 3 }] });
      expect(await inbox.replayDead("retrain")).toBe(0);
      works = true;
      await inbox.replay(key);
      const stored = await waitForStatus(inbox, "a", "succeeded");
      expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed", "succeeded"]);
      expect(runs.at(-1)).toMatchObject({ attempt: 4, isLastAttempt: false });
      expect(await inbox.counts()).toMatchObject({ retrain: { cancelled: 0, succeeded: 1 } });
    });

    test("can have been waiting for a retry", async () => {
      const { inbox } = await openInbox(engine);
      const never = new Date(Date.now() + 1e9);
      work(inbox, () => failed({ retryAt: never }));
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "queued"))?.attempts).toHaveLength(1));
      await inbox.discard(key);
      expect(await inbox.get(key)).toMatchObject({ status: "cancelled", attempts: [{ number: 1 }] });
    });

    test("is not changed if it is discarded again or has succeeded", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => succeeded, { endpoint: "other" });
      await inbox.accept(incoming("a"));
      await inbox.accept(incoming("a", { endpoint: "other" }));
      await waitFor(async () => expect(await inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
      await inbox.discard(key);
      await inbox.discard(key);
      await inbox.discard({ ...key, endpoint: "other" });
      expect(await inbox.counts()).toMatchObject({
        other: { succeeded: 1, cancelled: 0 },
        retrain: { cancelled: 1 },
      });
    });

    test("must be stored, and must not be running", async () => {
      const { inbox } = await openInbox(engine);
      const { end } = await hold(inbox);
      await expect(inbox.discard(key)).rejects.toMatchObject({ code: "DELIVERY_RUNNING", status: 409 });
      end(succeeded);
      await waitForStatus(inbox, "a", "succeeded");
      const unknown = { code: "DELIVERY_UNKNOWN", status: 404 };
      await expect(inbox.discard({ ...key, id: "unknown" })).rejects.toMatchObject(unknown);
      await expect(inbox.discard({ ...key, endpoint: "unknown" })).rejects.toMatchObject(unknown);
    });

    test("is deleted after the retention period", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => failed({ retryAt: new Date(Date.now() + 1e9) }), { retentionMs: 1 });
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "queued"))?.attempts).toHaveLength(1));
      await inbox.discard(key);
      await waitFor(async () => {
        await inbox.prune();
        expect((await inbox.list()).deliveries).toEqual([]);
      });
    });
  });
}
