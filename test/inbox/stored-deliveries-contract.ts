import { describe, expect, test, vi } from "vitest";
import type { DeliveryKey } from "../../src/inbox/inbox.ts";
import type { Outcome } from "../../src/payload/parse.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, hold, incoming, listAll, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

/** Tests of stored deliveries that every inbox must pass. */
export function describeStoredDeliveries(engine: Engine): void {
  describeReplaying(engine);
  describeListing(engine);
  describePruning(engine);
}

function describeReplaying(engine: Engine): void {
  describe("a replay", () => {
    test("runs a dead delivery again, with all its attempts", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 6 ? failed() : succeeded));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toHaveLength(6);
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, false, true, false, false, true]);
    });

    test("runs a delivery that waits for a retry immediately", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) =>
        attempt === 1 ? failed({ retryAt: new Date(Date.now() + 1e9) }) : succeeded,
      );
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "queued"))?.attempts).toHaveLength(1));
      await inbox.replay({ id: "a", endpoint: "retrain" });
      await waitForStatus(inbox, "a", "succeeded");
      expect(runs).toHaveLength(2);
    });

    test.each([
      ["succeeds", succeeded],
      ["fails without a retry", failed({ retryable: false })],
    ])("runs a running delivery that %s again afterwards, and reports that it is queued", async (_end, outcome) => {
      const { inbox } = await openInbox(engine);
      const release = Promise.withResolvers<void>();
      const onStored = vi.fn();
      const runs = work(inbox, async ({ attempt }) => {
        await release.promise;
        return { ...(attempt === 1 ? outcome : succeeded), onStored };
      });
      await inbox.accept(incoming("a"));
      await waitFor(() => expect(runs).toHaveLength(1));
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect(runs).toHaveLength(1);
      release.resolve();
      await waitFor(async () => {
        expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([{ number: 1 }, { number: 2 }]);
      });
      expect(runs).toHaveLength(2);
      const queued = { status: "queued", dueAt: expect.any(Number), counts: true };
      expect(onStored.mock.calls).toEqual([[queued], [{ status: "succeeded" }]]);
    });

    test("happens if a dead delivery is received again, with the new body and headers", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 6 ? failed() : succeeded));
      await inbox.accept({ ...incoming("a"), headers: { "x-first": "1" } });
      await waitForStatus(inbox, "a", "dead");
      const again = { ...incoming("a", { body: "again" }), headers: { "x-again": "2" } };
      expect(await inbox.accept(again)).toEqual({ duplicate: false });
      const stored = await waitForStatus(inbox, "a", "succeeded");
      expect(stored?.attempts).toHaveLength(6);
      expect(stored?.headers).toEqual(again.headers);
      expect(runs.map(({ body }) => body)).toEqual([...Array(3).fill('{"id":"a"}'), ...Array(3).fill("again")]);
    });

    test("of all dead deliveries makes all attempts available again", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => failed(), { policy: { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 } });
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      expect(await inbox.replayDead("retrain")).toBe(1);
      await waitFor(() => expect(runs).toHaveLength(4));
      await waitForStatus(inbox, "a", "dead");
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, true, false, true]);
    });

    test("of all dead deliveries runs each once, even if it fails again in the meantime", async () => {
      const { inbox } = await openInbox(engine);
      const ids = Array.from({ length: 120 }, (_, index) => `d${index}`);
      const runs = work(inbox, () => failed({ retryable: false }), { concurrency: 20 });
      await Promise.all(ids.map((id) => inbox.accept(incoming(id))));
      const areDead = async () => expect(await inbox.counts()).toMatchObject({ retrain: { dead: ids.length } });
      await waitFor(areDead, { interval: 20 });
      expect(await inbox.replayDead("retrain")).toBe(ids.length);
      await waitFor(areDead, { interval: 20 });
      expect(runs).toHaveLength(2 * ids.length);
    });

    test("rejects an unknown delivery or endpoint", async () => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming("a"));
      const expectUnknown = async (key: DeliveryKey) => {
        expect(await inbox.get(key)).toBeUndefined();
        await expect(inbox.replay(key)).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN", status: 404 });
      };
      await expectUnknown({ id: "b", endpoint: "retrain" });
      for (const endpoint of ["", "a:b", "#endpoints", "__proto__"]) {
        for (const id of ["a", "retrain"]) await expectUnknown({ id, endpoint });
        expect(await inbox.replayDead(endpoint)).toBe(0);
        expect(await inbox.list({ endpoint })).toEqual({ deliveries: [] });
        expect(Object.keys(await inbox.counts())).toEqual(["retrain"]);
      }
    });
  });
}

