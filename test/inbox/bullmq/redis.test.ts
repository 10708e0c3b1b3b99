// @module-tag slow

import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";
import { describeInboxContract } from "../contract.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "../engine.ts";
import { openers } from "../openers.ts";
import { describeServer } from "./server-contract.ts";

const hourMs = 3_600_000;
const redis = { name: "Redis", open: openers.Redis, emptyStore: () => "" };

/** Connects to a server, by port or URL, until the test ends. */
function connect(address: number | string): Redis {
  const client = typeof address === "number" ? new Redis({ port: address }) : new Redis(address);
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

describe.skipIf(!hasRedis)("A Redis that syncs each write", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const engine = { ...redis, emptyStore: () => server.emptyDatabase() };
  const lock = async (client: Redis) => (await client.keys("hub-webhooks:retrain:*:lock"))[0] ?? "";

  describeInboxContract(engine);
  describeServer({
    engine,
    getServer: () => server,
    openQueue: (url, name) => new Queue(name, { connection: { url }, prefix: "hub-webhooks" }),
    empty: async (store) => void (await connect(store).flushdb()),
    orphanLease: async (store) => {
      const client = connect(store);
      await client.set(await lock(client), "gone", "PX", hourMs);
      await client.set("hub-webhooks:retrain:stalled-check", "", "PX", hourMs);
    },
    leaseEnd: async (store) => {
      const client = connect(store);
      const remainingMs = await client.pttl(await lock(client));
      return remainingMs < 0 ? undefined : performance.now() + remainingMs;
    },
  });

  test("An inbox logs no warning", async () => {
    const { logger } = await openInbox(engine);
    expect(logger.lines).toEqual([]);
  });
});

describe.skipIf(!hasRedis)("A Redis that becomes a replica", () => {
  test("rejects deliveries, and accepts and runs them when it is a primary again", {
    timeout: 60_000,
  }, async () => {
    await using server = await startRedis();
    await using other = await startRedis();
    const client = connect(server.port);
    const { inbox, logger } = await openInbox(redis, { store: await server.emptyDatabase() });
    const runs = work(inbox, () => succeeded);
    await inbox.accept(incoming("before"));
    await waitForStatus(inbox, "before", "succeeded");
    const promoted = connect(other.port);
    await promoted.replicaof("127.0.0.1", server.port);
    await waitFor(async () => expect(await promoted.info("replication")).toContain("master_link_status:up"));
    await promoted.replicaof("NO", "ONE");
    await client.replicaof("127.0.0.1", other.port);
    await waitFor(async () => expect(await client.info("replication")).toContain("master_link_status:up"));

    const unavailable = { code: "INBOX_UNAVAILABLE" };
    expect(await inbox.problems()).toMatchObject([{ ...unavailable, severity: "unavailable" }]);
    await expect(inbox.accept(incoming("refused"))).rejects.toMatchObject({ ...unavailable, status: 503 });
    const explained = () =>
      logger.lines.filter(({ err }) => err instanceof Error && err.message.includes("is a replica"));
    await waitFor(() => expect(explained()).toHaveLength(1));

    await client.replicaof("NO", "ONE");
    await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
    await waitForStatus(inbox, "after", "succeeded");
    expect(runs.map(({ id }) => id)).toEqual(["before", "after"]);
    await waitFor(async () => expect(await inbox.problems()).toEqual([]), { interval: 50 });
    // Close the inbox before the server stops. Otherwise, it would wait for the server.
    await inbox.close(0);
  });

  test("is replaced by the primary at the same address", { timeout: 60_000 }, async () => {
    await using server = await startRedis();
    await using other = await startRedis();
    const proxy = await startTcpProxy(server.port);
    const { inbox } = await openInbox(redis, { store: proxy.urlOf(await server.emptyDatabase()) });
    const runs = work(inbox, () => succeeded);
    await inbox.accept(incoming("before"));
    await waitForStatus(inbox, "before", "succeeded");
    const client = connect(server.port);
    // Simulates a DNS change: new connections go to the other server, open ones stay.
    proxy.redirect(other.port);
    await client.replicaof("127.0.0.1", other.port);
    await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
    await waitFor(() => expect(runs.map(({ id }) => id)).toContain("after"), { timeout: 20_000 });
    await inbox.close(0);
  });
});

describe.skipIf(!hasRedis)("A Redis without an inbox", () => {
  test("is an error if the inbox must exist, and leaves no connection", async () => {
    await using server = await startRedis();
    const client = new Redis({ port: server.port });
    onTestFinished(() => client.disconnect());
    const countClients = async () => /connected_clients:(\d+)/.exec(await client.info("clients"))?.[1];
    const url = await server.emptyDatabase();
    const before = await countClients();
    const opening = openBullmqInbox({ url, mustExist: true, log: createMemoryLogger(), now: Date.now });
    await expect(opening).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
    await expect.poll(countClients).toBe(before);
  });
});

describe.skipIf(!hasRedis)("A Redis that may lose accepted deliveries", () => {
  test.each([
    ["does not save", ["--appendonly", "no"], /does not save data to disk.*"appendonly yes" and "appendfsync always"/],
    ["saves snapshots", ["--appendonly", "no", "--save", "60 1"], /only saves snapshots.*"appendonly yes"/],
    ["syncs each second", ["--appendfsync", "everysec"], /power failure.*"appendfsync always"/],
    ["may evict", ["--maxmemory-policy", "allkeys-lru"], /evict.*allkeys-lru.*"maxmemory-policy noeviction"/],
    ["hides its settings", ["--rename-command", "CONFIG", ""], /settings of Redis cannot be read/],
  ])("logs a warning at the start: %s", async (_what, settings, warning) => {
    await using server = await startRedis(settings);
    const { inbox, logger } = await openInbox({ ...redis, emptyStore: () => server.emptyDatabase() });
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(warning) }),
    ]);
    await inbox.close(0);
  });
});
