import { describe, expect, test, vi } from "vitest";
import type { Outcome } from "../../src/payload/parse.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";
import { describeCursors, describeOwnActions, describePausing, describeRecordedData } from "./kept-data-contract.ts";
import { describeSearch } from "./search-contract.ts";
import { describeDiscarding, describeIgnoring, describeStoredDeliveries } from "./stored-deliveries-contract.ts";

/** Tests that every inbox must pass. */
export function describeInboxContract(engine: Engine): void {
  describe(`An inbox on ${engine.name}`, () => {
    describeAccepting(engine);
    describeRunning(engine);
    describeStoredDeliveries(engine);
    describeRecordedData(engine);
    describeIgnoring(engine);
    describeDiscarding(engine);
    describePausing(engine);
    describeSearch(engine);
    describeOwnActions(engine);
    describeCursors(engine);
    describeClosing(engine);
    if (engine.openReader === undefined) describeSharing(engine);
  });
}

function describeAccepting(engine: Engine): void {
  describe("accepting a delivery", () => {
    test("keeps it after the process exits", async () => {
      const first = await openInbox(engine);
      const delivery = incoming("a");
      expect(await first.inbox.accept(delivery)).toEqual({ duplicate: false });
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({
        ...delivery,
        status: "queued",
        attempts: [],
      });
    });

    const bodies: readonly [string, string][] = [
      ["numbers and names", '{ "big": 12345678901234567890, "twice": 1, "twice": 2, "__proto__": {} }'],
      ["escapes", '{"nul":"\\u0000","half":"\\ud800","ü":"\u{1f917}\\n\u2028"}'],
      ["text that is not JSON", "plain\u0000text \u{1f917}\r\n"],
      ["nothing", ""],
      ["a megabyte", "x".repeat(2 ** 20)],
    ];

    test("keeps its body unchanged", async () => {
      const { inbox } = await openInbox(engine);
      for (const [id, body] of bodies) await inbox.accept(incoming(id, { body }));
      const runs = work(inbox, () => succeeded, { concurrency: 1 });
      for (const [id, body] of bodies) expect((await waitForStatus(inbox, id, "succeeded"))?.body).toBe(body);
      expect(runs.map(({ id, body }) => [id, body])).toEqual(bodies);
    });

    test("accepts any ID", async () => {
      const { inbox } = await openInbox(engine);
      const ids = ["1", "0:1", "a:b:c", "~!@#$%^&*()[]{}|\\'\"`,;<>?/=+", "x".repeat(200)];
      for (const id of ids) await inbox.accept(incoming(id));
      const runs = work(inbox, () => succeeded, { concurrency: 1 });
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      expect(runs.map(({ id }) => id)).toEqual(ids);
      for (const id of ids) expect(await inbox.accept(incoming(id))).toEqual({ duplicate: true });
    });

    test("recognizes duplicates, also concurrent ones", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => succeeded);
      const results = await Promise.all(Array.from({ length: 20 }, () => inbox.accept(incoming("a"))));
      expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
      await waitForStatus(inbox, "a", "succeeded");
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      expect(runs).toHaveLength(1);
    });

    test("accepts the same ID for another endpoint, also one below its path", async () => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming("a"));
      expect(await inbox.accept(incoming("a", { endpoint: "retrain/large" }))).toEqual({ duplicate: false });
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1 }, "retrain/large": { queued: 1 } });
    });

    test("rejects deliveries while too many are queued", async () => {
      const { inbox } = await openInbox(engine, { maxQueued: 2 });
      await inbox.accept(incoming("a"));
      await inbox.accept(incoming("b"));
      const full = { code: "INBOX_FULL", status: 503, retryAfterSeconds: 60 };
      await expect(inbox.accept(incoming("c"))).rejects.toMatchObject(full);
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      work(inbox, () => succeeded);
      await waitForStatus(inbox, "a", "succeeded");
      await waitForStatus(inbox, "b", "succeeded");
      // Some inboxes update their counts with a delay.
      expect(await waitFor(() => inbox.accept(incoming("c")))).toEqual({ duplicate: false });
    });
  });
}

