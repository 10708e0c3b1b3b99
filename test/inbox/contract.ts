import { describe, expect, test, vi } from "vitest";
import type { StoredDelivery } from "../../src/inbox/inbox.ts";
import type { Outcome } from "../../src/payload/delivery.ts";
import { startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

/** What every inbox does, whatever it is on. */
export function describeInboxContract(engine: Engine): void {
  describe(`An inbox on ${engine.name}`, () => {
    describeAccepting(engine);
    describeWorking(engine);
    describeReplaying(engine);
    describeLooking(engine);
    describeForgetting(engine);
    describeClosing(engine);
    describeSharing(engine);
  });
}

function describeAccepting(engine: Engine): void {
  describe("accepts a delivery", () => {
    test("and keeps it, for whoever opens the inbox next", async () => {
      const first = await openInbox(engine);
      const came = incoming("a");
      expect(await first.inbox.accept(came)).toEqual({ duplicate: false });
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({
        ...came,
        status: "queued",
        attempts: [],
      });
    });

    test.each([
      ["numbers and names", '{ "big": 12345678901234567890, "twice": 1, "twice": 2, "__proto__": {} }'],
      ["escapes", '{"nul":"\\u0000","half":"\\ud800","ü":"\u{1f917}\\n\u2028"}'],
      ["what is no JSON", "plain\u0000text \u{1f917}\r\n"],
      ["nothing", ""],
      ["a megabyte", "x".repeat(2 ** 20)],
    ])("exactly as it came: %s", async (_what, body) => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming("a", { body }));
      const runs = work(inbox, () => succeeded);
      expect((await waitForStatus(inbox, "a", "succeeded"))?.body).toBe(body);
      expect(runs[0]?.body).toBe(body);
    });

    test.each(["1", "0:1", "a:b:c", "~!@#$%^&*()[]{}|\\'\"`,;<>?/=+", "x".repeat(200)])("of any id: %s", async (id) => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming(id));
      const runs = work(inbox, () => succeeded);
      await waitForStatus(inbox, id, "succeeded");
      expect(runs).toMatchObject([{ id }]);
      expect(await inbox.accept(incoming(id))).toEqual({ duplicate: true });
    });

    test("and runs it once, however often and however fast it comes", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => succeeded);
      const answers = await Promise.all(Array.from({ length: 20 }, () => inbox.accept(incoming("a"))));
      expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
      await waitForStatus(inbox, "a", "succeeded");
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      expect(runs).toHaveLength(1);
    });

    test("of the same id for another endpoint, one below its path among them", async () => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming("a"));
      expect(await inbox.accept(incoming("a", { endpoint: "retrain/large" }))).toEqual({ duplicate: false });
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1 }, "retrain/large": { queued: 1 } });
    });

    test("until too many wait, and again once there is room", async () => {
      const { inbox } = await openInbox(engine, { maxQueued: 2 });
      await inbox.accept(incoming("a"));
      await inbox.accept(incoming("b"));
      const refusal = { code: "INBOX_FULL", status: 503, retryAfterSeconds: 60 };
      await expect(inbox.accept(incoming("c"))).rejects.toMatchObject(refusal);
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
      work(inbox, () => succeeded);
      await waitForStatus(inbox, "a", "succeeded");
      await waitForStatus(inbox, "b", "succeeded");
      // An engine that counts rarely may be a moment behind.
      expect(await vi.waitFor(() => inbox.accept(incoming("c")), { timeout: 5_000 })).toEqual({ duplicate: false });
    });
  });
}

