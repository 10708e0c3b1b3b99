import { Queue } from "bullmq";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import {
  openQueue,
  type QueueServer,
  StoredEndpoints,
  serverUnusable,
} from "../../../src/inbox/bullmq/queue-server.ts";
import { connectRedis } from "../../../src/inbox/bullmq/redis.ts";
import { createRetryPolicy } from "../../../src/inbox/retry.ts";
import { hostileValues } from "../../support/hostile-values.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming, succeeded, waitForStatus, work } from "../engine.ts";

test("A queue that cannot reach its server is closed and reported as failed", async () => {
  const queue = { waitUntilReady: vi.fn().mockRejectedValue(new Error("ECONNREFUSED")), close: vi.fn(async () => {}) };
  const onFailed = vi.fn();
  openQueue({ openQueue: () => queue } as unknown as QueueServer, "retrain", onFailed);
  await waitFor(() => expect([onFailed.mock.calls.length, queue.close.mock.calls.length]).toEqual([1, 1]));
});

const url = "redis://user:Planted-5ecret@host:6379/0";

test.each(Object.entries(hostileValues()))(
  "The error of a server that fails with %s contains no password",
  (_what, cause) => {
    const { code, message } = serverUnusable({ url, cause });
    expect(code).toBe("INBOX_UNUSABLE");
    expect(message).not.toContain("Planted");
  },
);

const dayMs = 24 * 3_600_000;

describe.skipIf(!hasRedis)("The stored endpoints", () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis(["--appendfsync", "no"]);
    return () => redis[Symbol.asyncDispose]();
  }, 60_000);

  async function openEndpoints(url: string) {
    const server = await connectRedis({ url, mustExist: false, startMs: 8_000, now: Date.now, onError: () => {} });
    const endpoints = new StoredEndpoints(server);
    onTestFinished(async () => {
      await endpoints.close();
      await server.close();
    });
    return endpoints;
  }

  test("store the retention of an endpoint for all receivers", async () => {
    const url = await redis.emptyDatabase();
    const [endpoints, other] = [await openEndpoints(url), await openEndpoints(url)];
    for (const retention of [
      { bodiesMs: 1, idsMs: 2 },
      { bodiesMs: 1, idsMs: 3 },
      { bodiesMs: 4, idsMs: 3 },
    ]) {
      await endpoints.setRetention("retrain", retention);
      expect((await other.read()).get("retrain")).toMatchObject(retention);
    }
  });

  test("and the queues of all endpoints are closed with the inbox", async () => {
    const inbox = await openBullmqInbox({ url: await redis.emptyDatabase(), now: Date.now, log: createMemoryLogger() });
    await inbox.accept(incoming("a"));
    const close = vi.spyOn(Queue.prototype, "close");
    onTestFinished(() => close.mockRestore());
    await inbox.close(0);
    expect(close.mock.contexts.map((queue) => (queue as Queue).name).sort()).toEqual(["#endpoints", "retrain"]);
  });

  test("keep the IDs of an endpoint that is no longer served for longer than its retries can take", async () => {
    const url = await redis.emptyDatabase();
    const open = async (laterMs: number) => {
      const now = () => Date.now() + laterMs;
      const inbox = await openBullmqInbox({ url, now, log: createMemoryLogger() });
      onTestFinished(async () => void (await inbox.close(0)));
      return inbox;
    };
    const inbox = await open(0);
    // The waits take up to 12 days with jitter, and IDs are kept for a day longer.
    work(inbox, () => succeeded, { policy: createRetryPolicy({ backoff: ["10d"] }), retentionMs: dayMs });
    await inbox.accept(incoming("a"));
    await waitForStatus(inbox, "a", "succeeded");
    await inbox.close(0);
    const before = await open(12.9 * dayMs);
    await before.prune();
    expect(await before.accept(incoming("a"))).toEqual({ duplicate: true });
    const after = await open(13.1 * dayMs);
    await after.prune();
    expect(await after.accept(incoming("a"))).toEqual({ duplicate: false });
  });
});
