import { describe, expect, test } from "vitest";
import { type AttemptDetails, type Cursors, type OwnActions, ownActionRetentionMs } from "../../src/inbox/inbox.ts";
import { maxDetailsBytes } from "../../src/inbox/records.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import { waitFor } from "../support/wait-for.ts";
import {
  type Engine,
  type EngineOptions,
  failed,
  hold,
  incoming,
  openInbox,
  succeeded,
  waitForStatus,
  work,
} from "./engine.ts";

const key = { id: "a", endpoint: "retrain" };
const headers = { "user-agent": "Hub/1.0", "x-text": "\u0000 \ud800 \u{1f917}" };
const details: AttemptDetails = {
  result: '{"rows":3}',
  stack: "Error: No.\n    at train (file:///app.ts:1:1)\u0000\ud800",
  logs: [
    { at: 1_000, level: "info", message: "Training \u{1f917}", fields: '{"epoch":1}' },
    { at: 2_000, level: "error", message: "\u0000\udfff" },
  ],
};

/** Tests of what an inbox records of requests and attempts. */
export function describeRecordedData(engine: Engine): void {
  describe("recorded data", () => {
    test("contains the details of each attempt, also after a restart, and only for a single delivery", async () => {
      const first = await openInbox(engine);
      const large: AttemptDetails = { stack: "s".repeat(100_000), logs: Array(500).fill(details.logs?.[0]) };
      work(first.inbox, ({ attempt }) =>
        attempt === 1 ? { ...failed(), details } : attempt === 2 ? failed() : { ...succeeded, details: large },
      );
      await first.inbox.accept(incoming("a"));
      await waitForStatus(first.inbox, "a", "succeeded");
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      const stored = await inbox.get(key);
      const [one, two, three] = stored?.attempts.map((attempt) => attempt.details) ?? [];
      expect([one, two]).toEqual([details, undefined]);
      expect(three).toMatchObject({ isTruncated: true, stack: expect.stringMatching(/^s{256,}$/) });
      expect(three?.logs?.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(JSON.stringify(three))).toBeLessThanOrEqual(maxDetailsBytes);
      const { deliveries } = await inbox.list();
      expect(deliveries[0]?.attempts).toHaveLength(3);
      expect(deliveries[0]?.attempts.every((attempt) => !("details" in attempt))).toBe(true);
    });

    test("is complete when the end of an attempt is reported", async () => {
      const { inbox } = await openInbox(engine);
      const reported: Promise<unknown>[] = [];
      work(inbox, ({ id, attempt }) => (id === "a" && attempt > 1 ? succeeded : failed()), {
        policy: createRetryPolicy({ attempts: 2, backoff: ["1h"] }),
        onAttemptStored: (stored) => void reported.push(inbox.get(stored).then((delivery) => delivery?.status)),
      });
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect(await Promise.all(reported)).toEqual(["queued"]), { interval: 5 });
      await inbox.replay(key);
      await waitFor(async () => expect(await Promise.all(reported)).toEqual(["queued", "succeeded"]), { interval: 5 });
    });

    test("contains headers and the ID of the original, also after a restart; a list contains only the ID", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept({ ...incoming("a"), headers, replayOf: "original" });
      await first.inbox.accept(incoming("b"));
      // PostgreSQL cannot store this ID.
      await first.inbox.accept({ ...incoming("c"), replayOf: "\u0000 \ud800" });
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      const stored = await inbox.get(key);
      expect([stored?.headers, stored?.replayOf]).toEqual([headers, "original"]);
      const plain = await inbox.get({ ...key, id: "b" });
      for (const property of ["headers", "replayOf"]) expect(plain).not.toHaveProperty(property);
      const { deliveries } = await inbox.list();
      for (const delivery of deliveries) expect(delivery).not.toHaveProperty("headers");
      const originals = new Map(deliveries.map(({ id, replayOf }) => [id, replayOf]));
      expect([originals.size, originals.get("a"), originals.get("b")]).toEqual([3, "original", undefined]);
    });

    test("is deleted together with the body", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => ({ ...succeeded, details }), { retentionMs: 1 });
      await inbox.accept({ ...incoming("a"), headers });
      await waitForStatus(inbox, "a", "succeeded");
      await waitFor(async () => {
        await inbox.prune();
        expect(await inbox.get(key)).toMatchObject({ attempts: [] });
      });
      const stored = await inbox.get(key);
      expect(stored).not.toHaveProperty("body");
      expect(stored).not.toHaveProperty("headers");
    });
  });
}

