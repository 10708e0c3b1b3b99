import type { Queue } from "bullmq";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type BullmqInboxOptions, openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { jobIdOf } from "../../../src/inbox/bullmq/stored-job.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed, incoming, succeeded, waitForStatus, work } from "../engine.ts";
import type { TestedServer } from "./outage-contract.ts";

const hourMs = 3_600_000;

/** Tests of timeouts, reported problems, and scheduled maintenance. */
export function describeServerHealth(
  getServer: () => TestedServer,
  openQueue: (url: string, name: string) => Queue,
): void {
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
      const proxy = await startTcpProxy(getServer().port);
      const { inbox } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()), readMs: 100 });
      await inbox.accept(incoming("a"));
      proxy.freeze();
      const unavailable = { code: "INBOX_UNAVAILABLE" };
      await expect(inbox.counts()).rejects.toMatchObject(unavailable);
      await expect(inbox.list()).rejects.toMatchObject(unavailable);
      await expect(inbox.get({ id: "a", endpoint: "retrain" })).rejects.toMatchObject(unavailable);
    });
  });

  describe("The problems of an inbox", () => {
    test("are an empty list if it is healthy", async () => {
      const { inbox } = await open();
      work(inbox, () => succeeded);
      expect(await inbox.problems()).toEqual([]);
    });

    test.each(["freeze", "cut"] as const)(
      "include an unavailable server within 3 s, until it is available again: %s",
      async (trouble) => {
        const proxy = await startTcpProxy(getServer().port);
        const { inbox } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()) });
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

    test("include a clock that differs from that of the server, which is logged once", async () => {
      const { inbox, logger } = await open({ now: () => Date.now() + hourMs });
      for (const _time of [1, 2]) {
        expect(await inbox.problems()).toMatchObject([{ code: "INBOX_CLOCK_SKEW", severity: "degraded" }]);
      }
      expect(logger.lines.filter(({ code }) => code === "INBOX_CLOCK_SKEW")).toMatchObject([{ level: "warn" }]);
    });

    test("are checked at the start", async () => {
      const { logger } = await open({ now: () => Date.now() - hourMs });
      await waitFor(() => expect(logger.lines.map(({ code }) => code)).toContain("INBOX_CLOCK_SKEW"));
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

    test("are an empty list while the worker is busy", async () => {
      const { inbox } = await open({ stalledMs: 1 });
      const hold = Promise.withResolvers<typeof succeeded>();
      const runs = work(inbox, () => hold.promise, { concurrency: 1 });
      for (const id of ["a", "b"]) await inbox.accept(incoming(id));
      await waitFor(() => expect(runs).toHaveLength(1));
      const found = [await inbox.problems(), await inbox.problems(), await inbox.problems()];
      expect(found).toEqual([[], [], []]);
      hold.resolve(succeeded);
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
}

const realSetInterval = globalThis.setInterval;
