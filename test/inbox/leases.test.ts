// @module-tag slow

import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { LeaseRenewer } from "../../src/inbox/bullmq/lease-renewer.ts";
import type { Outcome } from "../../src/payload/parse.ts";
import { freePort } from "../support/free-port.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { hasRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { waitFor } from "../support/wait-for.ts";
import { expectCrashesSurvived } from "./crash-contract.ts";
import { type Engine, failed, incoming, openInbox, startProcess, succeeded, waitForStatus, work } from "./engine.ts";
import { emptyInboxFile } from "./inbox-file.ts";
import { crashPolicy, openers } from "./openers.ts";

let redisServer: RedisServer | undefined;
let postgresServer: PostgresServer;

beforeAll(async () => {
  [redisServer, postgresServer] = await Promise.all([hasRedis ? startRedis() : undefined, startPostgres()]);
  return () => Promise.all([redisServer?.[Symbol.asyncDispose](), postgresServer[Symbol.asyncDispose]()]);
}, 60_000);

const servers: readonly Engine[] = [
  ...(hasRedis
    ? [{ name: "Redis" as const, open: openers.Redis, emptyStore: () => redisServer?.emptyDatabase() ?? "" }]
    : []),
  { name: "PostgreSQL", open: openers.PostgreSQL, emptyStore: () => postgresServer.emptyDatabase() },
];
const sqlite: Engine = { name: "SQLite", open: openers.SQLite, emptyStore: () => dirname(emptyInboxFile()) };

/** Runs a test on several engines at the same time, because these tests mostly wait. */
function onEach(engines: readonly Engine[], run: (engine: Engine) => Promise<void>): Promise<unknown> {
  const named = async (engine: Engine) => {
    try {
      await run(engine);
    } catch (cause) {
      throw new Error(`On ${engine.name}: ${cause}`, { cause });
    }
  };
  return Promise.all(engines.map(named));
}

/** Starts a process, and waits until its thread has loaded its code, which takes long on a busy machine when the event loop is first blocked. */
async function startBlocking(engine: Engine, { leaseMs, maxBlockedMs }: { leaseMs: number; maxBlockedMs: number }) {
  const { inbox, store } = await openInbox(engine, { leaseMs });
  const child = startProcess(engine, store, { LEASE_MS: `${leaseMs}`, MAX_BLOCKED_MS: `${maxBlockedMs}` });
  await child.says("ready");
  const first = `blocks-${leaseMs / 2}`;
  await inbox.accept(incoming(first));
  await waitForStatus(inbox, first, "succeeded");
  const block = async (ms: number) => {
    await inbox.accept(incoming(`blocks-${ms}`));
    await child.says("started", 2);
    return { id: `blocks-${ms}`, runs: work(inbox, () => succeeded) };
  };
  return { inbox, block };
}

describe("A delivery whose handler blocks the event loop", () => {
  test("for longer than its lease runs once, although another receiver is waiting", async () => {
    await onEach([sqlite, ...servers], async (engine) => {
      // The thread that renews the lease competes with the other tests for the processor.
      const leaseMs = 4_000;
      const { inbox, block } = await startBlocking(engine, { leaseMs, maxBlockedMs: 600_000 });
      const { id, runs } = await block(2 * leaseMs);
      expect((await waitForStatus(inbox, id, "succeeded"))?.attempts).toMatchObject([
        { number: 1, outcome: "succeeded" },
      ]);
      expect(runs).toEqual([]);
    });
  });

  test("for too long is run by another receiver", async () => {
    await onEach([sqlite, ...servers], async (engine) => {
      const { inbox, block } = await startBlocking(engine, { leaseMs: 1_500, maxBlockedMs: 1_500 });
      const { id, runs } = await block(60_000);
      expect((await waitForStatus(inbox, id, "succeeded"))?.attempts).toMatchObject([
        { number: 1, outcome: "abandoned" },
        { number: 2, outcome: "succeeded" },
      ]);
      expect(runs).toMatchObject([{ id, attempt: 2 }]);
    });
  });
});