function describeListing(engine: Engine): void {
  describe("a list", () => {
    test("has pages, newest first, and can be filtered by endpoint and status", async () => {
      const { inbox } = await openInbox(engine);
      const receivedAt = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
      for (let count = 0; count < 5; count += 1) {
        await inbox.accept({ ...incoming(`r${count}`), receivedAt: receivedAt(count) });
      }
      await inbox.accept({ ...incoming("o", { endpoint: "other" }), receivedAt: receivedAt(9) });
      const first = await inbox.list({ endpoint: "retrain", status: "queued", limit: 3 });
      expect(first.deliveries.map(({ id }) => id)).toEqual(["r4", "r3", "r2"]);
      const second = await inbox.list({ endpoint: "retrain", status: "queued", limit: 3, cursor: String(first.next) });
      expect(second.deliveries.map(({ id }) => id)).toEqual(["r1", "r0"]);
      expect(second.next).toBeUndefined();
      expect((await inbox.list({ status: "dead" })).deliveries).toEqual([]);
      expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["o", "r4", "r3", "r2", "r1", "r0"]);
    });

    test("contains each delivery once with small pages", async () => {
      const { inbox } = await openInbox(engine);
      const ids = Array.from({ length: 12 }, (_, index) => `d${index}`);
      const never = new Date(Date.now() + 1e9);
      work(inbox, ({ id }) =>
        id < "d4" ? succeeded : id < "d7" ? failed({ retryable: false }) : failed({ retryAt: never }),
      );
      for (const [index, id] of ids.entries()) {
        await inbox.accept(incoming(id, { endpoint: index % 3 === 0 ? "other" : "retrain" }));
      }
      await waitFor(async () => {
        const { retrain } = await inbox.counts();
        expect(retrain).toMatchObject({ running: 0 });
        const { deliveries } = await inbox.list({ endpoint: "retrain" });
        expect(deliveries.every(({ attempts }) => attempts.length === 1)).toBe(true);
      });
      const found = await listAll(inbox, { limit: 2 });
      expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
    });

    test("of a new inbox is empty, and rejects invalid options", async () => {
      const { inbox } = await openInbox(engine);
      expect(await inbox.list()).toEqual({ deliveries: [] });
      expect(await inbox.counts()).toEqual({});
      for (const options of [{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { cursor: "x" }])
        await expect(inbox.list(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });
  });
}

function describePruning(engine: Engine): void {
  describe("a prune", () => {
    test("removes finished deliveries, keeps queued ones, and still recognizes duplicates", async () => {
      const { inbox } = await openInbox(engine);
      const never = new Date(Date.now() + 1e9);
      work(inbox, ({ id }) => (id === "waits" ? failed({ retryAt: never }) : succeeded), { retentionMs: 1 });
      for (const id of ["a", "b", "waits"]) await inbox.accept(incoming(id));
      for (const id of ["a", "b"]) await waitForStatus(inbox, id, "succeeded");
      await waitFor(async () => expect((await waitForStatus(inbox, "waits", "queued"))?.attempts).toHaveLength(1));
      await waitFor(async () => {
        await inbox.prune();
        expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["waits"]);
      });
      expect(await inbox.prune()).toBe(0);
      expect((await inbox.get({ id: "a", endpoint: "retrain" }))?.body).toBeUndefined();
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      const unknown = { code: "DELIVERY_UNKNOWN" };
      await expect(inbox.replay({ id: "a", endpoint: "retrain" })).rejects.toMatchObject(unknown);
    });

    test("does not list deliveries without a body, on this page or a next one", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => succeeded, { retentionMs: 0 });
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await inbox.accept(incoming(id));
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      await waitFor(async () => {
        await inbox.prune();
        expect(await inbox.list({ limit: 2 })).toEqual({ deliveries: [] });
      });
      await inbox.accept(incoming("other", { endpoint: "other" }));
      const { deliveries, next } = await inbox.list({ limit: 2 });
      expect(deliveries).toMatchObject([{ id: "other" }]);
      expect(next).toBeUndefined();
    });

    test("keeps a dead delivery that has arrived again and waits", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => failed({ retryable: false }), { retentionMs: 1 });
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      await inbox.pause("retrain");
      expect(await inbox.accept(incoming("a", { body: "again" }))).toEqual({ duplicate: false });
      await inbox.prune();
      const waiting = await inbox.get({ id: "a", endpoint: "retrain" });
      expect(waiting).toMatchObject({ status: "queued", body: "again" });
      expect(waiting?.finishedAt).toBeUndefined();
    });

    test("accepts a dead delivery again after it was removed", async () => {
      const { inbox } = await openInbox(engine);
      let works = false;
      const runs = work(inbox, () => (works ? succeeded : failed({ retryable: false })), { retentionMs: 1 });
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      await waitFor(async () => expect(await inbox.prune()).toBe(1));
      works = true;
      expect(await inbox.accept(incoming("a", { body: "again" }))).toEqual({ duplicate: false });
      await waitForStatus(inbox, "a", "succeeded");
      expect(runs.map(({ body }) => body)).toEqual(['{"id":"a"}', "again"]);
    });
  });
}

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

    test("can have been waiting for a retry, and is deleted after the retention period", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => failed({ retryAt: new Date(Date.now() + 1e9) }), { retentionMs: 1 });
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "queued"))?.attempts).toHaveLength(1));
      await inbox.discard(key);
      expect(await inbox.get(key)).toMatchObject({ status: "cancelled", attempts: [{ number: 1 }] });
      await waitFor(async () => {
        await inbox.prune();
        expect((await inbox.list()).deliveries).toEqual([]);
      });
    });
  });
}

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
      const listed = async (status: "succeeded" | "ignored", limit: number) =>
        (await listAll(inbox, { status, limit })).map(({ id }) => id);
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
