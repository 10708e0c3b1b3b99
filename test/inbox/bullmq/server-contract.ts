import type { Queue } from "bullmq";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type BullmqInboxOptions, openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { jobIdOf } from "../../../src/inbox/bullmq/stored-job.ts";
import { openInbox as openByUrl } from "../../../src/inbox/open-inbox.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "../engine.ts";

/** A server that stores inboxes. */
export interface TestedServer {
  port: number;
  emptyDatabase(options?: { isNew?: boolean }): Promise<string>;
}

/** An engine whose inboxes are on a server, and what its tests do to the server. */
export interface ServerEngine {
  engine: Engine;
  getServer: () => TestedServer;
  openQueue: (url: string, name: string) => Queue;
  /** Deletes all data of an inbox. */
  empty: (store: string) => Promise<void>;
  /** Makes the lease of the running delivery belong to a process that is gone, and end in an hour, as after a clock was set back. */
  orphanLease: (store: string) => Promise<void>;
  /** Returns when the lease of the running delivery ends, or `undefined` if it has ended. */
  leaseEnd: (store: string) => Promise<number | undefined>;
}

const hourMs = 3_600_000;
const realSetInterval = globalThis.setInterval;

/**
 * Tests of inboxes on a server that is unavailable, does not respond, or comes back empty, of reported problems and scheduled maintenance,
 * and of clocks that are set back by an hour while deliveries wait or run.
 */