/** Tests of the cursors that every inbox of this package must pass. */
export function describeCursors(engine: Engine): void {
  async function open(options: Partial<EngineOptions> = {}): Promise<{ cursors: Cursors; store: string }> {
    const { inbox, store } = await openInbox(engine, options);
    if (!inbox.cursors) throw new Error("The inbox has no cursors.");
    return { cursors: inbox.cursors, store };
  }

  describe("the cursors", () => {
    test("contain the latest text of each key, by endpoint", async () => {
      const { cursors } = await open();
      await cursors.set(
        "a",
        new Map([
          ["one", "1"],
          ["two", "2"],
        ]),
      );
      await cursors.set("b", new Map([["one", "other"]]));
      await cursors.set("a", new Map([["one", "3"]]));
      expect(await cursors.list("a")).toEqual(
        new Map([
          ["one", "3"],
          ["two", "2"],
        ]),
      );
      expect(await cursors.list("c")).toEqual(new Map());
      expect([await cursors.get("b", "one"), await cursors.get("b", "two")]).toEqual(["other", undefined]);
    });

    test("and the own actions are kept after the server exits", async () => {
      const first = await openInbox(engine);
      await first.inbox.cursors?.set("a", new Map([["one", "1"]]));
      await first.inbox.ownActions?.add(["commit a"]);
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.cursors?.get("a", "one")).toBe("1");
      expect(await inbox.ownActions?.find(["commit a"])).toEqual(new Set(["commit a"]));
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("are claimed by one server at a time, until the claim ends or is returned", async () => {
        let now = Date.now();
        const { cursors, store } = await open({ now: () => now });
        const { cursors: other } = await open({ store, now: () => now });
        const claim = (holder: string, forMs = 1_000) => ({ key: "a", holder, forMs });
        expect(await Promise.all([cursors.claim(claim("one")), other.claim({ ...claim("two"), key: "b" })])).toEqual([
          true,
          true,
        ]);
        expect([await other.claim(claim("two")), await cursors.claim(claim("one"))]).toEqual([false, true]);
        await cursors.claim(claim("one", 0));
        now += 1;
        expect(await other.claim(claim("two"))).toBe(true);
      });

      test("are claimed after the holder was killed and the clock was set back, but not if clocks differ by a few minutes", async () => {
        let now = Date.now();
        const { cursors, store } = await open({ now: () => now });
        const { cursors: other } = await open({ store, now: () => now });
        const claim = (holder: string) => ({ key: "a", holder, forMs: 2_000 });
        expect(await cursors.claim(claim("killed"))).toBe(true);
        now -= 5 * 60_000;
        expect(await other.claim(claim("next"))).toBe(false);
        now -= 3_600_000;
        // In Redis, the claim expires by the clock of the server.
        await waitFor(async () => expect(await other.claim(claim("next"))).toBe(true));
      });
    }
  });
}

