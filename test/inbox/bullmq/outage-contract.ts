import { describe, expect, onTestFinished, test } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/open-bullmq-inbox.ts";
import { openInbox as openByUrl } from "../../../src/inbox/open-inbox.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed, incoming, succeeded, waitForStatus, work } from "../engine.ts";

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
      await inbox.accept(incoming("before"));
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
