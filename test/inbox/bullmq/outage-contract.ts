import { describe, expect, onTestFinished, test } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
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
  emptyDatabase(): Promise<string>;
}

/** Tests of an inbox whose server is unavailable or does not respond. */
export function describeServerTrouble(getServer: () => TestedServer): void {
  const open = async ({ url, deadlineMs = 5_000 }: { url: string; deadlineMs?: number }) => {
    const logger = createMemoryLogger();
    const inbox = await openBullmqInbox({ url, deadlineMs, log: logger, now: Date.now });
    onTestFinished(async () => void (await inbox.close(0)));
    return { inbox, logger };
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
      const proxy = await startTcpProxy(getServer().port);
      const { inbox, logger } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()) });
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
    const proxy = await startTcpProxy(getServer().port);
    const { inbox } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()) });
    for (const endpoint of endpoints) await inbox.accept(incoming("before", { endpoint }));
    await proxy.cut();
    await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await proxy.restore();
    await waitFor(() => inbox.accept(incoming("a")), { interval: 50 });
  });

  describe("An inbox that must exist", () => {
    test("is not created", async () => {
      const url = await getServer().emptyDatabase();
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
      const proxy = await startTcpProxy(getServer().port);
      const { inbox, logger } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()), deadlineMs: 300 });
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
      const proxy = await startTcpProxy(getServer().port);
      const { inbox } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()), deadlineMs: 200 });
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
      const proxy = await startTcpProxy(getServer().port);
      const { inbox } = await open({ url: proxy.urlOf(await getServer().emptyDatabase()), deadlineMs: 200 });
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
}

/** Tests of a server that comes back empty. `empty` deletes all data of an inbox. */
export function describeEmptiedServer(engine: Engine, empty: (store: string) => Promise<void>): void {
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
}