/** Tests of the own actions that every inbox of this package must pass. */
export function describeOwnActions(engine: Engine): void {
  async function open(options: Partial<EngineOptions> = {}): Promise<{ actions: OwnActions; store: string }> {
    const { inbox, store } = await openInbox(engine, options);
    if (!inbox.ownActions) throw new Error("The inbox has no own actions.");
    return { actions: inbox.ownActions, store };
  }

  describe("the own actions", () => {
    test("contain only the keys that were added", async () => {
      const { actions } = await open();
      await actions.add(["comment a", "commit b"]);
      await actions.add(["commit b", "discussion model:me/net#1"]);
      const keys = ["commit b", "commit c", "discussion model:me/net#1", "discussion model:me/net#12", "comment a"];
      expect(await actions.find(keys)).toEqual(new Set(["commit b", "discussion model:me/net#1", "comment a"]));
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("are shared by servers that run at the same time", async () => {
        const first = await openInbox(engine);
        const second = await open({ store: first.store });
        await first.inbox.ownActions?.add(["commit a"]);
        expect(await second.actions.find(["commit a"])).toEqual(new Set(["commit a"]));
      });
    }

    test("are removed after 14 days", async () => {
      let now = Date.now();
      const { actions } = await open({ now: () => now });
      await actions.add(["commit old"]);
      now += ownActionRetentionMs - 1_000;
      await actions.add(["commit young"]);
      expect(await actions.find(["commit old", "commit young"])).toEqual(new Set(["commit old", "commit young"]));
      now += 2_000;
      await actions.add(["commit new"]);
      expect(await actions.find(["commit old", "commit young"])).toEqual(new Set(["commit young"]));
    });
  });
}

/** Tests of paused endpoints that every inbox must pass. */
export function describePausing(engine: Engine): void {
  describe("a paused endpoint", () => {
    test("accepts deliveries and runs them after it is resumed, while other endpoints run", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => succeeded);
      const others = work(inbox, () => succeeded, { endpoint: "other" });
      await inbox.pause("retrain");
      await inbox.pause("retrain");
      expect(await inbox.pausedEndpoints()).toEqual(["retrain"]);
      for (const id of ["a", "b"]) expect(await inbox.accept(incoming(id))).toEqual({ duplicate: false });
      await inbox.accept(incoming("c", { endpoint: "other" }));
      await waitFor(async () => expect(await inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
      expect(others).toHaveLength(1);
      expect(runs).toEqual([]);
      expect((await inbox.list({ status: "queued" })).deliveries.map(({ id }) => id)).toEqual(["b", "a"]);
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2 } });
      await inbox.resume("retrain");
      await inbox.resume("retrain");
      expect(await inbox.pausedEndpoints()).toEqual([]);
      for (const id of ["a", "b"]) await waitForStatus(inbox, id, "succeeded");
    });

    test("stays paused after a restart", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept(incoming("a"));
      await first.inbox.pause("retrain");
      await first.inbox.pause("never-used");
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.pausedEndpoints()).toEqual(["never-used", "retrain"]);
      const runs = work(inbox, () => succeeded);
      work(inbox, () => succeeded, { endpoint: "other" });
      await inbox.accept(incoming("b", { endpoint: "other" }));
      await waitFor(async () => expect(await inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
      expect(runs).toEqual([]);
      await inbox.resume("retrain");
      await waitForStatus(inbox, "a", "succeeded");
    });

    test("finishes running deliveries, and runs a replayed delivery after it is resumed", async () => {
      const { inbox } = await openInbox(engine);
      const { runs, end } = await hold(inbox);
      await inbox.pause("retrain");
      end(succeeded);
      await waitForStatus(inbox, "a", "succeeded");
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "queued" });
      await inbox.resume("retrain");
      await waitFor(() => expect(runs).toHaveLength(2));
      await waitForStatus(inbox, "a", "succeeded");
    });

    test("can discard and delete deliveries", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => succeeded);
      await inbox.pause("retrain");
      await inbox.accept(incoming("a"));
      await inbox.discard({ id: "a", endpoint: "retrain" });
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 0, cancelled: 1 } });
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("is paused and resumed in all servers that share the inbox", async () => {
        const first = await openInbox(engine);
        const second = await openInbox(engine, { store: first.store });
        const runs = work(second.inbox, () => succeeded);
        await first.inbox.accept(incoming("warm-up"));
        await waitForStatus(first.inbox, "warm-up", "succeeded");
        await first.inbox.pause("retrain");
        expect(await second.inbox.pausedEndpoints()).toEqual(["retrain"]);
        await second.inbox.accept(incoming("a"));
        await first.inbox.accept(incoming("b"));
        work(second.inbox, () => succeeded, { endpoint: "other" });
        await second.inbox.accept(incoming("c", { endpoint: "other" }));
        await waitFor(async () => expect(await first.inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
        expect(runs.map(({ id }) => id)).toEqual(["warm-up"]);
        await first.inbox.resume("retrain");
        for (const id of ["a", "b"]) await waitForStatus(first.inbox, id, "succeeded");
        expect(runs.map(({ id }) => id).sort()).toEqual(["a", "b", "warm-up"]);
      });
    }
  });
}