describe("A delivery whose process is frozen for longer than its lease", () => {
  const leaseMs = 500;

  /** Starts a process that runs deliveries, and freezes it. */
  async function freeze(engine: Engine, ids: readonly string[]) {
    const { inbox, store, logger } = await openInbox(engine, { leaseMs });
    const child = startProcess(engine, store, { LEASE_MS: `${leaseMs}` });
    await child.says("ready");
    for (const id of ids) await inbox.accept(incoming(id));
    await child.says("started", ids.length);
    child.signal("SIGSTOP");
    const thaw = async () => {
      child.signal("SIGCONT");
      child.signal("SIGUSR2");
      await child.says("ended", ids.length);
    };
    return { inbox, logger, child, thaw };
  }

  test("succeeds if its first run does, even if the second one fails", async () => {
    await onEach(servers, async (engine) => {
      const { inbox, thaw } = await freeze(engine, ["held-a"]);
      const second = Promise.withResolvers<Outcome>();
      const runs = work(inbox, () => second.promise, { policy: crashPolicy });
      await waitFor(() => expect(runs).toHaveLength(1));
      await thaw();
      await waitFor(
        async () => {
          const stored = await inbox.get({ id: "held-a", endpoint: "retrain" });
          expect(stored?.attempts[0]).toMatchObject({ outcome: "succeeded" });
        },
        { interval: 20 },
      );
      second.resolve(failed({ retryable: false }));
      expect((await waitForStatus(inbox, "held-a", "succeeded"))?.attempts).toMatchObject([
        { outcome: "succeeded" },
        { outcome: "failed" },
      ]);
      expect(runs).toHaveLength(1);
    });
  });

  test("succeeds as soon as its first run does, although the second one has failed, or waits for a retry", async () => {
    const retryAt = new Date(Date.now() + 3_600_000);
    await onEach(servers, async (engine) => {
      const { inbox, thaw, logger } = await freeze(engine, ["held-dead", "held-retried"]);
      const run = ({ id }: { id: string }) => failed(id === "held-dead" ? { retryable: false } : { retryAt });
      const runs = work(inbox, run, { policy: crashPolicy });
      await waitForStatus(inbox, "held-dead", "dead");
      await waitFor(async () =>
        expect((await waitForStatus(inbox, "held-retried", "queued"))?.attempts).toMatchObject([
          { outcome: "abandoned" },
          { outcome: "failed" },
        ]),
      );
      const before = logger.lines.length;
      await thaw();
      for (const id of ["held-dead", "held-retried"]) await waitForStatus(inbox, id, "succeeded");
      expect(runs).toHaveLength(2);
      // The thawed process logs the lost leases, so the other receiver logs nothing about the deliveries.
      expect(logger.lines.slice(before).filter(({ deliveryId }) => deliveryId !== undefined)).toEqual([]);
    });
  });

  test("runs once if there is no other receiver", async () => {
    await onEach(servers, async (engine) => {
      const { inbox, child, thaw } = await freeze(engine, ["held-a"]);
      const frozenAt = performance.now();
      await waitFor(() => expect(performance.now() - frozenAt).toBeGreaterThan(2 * leaseMs));
      await thaw();
      expect((await waitForStatus(inbox, "held-a", "succeeded"))?.attempts).toMatchObject([
        { number: 1, outcome: "succeeded" },
      ]);
      expect(child.lines.filter(({ msg }) => msg === "started")).toHaveLength(1);
    });
  });
});

test("The delivery that causes crashes is dead after them, and the others run", { timeout: 150_000 }, async () => {
  await onEach(servers, expectCrashesSurvived);
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
  const file = new URL("../../src/inbox/bullmq/lease-renewer.ts", import.meta.url).href;
  const script = `
    import { LeaseRenewer } from ${JSON.stringify(file)};
    new LeaseRenewer({ url: "redis://localhost", leaseMs: 1_000, maxBlockedMs: 60_000, onError: () => {} });
  `;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { timeout: 10_000 });
  expect(status).toBe(0);
});
