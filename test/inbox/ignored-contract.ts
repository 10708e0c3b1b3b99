import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/payload/parse.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

const key = { id: "a", endpoint: "retrain" };
const reason = "none of the 3 changed files matches";
const ignored: Outcome = { status: "ignored", reason };

/** Tests of ignored deliveries that every inbox must pass. */
export function describeIgnoring(engine: Engine): void {
  describe("an ignored delivery", () => {
    test("is final with its reason, also after a restart, and is a duplicate when it is received again", async () => {
      const first = await openInbox(engine);
      const runs = work(first.inbox, () => ignored);
      await first.inbox.accept(incoming("a"));
      await waitForStatus(first.inbox, "a", "ignored");
      expect(await first.inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      await first.inbox.discard(key);
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.get(key)).toMatchObject({
        status: "ignored",
        body: '{"id":"a"}',
        finishedAt: expect.any(Date),
        attempts: [{ number: 1, outcome: "ignored", reason }],
      });
      expect((await inbox.list()).deliveries).toMatchObject([{ id: "a", status: "ignored", attempts: [{ reason }] }]);
      expect(runs).toHaveLength(1);
    });

    test("is counted and listed as ignored, not as succeeded", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, ({ id }) => (id.startsWith("run") ? succeeded : ignored), { concurrency: 1 });
      const ids = ["run-1", "skip-1", "skip-2", "skip-3", "run-2", "skip-4"];
      for (const id of ids) {
        await inbox.accept(incoming(id));
        await waitForStatus(inbox, id, id.startsWith("run") ? "succeeded" : "ignored");
      }
      expect(await inbox.counts()).toEqual({
        retrain: { queued: 0, running: 0, succeeded: 2, ignored: 4, dead: 0, cancelled: 0 },
      });
      const listed = async (status: "succeeded" | "ignored", limit: number) => {
        const found: string[] = [];
        let next: string | undefined;
        do {
          const page = await inbox.list({ status, limit, ...(next !== undefined && { cursor: next }) });
          found.push(...page.deliveries.map(({ id }) => id));
          next = page.next;
        } while (next !== undefined);
        return found;
      };
      for (const limit of [1, 2, 50]) {
        expect(await listed("ignored", limit)).toEqual(["skip-4", "skip-3", "skip-2", "skip-1"]);
        expect(await listed("succeeded", limit)).toEqual(["run-2", "run-1"]);
      }
      expect((await inbox.list({ search: "skip-3" })).deliveries).toMatchObject([{ status: "ignored" }]);
      expect((await inbox.list({ search: "skip-3", status: "succeeded" })).deliveries).toEqual([]);
    });

    test("can be replayed, and is then counted by its new status", async () => {
      const { inbox } = await openInbox(engine);
      let outcome = ignored;
      const runs = work(inbox, () => outcome);
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "ignored");
      expect(await inbox.replayDead("retrain")).toBe(0);
      await inbox.pause("retrain");
      await inbox.replay(key);
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1, succeeded: 0, ignored: 0 } });
      await inbox.resume("retrain");
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "ignored"))?.attempts).toHaveLength(2));
      expect(await inbox.counts()).toMatchObject({ retrain: { succeeded: 0, ignored: 1 } });
      outcome = failed({ retryable: false });
      await inbox.replay(key);
      await waitForStatus(inbox, "a", "dead");
      expect(await inbox.counts()).toMatchObject({ retrain: { ignored: 0, dead: 1 } });
      outcome = succeeded;
      await inbox.replay(key);
      const stored = await waitForStatus(inbox, "a", "succeeded");
      expect(stored?.attempts.map((attempt) => attempt.outcome)).toEqual(["ignored", "ignored", "failed", "succeeded"]);
      expect(await inbox.counts()).toMatchObject({ retrain: { succeeded: 1, ignored: 0, dead: 0 } });
      expect(runs).toHaveLength(4);
    });

    test("is pruned like a succeeded one, and its ID still detects duplicates", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => ignored, { retentionMs: 1 });
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "ignored");
      await waitFor(async () => {
        await inbox.prune();
        expect(await inbox.get(key)).toMatchObject({ status: "ignored", attempts: [] });
      });
      expect(await inbox.get(key)).not.toHaveProperty("body");
      expect((await inbox.list({ status: "ignored" })).deliveries).toEqual([]);
      expect(await inbox.counts()).toMatchObject({ retrain: { succeeded: 0, ignored: 1 } });
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      expect(runs).toHaveLength(1);
    });
  });
}