function describeWorking(engine: Engine): void {
  describe("runs a handler", () => {
    test("with what came, the number of the attempt, and whether it is the last", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 3 ? failed({ message: `No ${attempt}.` }) : succeeded));
      const came = incoming("a");
      await inbox.accept(came);
      const stored = await waitForStatus(inbox, "a", "succeeded");
      const waits = { retryDelayMs: expect.any(Number) };
      expect(runs).toEqual([1, 2, 3].map((attempt) => ({ ...came, attempt, isLastAttempt: attempt === 3, ...waits })));
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

    test("no more after the last attempt: the delivery is dead, and kept", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => failed({ message: "\u0000\ud800 \u{1f917}" }));
      await inbox.accept(incoming("a"));
      const stored = await waitForStatus(inbox, "a", "dead");
      expect(runs).toHaveLength(3);
      expect(stored).toMatchObject({ body: '{"id":"a"}', finishedAt: expect.any(Date) });
      expect(stored?.attempts.map(({ error }) => error?.message)).toHaveLength(3);
    });

    test.each<[string, unknown, string]>([
      ["an object that is no text", Object.create(null), "The thrown value cannot be inspected."],
      ["an error whose message is a number", Object.assign(new Error(), { message: 42 }), "42"],
      ["an error without a message", Object.assign(new Error(), { message: undefined }), "Error"],
      ["a word", "No.", "No."],
    ])("again after it threw %s", async (_what, cause, message) => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => failed({ cause }));
      await inbox.accept(incoming("a"));
      const stored = await waitForStatus(inbox, "a", "dead");
      expect(runs).toHaveLength(3);
      expect(stored?.attempts.at(-1)).toMatchObject({ outcome: "failed", error: { code: "HANDLER_FAILED", message } });
    });

    test("again as if nothing was said when its error asks for a time that there is not", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt === 1 ? failed({ retryAt: new Date("soon") }) : succeeded));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "succeeded");
      expect(runs).toHaveLength(2);
    });

    test("once, where it is told twice to work on an endpoint", async () => {
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
      // Whoever worked on them as well would have taken one by now: this goes the same way.
      await inbox.accept(incoming("d"));
      await inbox.list({ status: "running" });
      hold.resolve(succeeded);
      for (const id of ["a", "b", "c", "d"]) await waitForStatus(inbox, id, "succeeded");
      expect(first).toHaveLength(4);
      expect(second).toEqual([]);
    });

    test("no more after an error that says that there is no use in it", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => failed({ retryable: false }));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      expect(runs).toHaveLength(1);
    });

    test("again when its error says so, and not before", async () => {
      const { inbox } = await openInbox(engine);
      const retryAt = new Date(Date.now() + 3_600_000);
      const runs = work(inbox, () => failed({ retryAt }));
      await inbox.accept(incoming("a"));
      const stored = await waitFor(async () => {
        const found = await waitForStatus(inbox, "a", "queued");
        expect(found?.attempts).toHaveLength(1);
        return found;
      });
      expect(stored).toMatchObject({ status: "queued", dueAt: retryAt });
      expect(runs).toHaveLength(1);
    });

    test("for so many deliveries at once and no more", async () => {
      const { inbox } = await openInbox(engine);
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await inbox.accept(incoming(id));
      let atOnce = 0;
      let most = 0;
      const release = Promise.withResolvers<void>();
      const run = async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await release.promise;
        atOnce -= 1;
        return succeeded;
      };
      const runs = work(inbox, run, { concurrency: 2 });
      await vi.waitFor(() => expect(runs).toHaveLength(2), { timeout: 10_000 });
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 3, running: 2 } });
      release.resolve();
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      expect(most).toBe(2);
      expect(runs.map(({ id }) => id).sort()).toEqual(ids);
    });

    test("for the oldest delivery first", async () => {
      const { inbox } = await openInbox(engine);
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await inbox.accept(incoming(id));
      const runs = work(inbox, () => succeeded, { concurrency: 1 });
      await waitForStatus(inbox, "e", "succeeded");
      expect(runs.map(({ id }) => id)).toEqual(ids);
    });

    test("for others while one delivery fails and fails", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, ({ id }) => (id === "poison" ? failed() : succeeded), { concurrency: 1 });
      await inbox.accept(incoming("poison"));
      await Promise.all(Array.from({ length: 20 }, (_, index) => inbox.accept(incoming(`good-${index}`))));
      for (let index = 0; index < 20; index += 1) await waitForStatus(inbox, `good-${index}`, "succeeded");
      await waitForStatus(inbox, "poison", "dead");
      expect(await inbox.counts()).toEqual({ retrain: { queued: 0, running: 0, succeeded: 20, dead: 1 } });
    });
  });
}

