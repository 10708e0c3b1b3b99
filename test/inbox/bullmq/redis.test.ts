import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, test } from "vitest";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { describeInboxContract } from "../contract.ts";
import { arrival, openInbox } from "../engine.ts";
import { openers } from "../engines.ts";
import { describeServerHealth } from "./health.ts";
import { describeServerTrouble } from "./trouble.ts";

const redis = { name: "Redis", open: openers.Redis, emptyStore: () => "" };

describe.skipIf(!hasRedis)("On a Redis that syncs each write", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  describeServerTrouble(() => server);
  describeServerHealth(
    () => server,
    (url, name) => new Queue(name, { connection: { url }, prefix: "hub-webhooks" }),
  );
  describeInboxContract({ ...redis, emptyStore: () => server.emptyDatabase() });

  test("an endpoint is found again after somebody has emptied it", async () => {
    const store = await server.emptyDatabase();
    const { inbox } = await openInbox(redis, { store });
    await inbox.accept(arrival("before"));
    const client = new Redis(store);
    await client.flushdb();
    await client.quit();
    await inbox.accept(arrival("after"));
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1 } });
    const { inbox: other } = await openInbox(redis, { store });
    expect((await other.list()).deliveries.map(({ id }) => id)).toEqual(["after"]);
  });

  test("there is nothing to warn of", async () => {
    const { logger } = await openInbox({ ...redis, emptyStore: () => server.emptyDatabase() });
    expect(logger.lines).toEqual([]);
  });
});

describe("A Redis URL whose path is no number", () => {
  test("is refused, in one line", async () => {
    const opening = openInbox({ ...redis, emptyStore: () => "" }, { store: "redis://127.0.0.1:1/db" });
    await expect(opening).rejects.toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("number") });
  });
});

describe.skipIf(!hasRedis)("A Redis that may lose what was acknowledged", () => {
  test.each([
    ["keeps nothing", ["--appendonly", "no"], /keeps nothing on its disk.*"appendonly yes" and "appendfsync always"/],
    ["keeps snapshots", ["--appendonly", "no", "--save", "60 1"], /snapshots only.*"appendonly yes"/],
    ["syncs each second", ["--appendfsync", "everysec"], /power cut.*"appendfsync always"/],
    ["may evict", ["--maxmemory-policy", "allkeys-lru"], /evict.*allkeys-lru.*"maxmemory-policy noeviction"/],
    ["tells no settings", ["--rename-command", "CONFIG", ""], /does not let its settings be read/],
  ])("is warned of at the start: one that %s", async (_what, settings, warning) => {
    await using server = await startRedis(settings);
    const { inbox, logger } = await openInbox({ ...redis, emptyStore: () => server.emptyDatabase() });
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(warning) }),
    ]);
    await inbox.close(0);
  });
});