function describeRunning(engine: Engine): void {
  describe("a worker", () => {
    test("runs the handler with the delivery, the number of the attempt, and whether it is the last", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 3 ? failed({ message: `No ${attempt}.` }) : succeeded));
      const delivery = incoming("a");
      await inbox.accept(delivery);
      const stored = await waitForStatus(inbox, "a", "succeeded");
      const waits = { retryDelayMs: expect.any(Number) };
      expect(runs).toEqual(
        [1, 2, 3].map((attempt) => ({ ...delivery, attempt, isLastAttempt: attempt === 3, ...waits })),
      );
      expect(stored).toMatchObject({
        finishedAt: expect.any(Date),
        attempts: [
          {
            number: 1,
            outcome: "failed",
            error: { code: "HANDLER_FAILED", message: "No 1." },
            startedAt: expect.any(Date),
          },
          { number: 2, outcome: "failed", error: { message: "No 2." }, durationMs: expect.any(Number) },
          { number: 3, outcome: "succeeded" },
        ],
      });
    });

    const thrown: readonly [string, unknown, unknown][] = [
      ["an object without a prototype", Object.create(null), "The thrown value cannot be inspected."],
      ["an error whose message is a number", Object.assign(new Error(), { message: 42 }), "42"],
      ["an error without a message", Object.assign(new Error(), { message: undefined }), "Error"],
      ["a string", "No.", "No."],
      ["text that PostgreSQL cannot store", "\u0000\ud800 \u{1f917}", expect.stringContaining(" \u{1f917}")],
    ];

    test("retries a handler that threw any value, and keeps the dead delivery", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, ({ id }) => failed({ cause: thrown.find(([what]) => what === id)?.[1] }));
      for (const [what] of thrown) await inbox.accept(incoming(what));
      for (const [what, , message] of thrown) {
        const stored = await waitForStatus(inbox, what, "dead");
        const attempt = { outcome: "failed", error: { code: "HANDLER_FAILED", message } };
        expect(stored).toMatchObject({ finishedAt: expect.any(Date), attempts: [attempt, attempt, attempt] });
        expect(stored?.body).toBe(incoming(what).body);
      }
    });

    test("is started only once per endpoint", async () => {
      const { inbox } = await openInbox(engine);
      for (const id of ["a", "b", "c"]) await inbox.accept(incoming(id));
      const started = Promise.withResolvers<void>();
      const hold = Promise.withResolvers<Outcome>();
      const run = () => {
        started.resolve();
        return hold.promise;
      };
      const first = work(inbox, run, { concurrency: 1 });
      const second = work(inbox, run, { concurrency: 1 });
      await started.promise;
      // These calls take as long as another claim, so a second worker would have claimed a delivery by now.
      await inbox.accept(incoming("d"));
      await inbox.list({ status: "running" });
      hold.resolve(succeeded);
      for (const id of ["a", "b", "c", "d"]) await waitForStatus(inbox, id, "succeeded");
      expect(first).toHaveLength(4);
      expect(second).toEqual([]);
    });

    test("retries at the time that the handler requested", async () => {
      const { inbox } = await openInbox(engine);
      const retryAt = new Date(Date.now() + 3_600_000);
      const runs = work(inbox, () => failed({ retryAt }));
      await inbox.accept(incoming("a"));
      const stored = await waitFor(async () => {
        const found = await waitForStatus(inbox, "a", "queued");
        expect(found?.attempts).toHaveLength(1);
        return found;
      });
      // An inbox whose clock is behind the time at which it stored the delivery shifts the retry by the difference.
      expect(Math.abs(Number(stored?.dueAt) - Number(retryAt))).toBeLessThan(1_000);
      expect(runs).toHaveLength(1);
    });

    test("runs up to `concurrency` deliveries at the same time", async () => {
      const { inbox } = await openInbox(engine);
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await inbox.accept(incoming(id));
      let running = 0;
      let maxRunning = 0;
      const release = Promise.withResolvers<void>();
      const run = async () => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await release.promise;
        running -= 1;
        return succeeded;
      };
      const runs = work(inbox, run, { concurrency: 2 });
      await waitFor(() => expect(runs).toHaveLength(2));
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 3, running: 2 } });
      release.resolve();
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      expect(maxRunning).toBe(2);
      expect(runs.map(({ id }) => id).sort()).toEqual(ids);
    });

    test("runs other deliveries while one keeps failing", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, ({ id }) => (id === "poison" ? failed() : succeeded), { concurrency: 1 });
      await inbox.accept(incoming("poison"));
      await Promise.all(Array.from({ length: 20 }, (_, index) => inbox.accept(incoming(`good-${index}`))));
      for (let index = 0; index < 20; index += 1) await waitForStatus(inbox, `good-${index}`, "succeeded");
      await waitForStatus(inbox, "poison", "dead");
      expect(await inbox.counts()).toEqual({
        retrain: { queued: 0, running: 0, succeeded: 20, ignored: 0, dead: 1, cancelled: 0 },
      });
    });
  });
}