function describeReplaying(engine: Engine): void {
  describe("replays", () => {
    test("a dead delivery, with all its attempts anew", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 6 ? failed() : succeeded));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toHaveLength(6);
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, false, true, false, false, true]);
    });

    test("one that has succeeded", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => succeeded);
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "succeeded");
      await inbox.replay({ id: "a", endpoint: "retrain" });
      await vi.waitFor(() => expect(runs).toHaveLength(2), { timeout: 10_000 });
      await waitFor(async () => expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toHaveLength(2));
    });

    test("one that waits for its next attempt: at once", async () => {
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

    test("one that is running: once more after that", async () => {
      const { inbox } = await openInbox(engine);
      const release = Promise.withResolvers<void>();
      const runs = work(inbox, async () => {
        await release.promise;
        return succeeded;
      });
      await inbox.accept(incoming("a"));
      await vi.waitFor(() => expect(runs).toHaveLength(1), { timeout: 10_000 });
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect(runs).toHaveLength(1);
      release.resolve();
      await waitFor(async () => {
        expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([{ number: 1 }, { number: 2 }]);
      });
      expect(runs).toHaveLength(2);
    });

    test("one that is dead and comes again from the Hub, with what came then", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, ({ attempt }) => (attempt < 6 ? failed() : succeeded));
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      expect(await inbox.accept(incoming("a", { body: "again" }))).toEqual({ duplicate: false });
      expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toHaveLength(6);
      expect(runs.map(({ body }) => body)).toEqual([...Array(3).fill('{"id":"a"}'), ...Array(3).fill("again")]);
    });

    test("all that are dead, and says how many they were", async () => {
      const { inbox } = await openInbox(engine);
      let works = false;
      work(inbox, () => (works ? succeeded : failed({ retryable: false })));
      const ids = ["a", "b", "c"];
      for (const id of ids) await inbox.accept(incoming(id));
      for (const id of ids) await waitForStatus(inbox, id, "dead");
      works = true;
      expect(await inbox.replayDead("retrain")).toBe(3);
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      expect(await inbox.replayDead("retrain")).toBe(0);
    });

    test("all that are dead, with all their attempts again", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => failed(), { policy: { attempts: 2, waitAfter: () => 1, totalWaitMs: 0 } });
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "dead");
      expect(await inbox.replayDead("retrain")).toBe(1);
      await vi.waitFor(() => expect(runs).toHaveLength(4), { timeout: 10_000 });
      await waitForStatus(inbox, "a", "dead");
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, true, false, true]);
    });

    test("all that are dead once, while they fail anew", async () => {
      const { inbox } = await openInbox(engine);
      const ids = Array.from({ length: 250 }, (_, index) => `d${index}`);
      const runs = work(inbox, () => failed({ retryable: false }), { concurrency: 20 });
      await Promise.all(ids.map((id) => inbox.accept(incoming(id))));
      const areDead = async () => expect(await inbox.counts()).toMatchObject({ retrain: { dead: ids.length } });
      await vi.waitFor(areDead, { timeout: 15_000, interval: 20 });
      expect(await inbox.replayDead("retrain")).toBe(ids.length);
      await vi.waitFor(areDead, { timeout: 15_000, interval: 20 });
      expect(runs).toHaveLength(2 * ids.length);
    });

    test("nothing that is not there", async () => {
      const { inbox } = await openInbox(engine);
      const refusal = { code: "DELIVERY_UNKNOWN", status: 404 };
      await expect(inbox.replay({ id: "a", endpoint: "retrain" })).rejects.toMatchObject(refusal);
      expect(await inbox.get({ id: "a", endpoint: "retrain" })).toBeUndefined();
    });

    test.each(["", "a:b", "#endpoints", "__proto__"])("nothing of what is no endpoint: %j", async (endpoint) => {
      const { inbox } = await openInbox(engine);
      await inbox.accept(incoming("a"));
      for (const id of ["a", "retrain"]) {
        expect(await inbox.get({ id, endpoint })).toBeUndefined();
        await expect(inbox.replay({ id, endpoint })).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN" });
      }
      expect(await inbox.replayDead(endpoint)).toBe(0);
      expect(await inbox.list({ endpoint })).toEqual({ deliveries: [] });
      expect(Object.keys(await inbox.counts())).toEqual(["retrain"]);
    });
  });
}