export function describeServer({ engine, getServer, openQueue, empty, orphanLease, leaseEnd }: ServerEngine): void {
  const open = async (options: Partial<BullmqInboxOptions> = {}) => {
    const logger = createMemoryLogger();
    const url = options.url ?? (await getServer().emptyDatabase());
    const inbox = await openBullmqInbox({ log: logger, now: Date.now, ...options, url });
    onTestFinished(async () => void (await inbox.close(0)));
    return { inbox, logger, url };
  };
  /** Fakes `setInterval` until the test ends. Call this before the inbox opens. */
  const fakeIntervals = () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
  };
  const rawQueue = (url: string, name: string) => {
    const queue = openQueue(url, name);
    onTestFinished(() => queue.close());
    return queue;
  };
  /** Opens an inbox behind a proxy that the test can freeze or cut. */
  const openProxied = async (options: Partial<BullmqInboxOptions> = {}) => {
    const proxy = await startTcpProxy(getServer().port);
    const url = proxy.urlOf(await getServer().emptyDatabase());
    return { proxy, ...(await open({ deadlineMs: 5_000, ...options, url })) };
  };

  describe("An unavailable server", () => {
    test("is an error at the start, with its host and without its password", async () => {
      const url = Object.assign(new URL(await getServer().emptyDatabase()), { port: `${await freePort()}` });
      url.password = "Planted-5ecret";
      const opening = openByUrl({ url: url.href, log: createMemoryLogger(), now: Date.now });
      await expect(opening).rejects.toMatchObject({
        code: "INBOX_UNUSABLE",
        message: expect.stringContaining(url.host),
      });
      await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining("Planted") });
    });

    test("rejects a delivery immediately, and accepts the next when it is available again", async () => {
      const { inbox, logger, proxy } = await openProxied();
      const runs = work(inbox, () => succeeded);
      await inbox.accept(incoming("before"));
      await waitForStatus(inbox, "before", "succeeded");
      await proxy.cut();
      await expect(inbox.accept(incoming("meanwhile"))).rejects.toMatchObject({
        code: "INBOX_UNAVAILABLE",
        status: 503,
      });
      await waitFor(() => expect(logger.lines.map(({ level }) => level)).toContain("error"));
      await proxy.restore();
      await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
      await waitFor(() => expect(runs.map(({ id }) => id)).toContain("after"));
    });
  });

  test.each([
    ["the first delivery of an endpoint is sent", ["another"]],
    ["the first delivery of an inbox is sent", []],
  ])("A server that is unavailable when %s accepts it when it is available again", async (_when, endpoints) => {
    const { inbox, proxy } = await openProxied();
    for (const endpoint of endpoints) await inbox.accept(incoming("before", { endpoint }));
    await proxy.cut();
    await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await proxy.restore();
    await waitFor(() => inbox.accept(incoming("a")), { interval: 50 });
  });

  describe("An inbox that must exist", () => {
    test("is not created", async () => {
      const url = await getServer().emptyDatabase({ isNew: true });
      const attempt = () => openByUrl({ url, log: createMemoryLogger(), now: Date.now, mustExist: true });
      for (const _once of [1, 2]) {
        await expect(attempt()).rejects.toMatchObject({
          code: "INBOX_UNUSABLE",
          message: expect.stringContaining("There is no inbox at"),
        });
      }
      const { inbox } = await open({ url });
      await inbox.accept(incoming("a"));
      const opened = await attempt();
      expect(await opened.counts()).toMatchObject({ retrain: { queued: 1 } });
      await opened.close(0);
    });
  });

  describe("A closing inbox", () => {
    test.each(["freeze", "cut"] as const)("does not wait for an unavailable server: %s", async (trouble) => {
      const { inbox, logger, proxy } = await openProxied({ deadlineMs: 300 });
      const started = Promise.withResolvers<void>();
      work(inbox, (_claimed, signal) => {
        started.resolve();
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed())));
      });
      await waitFor(() => inbox.accept(incoming("a")));
      await started.promise;
      await proxy[trouble]();
      const before = performance.now();
      await inbox.close(100);
      expect(performance.now() - before).toBeLessThan(3_000);
      if (trouble === "freeze") {
        const failures = logger.lines.filter(({ level }) => level === "error");
        expect(failures).toContainEqual(expect.objectContaining({ msg: expect.stringContaining("did not respond") }));
      }
    });
  });

  describe("A server that stops responding", () => {
    test("and then disconnects does not end the process", async () => {
      const { inbox, proxy } = await openProxied({ deadlineMs: 200 });
      const started = Promise.withResolvers<void>();
      const hold = Promise.withResolvers<void>();
      work(inbox, async () => {
        started.resolve();
        await hold.promise;
        return succeeded;
      });
      await waitFor(() => inbox.accept(incoming("before")), { interval: 50 });
      await started.promise;
      proxy.freeze();
      hold.resolve();
      const unavailable = { code: "INBOX_UNAVAILABLE" };
      for (const id of ["a", "b"]) await expect(inbox.accept(incoming(id))).rejects.toMatchObject(unavailable);
      await proxy.cut();
      await expect(inbox.accept(incoming("c"))).rejects.toMatchObject(unavailable);
      proxy.thaw();
      await proxy.restore();
      await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
    });

    test("rejects a delivery after a timeout, and does not run it twice if it was stored", async () => {
      const { inbox, proxy } = await openProxied({ deadlineMs: 200 });
      // The first request opens connections, which can take longer than the deadline.
      await waitFor(() => inbox.accept(incoming("before")), { interval: 50 });
      proxy.freeze();
      await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
      proxy.thaw();
      const runs = work(inbox, () => succeeded);
      await waitFor(() => inbox.accept(incoming("a")), { interval: 50 });
      await waitForStatus(inbox, "a", "succeeded");
      expect(runs.filter(({ id }) => id === "a")).toHaveLength(1);
    });
  });

  const isLoss = ({ code, deliveryId }: LogLine) => code === "INBOX_DATA_LOST" && deliveryId === undefined;

  test("A server that comes back empty is logged once, and later deliveries run", { timeout: 60_000 }, async () => {
    const { inbox, store, logger } = await openInbox(engine, { leaseMs: 1_500 });
    const end = Promise.withResolvers<Outcome>();
    const signals: AbortSignal[] = [];
    const runs = work(inbox, ({ id }, signal) => {
      signals.push(signal);
      return id === "running" ? end.promise : succeeded;
    });
    const { inbox: idle, logger: idleLogger } = await openInbox(engine, { store });
    for (const each of [inbox, idle]) expect(await each.problems()).toEqual([]);
    await inbox.accept(incoming("running"));
    await inbox.accept(incoming("elsewhere", { endpoint: "other" }));
    await waitFor(() => expect(runs).toHaveLength(1));
    await empty(store);
    const problem = { code: "INBOX_DATA_LOST", severity: "degraded", message: expect.stringContaining("Replay") };
    for (const each of [inbox, idle, inbox, idle]) expect(await each.problems()).toEqual([problem]);
    await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
    await waitForStatus(inbox, "after", "succeeded");
    expect(await inbox.counts()).toMatchObject({ retrain: { succeeded: 1, running: 0, queued: 0 } });
    // Longer than the interval at which the lease of the lost delivery is renewed.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    // The run of the lost delivery is the only one that it can have.
    expect(signals[0]?.aborted).toBe(false);
    end.resolve(failed());
    await waitFor(() =>
      expect(logger.lines).toContainEqual(
        expect.objectContaining({ level: "error", code: "INBOX_DATA_LOST", deliveryId: "running" }),
      ),
    );
    for (const { lines } of [logger, idleLogger]) expect(lines.filter(isLoss)).toHaveLength(1);
    const { inbox: next, logger: nextLogger } = await openInbox(engine, { store });
    expect(await next.problems()).toEqual([]);
    expect(nextLogger.lines.filter(isLoss)).toEqual([]);
  });

  describe("A server that does not respond", () => {
    test("is an error at the start, after a timeout", async () => {
      const proxy = await startTcpProxy(getServer().port);
      const url = proxy.urlOf(await getServer().emptyDatabase());
      proxy.freeze();
      const startedAt = performance.now();
      const opening = open({ url, startMs: 200 });
      await expect(opening).rejects.toMatchObject({ code: "INBOX_UNUSABLE", message: expect.stringContaining("time") });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    });

    test("is an error for reads, after a timeout", async () => {
      const { inbox, proxy } = await openProxied({ readMs: 100 });
      await inbox.accept(incoming("a"));
      proxy.freeze();
      const unavailable = { code: "INBOX_UNAVAILABLE" };
      await expect(inbox.counts()).rejects.toMatchObject(unavailable);
      await expect(inbox.list()).rejects.toMatchObject(unavailable);
      await expect(inbox.get({ id: "a", endpoint: "retrain" })).rejects.toMatchObject(unavailable);
    });
  });

  describe("The problems of an inbox", () => {
    test.each(["freeze", "cut"] as const)(
      "include an unavailable server within 3 s, until it is available again: %s",
      async (trouble) => {
        const { inbox, proxy } = await openProxied();
        await proxy[trouble]();
        // The first result can be slow on a busy machine.
        await waitFor(async () => {
          const startedAt = performance.now();
          expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
          expect(performance.now() - startedAt).toBeLessThan(3_000);
        });
        await (trouble === "freeze" ? proxy.thaw() : proxy.restore());
        await waitFor(async () => expect(await inbox.problems()).toEqual([]), { interval: 50 });
      },
    );

    test("include a clock that differs from that of the server, which is logged once, also at the start", async () => {
      const { inbox, logger } = await open({ now: () => Date.now() + hourMs });
      await waitFor(() => expect(logger.lines.map(({ code }) => code)).toContain("INBOX_CLOCK_SKEW"));
      for (const _time of [1, 2]) {
        expect(await inbox.problems()).toMatchObject([{ code: "INBOX_CLOCK_SKEW", severity: "degraded" }]);
      }
      expect(logger.lines.filter(({ code }) => code === "INBOX_CLOCK_SKEW")).toMatchObject([{ level: "warn" }]);
    });

    test("are checked every five minutes", async () => {
      fakeIntervals();
      const clock = { aheadMs: 0 };
      const { inbox, logger } = await open({ now: () => Date.now() + clock.aheadMs });
      expect(await inbox.problems()).toEqual([]);
      clock.aheadMs = hourMs;
      await vi.advanceTimersByTimeAsync(5 * 60_000);
      await waitFor(() => expect(logger.lines.map(({ code }) => code)).toContain("INBOX_CLOCK_SKEW"));
    });

    test("include deliveries that wait although the worker has capacity", async () => {
      const { inbox, url } = await open({ stalledMs: 1 });
      work(inbox, () => succeeded);
      await inbox.accept(incoming("a"));
      await waitForStatus(inbox, "a", "succeeded");
      const queue = rawQueue(url, "retrain");
      await queue.setGlobalConcurrency(0);
      await inbox.accept(incoming("b"));
      await waitFor(
        async () =>
          expect(await inbox.problems()).toMatchObject([
            { code: "INBOX_STALLED", severity: "unavailable", message: expect.stringContaining('"retrain"') },
          ]),
        { interval: 20 },
      );
      work(inbox, () => succeeded, { endpoint: "other" });
      expect(await inbox.problems()).toMatchObject([{ code: "INBOX_STALLED", severity: "degraded" }]);
      await queue.removeGlobalConcurrency();
      // Another delivery wakes the worker.
      await inbox.accept(incoming("c"));
      await waitForStatus(inbox, "b", "succeeded");
      await waitForStatus(inbox, "c", "succeeded");
      expect(await inbox.problems()).toEqual([]);
    });

    test("are an empty list while deliveries wait because their endpoint is paused", async () => {
      const { inbox } = await open({ stalledMs: 1 });
      work(inbox, () => succeeded);
      await inbox.pause("retrain");
      await inbox.accept(incoming("a"));
      const found = [await inbox.problems(), await inbox.problems(), await inbox.problems()];
      expect(found).toEqual([[], [], []]);
    });
  });

  describe("The bodies of an endpoint that is no longer served", () => {
    /** Opens an inbox with a succeeded and a queued delivery of an endpoint that is no longer served. */
    async function abandonedEndpoint({ retentionMs }: { retentionMs: number }) {
      const { inbox, url } = await open();
      const retryAt = new Date(Date.now() + 1_000 * hourMs);
      work(inbox, ({ id }) => (id === "waits" ? failed({ retryAt }) : succeeded), { retentionMs });
      for (const id of ["done", "waits"]) await inbox.accept(incoming(id));
      await waitForStatus(inbox, "done", "succeeded");
      await waitFor(async () =>
        expect(await inbox.get({ id: "waits", endpoint: "retrain" })).toMatchObject({ attempts: [{ number: 1 }] }),
      );
      await inbox.close(0);
      const later = async (byMs: number) => (await open({ url, now: () => Date.now() + byMs })).inbox;
      return { url, later };
    }

    test("are removed after its last retention, except for queued deliveries", async () => {
      const { later } = await abandonedEndpoint({ retentionMs: hourMs });
      const before = await later(hourMs / 2);
      expect(await before.prune()).toBe(0);
      const after = await later(2 * hourMs);
      expect(await after.prune()).toBe(1);
      expect((await after.get({ id: "done", endpoint: "retrain" }))?.body).toBeUndefined();
      expect(await after.get({ id: "waits", endpoint: "retrain" })).toMatchObject({
        status: "queued",
        body: incoming("waits").body,
      });
    });

    test("are removed within an hour, without a call", async () => {
      const { later } = await abandonedEndpoint({ retentionMs: hourMs });
      fakeIntervals();
      const after = await later(2 * hourMs);
      const body = async () => (await after.get({ id: "done", endpoint: "retrain" }))?.body;
      expect(await body()).toBe(incoming("done").body);
      await vi.advanceTimersByTimeAsync(hourMs);
      await waitFor(async () => expect(await body()).toBeUndefined());
    });

    test("are removed after its last retention, which each prune stores again", async () => {
      const { inbox, url } = await open();
      work(inbox, () => succeeded, { retentionMs: hourMs });
      await inbox.accept(incoming("done"));
      await waitForStatus(inbox, "done", "succeeded");
      const endpoints = rawQueue(url, "#endpoints");
      const readEntry = () => endpoints.getJob(jobIdOf("retrain"));
      await waitFor(async () => expect((await readEntry())?.data).toMatchObject({ retentionMs: hourMs }));
      await (await readEntry())?.updateData({ id: "retrain", body: "" });
      expect(await inbox.prune()).toBe(0);
      await inbox.close(0);
      const { inbox: after } = await open({ url, now: () => Date.now() + 2 * hourMs });
      expect(await after.prune()).toBe(1);
    });

    test("are removed after 14 days if its retention is unknown", async () => {
      const { url, later } = await abandonedEndpoint({ retentionMs: 1 });
      const entry = await rawQueue(url, "#endpoints").getJob(jobIdOf("retrain"));
      await entry?.updateData({ id: "retrain", body: "" });
      const before = await later(13 * 24 * hourMs);
      expect(await before.prune()).toBe(0);
      const after = await later(15 * 24 * hourMs);
      expect(await after.prune()).toBe(1);
    });
  });

  test("An inbox keeps no accepted or rejected delivery in memory", async () => {
    const { inbox } = await open({ maxQueued: 2 });
    for (const id of ["a", "b"]) await inbox.accept(incoming(id));
    await expect(inbox.accept(incoming("c"))).rejects.toMatchObject({ code: "INBOX_FULL" });
    const waitedFor = vi.spyOn(Promise, "allSettled");
    await inbox.close(0);
    const sizes = waitedFor.mock.calls.flatMap(([waiting]) => (waiting instanceof Set ? [waiting.size] : []));
    waitedFor.mockRestore();
    expect(sizes).toEqual([0]);
  });

  test("A closed inbox leaves no timer", async () => {
    const before = vi.fn();
    const set = vi.spyOn(globalThis, "setInterval").mockImplementation(((
      ...parameters: Parameters<typeof setInterval>
    ) => {
      const timer = realSetInterval(...parameters);
      before(timer);
      return timer;
    }) as typeof setInterval);
    const { inbox } = await open();
    work(inbox, () => succeeded);
    set.mockRestore();
    await inbox.close(0);
    const left = before.mock.calls.filter(([timer]) => !(timer as { _destroyed?: boolean })._destroyed);
    expect(left).toEqual([]);
  });

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
      // A renewal changes it by a second. On a busy machine, two readings of the same lease can differ by some 100 ms.
      expect(Math.abs(now - (before ?? 0))).toBeGreaterThan(700);
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