function describeClosing(engine: Engine): void {
  describe("closing", () => {
    test("aborts handlers, and queues unfinished deliveries again without counting the attempt", async () => {
      const first = await openInbox(engine);
      const signals: AbortSignal[] = [];
      const runs = work(first.inbox, (_claimed, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      });
      await first.inbox.accept(incoming("a"));
      await waitFor(() => expect(runs).toHaveLength(1));
      expect(await first.inbox.close(10)).toEqual({ interrupted: 1 });
      expect(signals[0]?.reason).toMatchObject({ code: "CLOSING" });
      const second = await openInbox(engine, { store: first.store });
      const again = work(second.inbox, ({ attempt }) => (attempt < 4 ? failed() : succeeded));
      const stored = await waitForStatus(second.inbox, "a", "succeeded");
      expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["abandoned", "failed", "failed", "succeeded"]);
      expect(again).toHaveLength(3);
    });

    test("ends changes and reads that are made later with an error", async () => {
      const { inbox } = await openInbox(engine);
      const key = { id: "a", endpoint: "retrain" };
      await inbox.accept(incoming("a"));
      await inbox.close(0);
      const requests = [
        ...[inbox.replay(key), inbox.discard(key), inbox.pause("retrain"), inbox.resume("retrain")],
        ...[inbox.get(key), inbox.list(), inbox.list({ search: "a" }), inbox.counts()],
        ...[inbox.pausedEndpoints(), inbox.cursors?.get("retrain", "key"), inbox.ownActions?.find(["key"])],
      ];
      const results = await Promise.allSettled(requests);
      expect(results).toMatchObject(requests.map(() => ({ reason: { code: "INBOX_UNAVAILABLE" } })));
    });

    test("waits for handlers that finish before the timeout", async () => {
      const first = await openInbox(engine);
      const runs = work(first.inbox, (_claimed, signal) => {
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
      });
      await first.inbox.accept(incoming("a"));
      await waitFor(() => expect(runs).toHaveLength(1));
      expect(await first.inbox.close(10_000)).toEqual({ interrupted: 0 });
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "succeeded" });
    });

    test("does not count the failure of an aborted handler", async () => {
      const first = await openInbox(engine);
      const onStored = vi.fn();
      const runs = work(first.inbox, (_claimed, signal) => {
        const ended = { ...failed({ retryable: false }), onStored };
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(ended)));
      });
      await first.inbox.accept(incoming("a"));
      await waitFor(() => expect(runs).toHaveLength(1));
      expect(await first.inbox.close(10_000)).toEqual({ interrupted: 1 });
      const next = { status: "queued", dueAt: expect.any(Number), counts: false };
      expect(onStored).toHaveBeenCalledExactlyOnceWith(next);
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({
        status: "queued",
        attempts: [{ number: 1, outcome: "abandoned" }],
      });
    });

    test("waits for deliveries that are being accepted", async () => {
      const first = await openInbox(engine);
      const accepted = first.inbox.accept(incoming("a"));
      await first.inbox.close(0);
      expect(await accepted).toEqual({ duplicate: false });
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.counts()).toMatchObject({ retrain: { queued: 1 } });
    });

    test("can be repeated", async () => {
      const { inbox } = await openInbox(engine);
      expect(await Promise.all([inbox.close(0), inbox.close(0)])).toEqual([{ interrupted: 0 }, { interrupted: 0 }]);
    });
  });
}

function describeSharing(engine: Engine): void {
  describe("shared by two receivers", () => {
    test("runs each delivery in one of them", async () => {
      const first = await openInbox(engine);
      const second = await openInbox(engine, { store: first.store });
      const ids = Array.from({ length: 40 }, (_, index) => `d${index}`);
      const runs = [work(first.inbox, () => succeeded), work(second.inbox, () => succeeded)];
      await Promise.all(ids.map((id, index) => (index % 2 ? first : second).inbox.accept(incoming(id))));
      await waitFor(async () => expect(await first.inbox.counts()).toMatchObject({ retrain: { succeeded: 40 } }));
      expect(runs.flatMap((claimed) => claimed.map(({ id }) => id)).sort()).toEqual(ids.sort());
    });

    test("renews the leases of long deliveries", async () => {
      const leaseMs = 600;
      const first = await openInbox(engine, { leaseMs });
      const second = await openInbox(engine, { store: first.store, leaseMs });
      const { end } = await hold(first.inbox);
      const taken = work(second.inbox, () => succeeded);
      const startedAt = performance.now();
      // By then, a lease without renewal would have expired and been checked twice.
      await waitFor(() => expect(performance.now() - startedAt).toBeGreaterThan(3 * leaseMs));
      end(succeeded);
      expect((await waitForStatus(first.inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
      expect(taken).toEqual([]);
    });
  });
}
