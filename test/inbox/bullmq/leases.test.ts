// @module-tag slow

import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { LeaseRenewer } from "../../../src/inbox/bullmq/lease-renewer.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { freePort } from "../../support/free-port.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { describeCrashContract } from "../crash-contract.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "../engine.ts";
import { openers } from "../openers.ts";

const script = new URL("./handler-process.ts", import.meta.url);

/** Tests of deliveries whose process is blocked or frozen while it runs them. */
function describeLostLeases(engine: Engine): void {
  const start = (store: string, environment: Readonly<Record<string, string>> = {}) =>
    startReceiverProcess(script, { STORE: store, ...environment });

  describe("A delivery whose handler blocks the event loop", () => {
    test("for longer than its lease runs once, although another receiver is waiting", { timeout: 60_000 }, async () => {
      // The thread that renews the lease competes with the other tests for the processor.
      const leaseMs = 3_000;
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      // The renewal thread loads its code when the event loop is first blocked, which is slow on a busy machine.
      await inbox.accept(incoming(`blocks-${leaseMs / 2}`));
      await waitForStatus(inbox, `blocks-${leaseMs / 2}`, "succeeded");
      const id = `blocks-${2 * leaseMs}`;
      await inbox.accept(incoming(id));
      await child.says("claimed", 2);
      const runs = work(inbox, () => succeeded);
      const stored = await waitForStatus(inbox, id, "succeeded");
      expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
      expect(runs).toEqual([]);
    });

    test("for too long is run by another receiver", async () => {
      const leaseMs = 1_500;
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}`, MAX_BLOCKED_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("blocks-1000"));
      await waitForStatus(inbox, "blocks-1000", "succeeded");
      await inbox.accept(incoming("blocks-60000"));
      await child.says("claimed", 2);
      const runs = work(inbox, () => succeeded);
      await waitForStatus(inbox, "blocks-60000", "succeeded");
      expect(runs).toMatchObject([{ id: "blocks-60000", attempt: 2 }]);
    });
  });

  describe("A delivery whose process is frozen for longer than its lease", () => {
    const leaseMs = 500;

    /** Starts a process that runs a delivery and freezes it until another receiver also runs the delivery. */
    async function takenOver(run: () => Outcome | Promise<Outcome>) {
      const { inbox, store, logger } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("held-a"));
      await child.says("claimed");
      child.signal("SIGSTOP");
      const runs = work(inbox, run, { policy: { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 } });
      await waitFor(() => expect(runs).toHaveLength(1));
      const thaw = async () => {
        child.signal("SIGCONT");
        child.signal("SIGUSR2");
        await child.says("ended");
      };
      return { inbox, runs, thaw, logger };
    }

    const hasLateSuccess = async (inbox: Awaited<ReturnType<typeof takenOver>>["inbox"]) =>
      waitFor(
        async () =>
          expect((await inbox.get({ id: "held-a", endpoint: "retrain" }))?.attempts[0]).toMatchObject({
            outcome: "succeeded",
          }),
        { interval: 20 },
      );

    test("succeeds if its first run does, even if the second one fails", async () => {
      const hold = Promise.withResolvers<Outcome>();
      const { inbox, runs, thaw } = await takenOver(() => hold.promise);
      await thaw();
      await hasLateSuccess(inbox);
      hold.resolve(failed({ retryable: false }));
      const stored = await waitForStatus(inbox, "held-a", "succeeded");
      expect(stored?.attempts).toMatchObject([{ outcome: "succeeded" }, { outcome: "failed" }]);
      expect(runs).toHaveLength(1);
    });

    test("succeeds if its first run does, even after the second one has failed permanently", async () => {
      const { inbox, runs, thaw, logger } = await takenOver(() => failed({ retryable: false }));
      await waitForStatus(inbox, "held-a", "dead");
      const before = logger.lines.length;
      await thaw();
      await waitForStatus(inbox, "held-a", "succeeded");
      expect(runs).toHaveLength(1);
      // The thawed process logs the lost lease, so the other receiver logs nothing.
      expect(logger.lines.slice(before)).toEqual([]);
    });

    test("succeeds as soon as its first run does, even if the second one waits for a retry", async () => {
      const retryAt = new Date(Date.now() + 3_600_000);
      const { inbox, runs, thaw } = await takenOver(() => failed({ retryAt }));
      await waitForStatus(inbox, "held-a", "queued");
      await thaw();
      await waitForStatus(inbox, "held-a", "succeeded");
      expect(runs).toHaveLength(1);
    });

    test("runs once if there is no other receiver", async () => {
      const { inbox, store } = await openInbox(engine, { leaseMs });
      const child = start(store, { LEASE_MS: `${leaseMs}` });
      await child.says("ready");
      await inbox.accept(incoming("held-a"));
      await child.says("claimed");
      child.signal("SIGSTOP");
      const frozenAt = performance.now();
      await waitFor(() => expect(performance.now() - frozenAt).toBeGreaterThan(2 * leaseMs));
      child.signal("SIGCONT");
      child.signal("SIGUSR2");
      const stored = await waitForStatus(inbox, "held-a", "succeeded");
      expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
      expect(child.lines.filter(({ msg }) => msg === "claimed")).toHaveLength(1);
    });
  });
}

describe.skipIf(!hasRedis)("Leases on Redis", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const redis = { name: "Redis", open: openers.Redis, emptyStore: () => server.emptyDatabase() };
  describeLostLeases(redis);
  describeCrashContract(redis);
});

describe("Leases on PostgreSQL", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const postgres = { name: "PostgreSQL", open: openers.PostgreSQL, emptyStore: () => server.emptyDatabase() };
  describeLostLeases(postgres);
  describeCrashContract(postgres);
});

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