function describeLooking(engine: Engine): void {
  describe("lists", () => {
    test("page by page, newest first, by endpoint and status", async () => {
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

    test("each delivery once, however small the pages are", async () => {
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
      const found: StoredDelivery[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await inbox.list({ limit: 2, ...(cursor && { cursor }) });
        found.push(...page.deliveries);
        cursor = page.next;
        if (cursor === undefined) break;
      }
      expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
    });

    test.each([{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { cursor: "x" }])("nothing with %j", async (options) => {
      const { inbox } = await openInbox(engine);
      await expect(inbox.list(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });

    test("nothing of an inbox in which nothing came", async () => {
      const { inbox } = await openInbox(engine);
      expect(await inbox.list()).toEqual({ deliveries: [] });
      expect(await inbox.counts()).toEqual({});
    });
  });
}

function describeForgetting(engine: Engine): void {
  test("forgets what is done, never what waits, and knows a duplicate all the same", async () => {
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
    const refusal = { code: "DELIVERY_UNKNOWN" };
    await expect(inbox.replay({ id: "a", endpoint: "retrain" })).rejects.toMatchObject(refusal);
  });

  test("shows nothing of what is forgotten, nor that there was more of it", async () => {
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

  test("takes what died, was forgotten and comes again", async () => {
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
}

function describeClosing(engine: Engine): void {
  describe("closes", () => {
    test("after it has aborted the signal and handed back what does not end: not as an attempt that counts", async () => {
      const first = await openInbox(engine);
      const signals: AbortSignal[] = [];
      const runs = work(first.inbox, (_task, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      });
      await first.inbox.accept(incoming("a"));
      await vi.waitFor(() => expect(runs).toHaveLength(1), { timeout: 10_000 });
      await first.inbox.close(10);
      expect(signals[0]?.reason).toMatchObject({ code: "CLOSING" });
      const second = await openInbox(engine, { store: first.store });
      const again = work(second.inbox, ({ attempt }) => (attempt < 4 ? failed() : succeeded));
      const stored = await waitForStatus(second.inbox, "a", "succeeded");
      expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["abandoned", "failed", "failed", "succeeded"]);
      expect(again).toHaveLength(3);
    });

    test("after it has waited for a handler that ends in time", async () => {
      const first = await openInbox(engine);
      const runs = work(first.inbox, (_task, signal) => {
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
      });
      await first.inbox.accept(incoming("a"));
      await vi.waitFor(() => expect(runs).toHaveLength(1), { timeout: 10_000 });
      await first.inbox.close(10_000);
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "succeeded" });
    });

    test("with a handler that fails because of it: that does not count either", async () => {
      const first = await openInbox(engine);
      const runs = work(first.inbox, (_task, signal) => {
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed({ retryable: false }))));
      });
      await first.inbox.accept(incoming("a"));
      await vi.waitFor(() => expect(runs).toHaveLength(1), { timeout: 10_000 });
      await first.inbox.close(10_000);
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({
        status: "queued",
        attempts: [{ number: 1, outcome: "abandoned" }],
      });
    });

    test("with what was accepted in the same moment", async () => {
      const first = await openInbox(engine);
      const accepted = first.inbox.accept(incoming("a"));
      await first.inbox.close(0);
      expect(await accepted).toEqual({ duplicate: false });
      const second = await openInbox(engine, { store: first.store });
      expect(await second.inbox.counts()).toMatchObject({ retrain: { queued: 1 } });
    });

    test("once, however often it is told to", async () => {
      const { inbox } = await openInbox(engine);
      expect(await Promise.all([inbox.close(0), inbox.close(0)])).toEqual([undefined, undefined]);
    });
  });
}

function describeSharing(engine: Engine): void {
  describe("that two share", () => {
    test("gives each delivery to one of them", async () => {
      const first = await openInbox(engine);
      const second = await openInbox(engine, { store: first.store });
      const ids = Array.from({ length: 40 }, (_, index) => `d${index}`);
      const runs = [work(first.inbox, () => succeeded), work(second.inbox, () => succeeded)];
      await Promise.all(ids.map((id, index) => (index % 2 ? first : second).inbox.accept(incoming(id))));
      await vi.waitFor(async () => expect(await first.inbox.counts()).toMatchObject({ retrain: { succeeded: 40 } }), {
        timeout: 10_000,
      });
      expect(runs.flatMap((tasks) => tasks.map(({ id }) => id)).sort()).toEqual(ids.sort());
    });

    test("leaves to one what he works on for longer than a lease", async () => {
      const leaseMs = 600;
      const first = await openInbox(engine, { leaseMs });
      const second = await openInbox(engine, { store: first.store, leaseMs });
      const release = Promise.withResolvers<void>();
      const runs = work(first.inbox, async () => {
        await release.promise;
        return succeeded;
      });
      await first.inbox.accept(incoming("a"));
      await vi.waitFor(() => expect(runs).toHaveLength(1), { timeout: 10_000 });
      const taken = work(second.inbox, () => succeeded);
      const began = performance.now();
      // A lease that nobody renews has ended by then, and has been looked for twice.
      await vi.waitFor(() => expect(performance.now() - began).toBeGreaterThan(3 * leaseMs), { timeout: 10_000 });
      release.resolve();
      expect((await waitForStatus(first.inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
      expect(taken).toEqual([]);
    });
  });

  describe("of a process that is killed", () => {
    test("gives what it worked on to another one, and loses nothing", { timeout: 60_000 }, async () => {
      const { inbox, store } = await openInbox(engine, { leaseMs: 300 });
      const ids = Array.from({ length: 30 }, (_, index) => `d${index}`);
      for (const id of ids) await inbox.accept(incoming(id));
      const victim = startHangingProcess({ engine: engine.name, store });
      await victim.says("took", 3);
      victim.signal("SIGKILL");
      await victim.exited;
      const runs = work(inbox, () => succeeded);
      for (const id of ids) await waitForStatus(inbox, id, "succeeded");
      const outcomes = await Promise.all(
        ids.map(async (id) => (await inbox.get({ id, endpoint: "retrain" }))?.attempts.map(({ outcome }) => outcome)),
      );
      const cutShort = outcomes.filter((attempts) => attempts?.includes("abandoned"));
      expect(cutShort).toEqual(cutShort.map(() => ["abandoned", "succeeded"]));
      expect(cutShort.length).toBeGreaterThanOrEqual(3);
      expect(runs).toHaveLength(30);
    });

    test("again and again lets the delivery die that kills it", { timeout: 60_000 }, async () => {
      const policy = { attempts: 2, waitAfter: () => 1, totalWaitMs: 0 };
      const { inbox, store } = await openInbox(engine, { leaseMs: 300 });
      await inbox.accept(incoming("a"));
      const died = vi.waitFor(
        async () => expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "dead" }),
        { timeout: 50_000, interval: 20 },
      );
      died.catch(() => {});
      // An engine may not know that the delivery was alone in its first crash, which then does not count.
      for (let kills = 0; kills < policy.attempts + 1; kills += 1) {
        const victim = startHangingProcess({ engine: engine.name, store });
        const isDead = await Promise.race([died.then(() => true), victim.says("took").then(() => false)]);
        victim.signal("SIGKILL");
        await victim.exited;
        if (isDead) break;
      }
      const runs = work(inbox, () => succeeded, { policy });
      const stored = await waitForStatus(inbox, "a", "dead");
      const outcomes = stored?.attempts.map(({ outcome }) => outcome) ?? [];
      expect(new Set(outcomes)).toEqual(new Set(["abandoned"]));
      expect(outcomes.length - policy.attempts).toBeOneOf([0, 1]);
      expect(runs).toEqual([]);
      await inbox.replay({ id: "a", endpoint: "retrain" });
      await waitForStatus(inbox, "a", "succeeded");
      expect(runs).toMatchObject([{ attempt: outcomes.length + 1, isLastAttempt: false }]);
    });
  });
}

/** A process that works on "retrain", says what it took, and never ends any of it. */
function startHangingProcess({ engine, store }: { engine: string; store: string }) {
  return startReceiverProcess(new URL("hanging-process.ts", import.meta.url), { ENGINE: engine, STORE: store });
}
