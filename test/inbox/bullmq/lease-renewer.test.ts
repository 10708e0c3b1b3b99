// @module-tag slow

import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";
import { Redis } from "ioredis";
import { expect, onTestFinished, test, vi } from "vitest";
import { LeaseRenewer } from "../../../src/inbox/bullmq/lease-renewer.ts";
import { freePort } from "../../support/free-port.ts";
import { hasRedis, startRedis } from "../../support/redis-server.ts";

/** Blocks the event loop repeatedly until the thread has reacted. */
async function blockUntil(hasReacted: () => boolean | Promise<boolean>): Promise<void> {
  for (let blocks = 0; blocks < 50 && !(await hasReacted()); blocks += 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await new Promise(setImmediate);
  }
}

test("The place of a lease that has ended is used again, so that the thread does not renew ended leases forever", async () => {
  const post = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(() => post.mockRestore());
  const leases = new LeaseRenewer({
    url: "redis://127.0.0.1:1",
    leaseMs: 60_000,
    maxBlockedMs: 60_000,
    onError: vi.fn(),
  });
  onTestFinished(() => leases.close());
  const lease = (jobId: string) => ({ endpoint: "retrain", jobId, token: "t" });
  const end = leases.hold(lease("a"));
  leases.hold(lease("b"));
  end();
  leases.hold(lease("c"));
  leases.hold(lease("d"));
  expect(post.mock.calls.map(([message]) => message)).toEqual([
    { slot: 0, lease: lease("a") },
    { slot: 1, lease: lease("b") },
    { slot: 0, lease: lease("c") },
    { slot: 2, lease: lease("d") },
  ]);
});

test("Reports leases that it cannot renew while the event loop is blocked", async () => {
  const onError = vi.fn();
  const url = `redis://127.0.0.1:${await freePort()}`;
  const leases = new LeaseRenewer({ url, leaseMs: 200, maxBlockedMs: 60_000, onError });
  onTestFinished(() => leases.close());
  leases.hold({ endpoint: "retrain", jobId: "a", token: "t" });
  await blockUntil(() => onError.mock.calls.length > 0);
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringContaining("ECONNREFUSED") }));
});

test.skipIf(!hasRedis)("Closes its connection when the event loop runs again", async () => {
  await using redis = await startRedis(["--appendfsync", "no"]);
  const client = new Redis({ port: redis.port });
  onTestFinished(() => client.disconnect());
  const countOf = async (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(await client.info())?.[1]);
  const onError = vi.fn();
  const url = await redis.emptyDatabase();
  const leases = new LeaseRenewer({ url, leaseMs: 200, maxBlockedMs: 60_000, onError });
  onTestFinished(() => leases.close());
  leases.hold({ endpoint: "retrain", jobId: "a", token: "t" });
  const [open, received] = [await countOf("connected_clients"), await countOf("total_connections_received")];
  await blockUntil(async () => (await countOf("total_connections_received")) > received);
  expect(await countOf("total_connections_received")).toBeGreaterThan(received);
  await expect.poll(() => countOf("connected_clients")).toBe(open);
  expect(onError).not.toHaveBeenCalled();
});

test("Renewing leases does not keep a process running", () => {
  const file = new URL("../../../src/inbox/bullmq/lease-renewer.ts", import.meta.url).href;
  const script = `
    import { LeaseRenewer } from ${JSON.stringify(file)};
    new LeaseRenewer({ url: "redis://localhost", leaseMs: 1_000, maxBlockedMs: 60_000, onError: () => {} });
  `;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { timeout: 10_000 });
  expect(status).toBe(0);
});
