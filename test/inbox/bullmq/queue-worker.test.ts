import { Job } from "bullmq";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { RunGate } from "../../../src/inbox/bullmq/handler-runs.ts";
import { LeaseRenewer } from "../../../src/inbox/bullmq/lease-renewer.ts";
import type { DeliveryQueue } from "../../../src/inbox/bullmq/queue-server.ts";
import { QueueWorker } from "../../../src/inbox/bullmq/queue-worker.ts";
import { connectRedis } from "../../../src/inbox/bullmq/redis.ts";
import { attemptEntry, jobIdOf, runStateEntry, toJobData } from "../../../src/inbox/bullmq/stored-job.ts";
import { storedCrashError } from "../../../src/inbox/errors.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed, incoming, succeeded } from "../engine.ts";

describe.skipIf(!hasRedis)("The worker of an endpoint", () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis(["--appendfsync", "no"]);
    return () => redis[Symbol.asyncDispose]();
  }, 60_000);

  /** Prepares a worker for "retrain" that records the runs of its handler. */
  async function startWorker({
    attempts = 3,
    // Lets a suspect start although a run with a lost lease is still in progress.
    gate = new RunGate(1),
    // A pause of the test machine does not end this lease.
    leaseMs = 60_000,
    waitMs = 1,
  }: {
    attempts?: number;
    gate?: RunGate;
    leaseMs?: number;
    /** The wait before the second attempt. Later waits are longer. */
    waitMs?: number;
  } = {}) {
    const url = await redis.emptyDatabase();
    const onError = vi.fn();
    const server = await connectRedis({ url, mustExist: false, startMs: 8_000, now: Date.now, onError });
    const leases = new LeaseRenewer({ url, leaseMs, maxBlockedMs: 60_000, onError });
    const logger = createMemoryLogger();
    const runs: { attempt: number; signal: AbortSignal; end: (outcome: Outcome) => void }[] = [];
    const workers: QueueWorker[] = [];
    const start = () => {
      const worker = new QueueWorker({
        queue: {
          endpoint: "retrain",
          concurrency: 4,
          policy: { maxAttempts: attempts, waitAfter: (attempt) => attempt * waitMs, totalWaitMs: 0 },
          retentionMs: 1_000,
          run: ({ attempt }, signal) => {
            const { promise, resolve } = Promise.withResolvers<Outcome>();
            runs.push({ attempt, signal, end: resolve });
            return promise;
          },
        },
        server,
        gate,
        leases,
        leaseMs,
        now: Date.now,
        log: logger,
        onError,
      });
      workers.push(worker);
      return worker;
    };
    const queue = server.openQueue("retrain");
    const add = (id: string) =>
      queue.add("delivery", toJobData(incoming(id)), {
        jobId: jobIdOf(id),
        attempts: 100,
        backoff: { type: "custom" },
      });
    const client = new Redis(url);
    /** Adds the delivery "a", whose first claims ended with crashes. */
    const addCrashed = async ({ crashes, counts }: { crashes: number; counts: boolean }) => {
      const job = await add("a");
      for (let claim = 1; claim <= crashes; claim += 1) {
        const attempt = { number: claim, outcome: "abandoned", error: storedCrashError } as const;
        await job.log(attemptEntry({ claim, attempt, counts }));
      }
      await client.hset(`hub-webhooks:retrain:${jobIdOf("a")}`, "ats", crashes);
      return job;
    };
    onTestFinished(async () => {
      // If a failed test left a worker open, its closed connection would be reported instead of the failure.
      await Promise.all(workers.map((worker) => worker.close(0)));
      await queue.close();
      await leases.close();
      await server.close();
      client.disconnect();
    });
    return { start, add, addCrashed, runs, queue, client, onError, logger };
  }

  /** Returns the last history entry of a delivery. */
  async function lastEntry(queue: DeliveryQueue, id: string): Promise<unknown> {
    return JSON.parse((await queue.getJobLogs(jobIdOf(id))).logs.at(-1) ?? "null");
  }

  const loseLease = (client: Redis, id: string) => client.del(`hub-webhooks:retrain:${jobIdOf(id)}:lock`);

  test("aborts a run whose lease was lost, and the new run of the delivery when it closes", async () => {
    const { start, add, runs, client, onError, logger } = await startWorker({ leaseMs: 400 });
    const worker = start();
    await add("a");
    await waitFor(() => expect(runs).toHaveLength(1));
    await loseLease(client, "a");
    await waitFor(() => expect(runs[0]?.signal.reason).toMatchObject({ code: "LEASE_LOST" }));
    await waitFor(() => expect(runs).toHaveLength(2));
    // The first run ends while the second one continues.
    runs[0]?.end({ status: "failed", error: runs[0].signal.reason });
    await waitFor(async () => expect(await client.llen(`hub-webhooks:retrain:active`)).toBe(1));
    const leaseLost = expect.objectContaining({ level: "warn", code: "LEASE_LOST", deliveryId: "a" });
    await waitFor(() => expect(logger.lines).toContainEqual(leaseLost));
    expect(runs[1]?.signal.aborted).toBe(false);
    const closed = worker.close(100);
    expect(runs[1]?.signal.reason).toMatchObject({ code: "CLOSING" });
    runs[1]?.end(succeeded);
    await closed;
    expect(onError).not.toHaveBeenCalled();
  });

  test.each([
    ["failed permanently", () => failed({ retryable: false })],
    ["is waiting for a retry", () => failed({ retryAt: new Date(Date.now() + 3_600_000) })],
  ])("logs a late success once, and does not run the delivery again, which %s", async (_what, end) => {
    const { start, add, runs, queue, client, logger } = await startWorker({ leaseMs: 400 });
    const worker = start();
    await add("a");
    await waitFor(() => expect(runs).toHaveLength(1));
    await loseLease(client, "a");
    await waitFor(() => expect(runs).toHaveLength(2));
    runs[1]?.end(end());
    const endedIn = async () => (await queue.getFailedCount()) + (await queue.getDelayedCount());
    await waitFor(async () => expect(await endedIn()).toBe(1));
    const before = logger.lines.length;
    runs[0]?.end(succeeded);
    await waitFor(async () => expect(await queue.getCompletedCount()).toBe(1));
    await worker.close(1_000);
    expect(logger.lines.slice(before)).toMatchObject([{ level: "warn", code: "LEASE_LOST", deliveryId: "a" }]);
    expect(runs).toHaveLength(2);
  });

  test("tries again to record the end of a run, and does not run the delivery again", async () => {
    const { start, add, runs, queue, onError } = await startWorker();
    const worker = start();
    await add("a");
    await waitFor(() => expect(runs).toHaveLength(1));
    const log = vi.spyOn(Job.prototype, "log").mockRejectedValueOnce(new Error("Connection terminated"));
    onTestFinished(() => log.mockRestore());
    runs[0]?.end(succeeded);
    await waitFor(async () => expect(await queue.getCompletedCount()).toBe(1));
    await worker.close(0);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.signal.aborted).toBe(false);
    expect(onError).toHaveBeenCalledOnce();
  });

  test("reports how many deliveries it has claimed and whether it can run more, and returns their leases", async () => {
    const released = vi.fn();
    const hold = vi.spyOn(LeaseRenewer.prototype, "hold").mockReturnValue(released);
    onTestFinished(() => hold.mockRestore());
    const { start, add, runs, queue } = await startWorker({ gate: new RunGate() });
    const worker = start();
    for (const id of ["a", "b", "c", "d"]) await add(id);
    await waitFor(() => expect(runs).toHaveLength(4));
    expect(worker.progress).toEqual({ isRunning: true, hasCapacity: false, claimed: 4 });
    for (const run of runs) run.end(succeeded);
    await waitFor(async () => expect(await queue.getCompletedCount()).toBe(4));
    expect(worker.progress).toEqual({ isRunning: true, hasCapacity: true, claimed: 4 });
    expect([hold.mock.calls.length, released.mock.calls.length]).toEqual([4, 4]);
    await worker.close(0);
  });

  test("closes even if the end of a run cannot be recorded", async () => {
    const { start, add, runs } = await startWorker();
    const worker = start();
    await add("a");
    await waitFor(() => expect(runs).toHaveLength(1));
    const log = vi.spyOn(Job.prototype, "log").mockRejectedValue(new Error("Connection terminated"));
    onTestFinished(() => log.mockRestore());
    const closed = worker.close(0);
    runs[0]?.end(succeeded);
    await closed;
  });

  test("runs a suspect while no other delivery runs, and records this", async () => {
    const gate = new RunGate();
    const { start, addCrashed, runs, queue } = await startWorker({ gate });
    await addCrashed({ crashes: 1, counts: true });
    const worker = start();
    await waitFor(() => expect(runs).toHaveLength(1));
    expect(gate.tryEnter()).toBeUndefined();
    expect(await lastEntry(queue, "a")).toEqual({ claim: 2, runState: "alone" });
    runs[0]?.end(succeeded);
    await waitFor(() => expect(gate.tryEnter()).toBeDefined());
    await worker.close(0);
  });

  test("records that a waiting delivery did not run before the worker closed", async () => {
    const gate = new RunGate();
    const { start, addCrashed, runs, queue } = await startWorker({ gate });
    await addCrashed({ crashes: 1, counts: true });
    const other = gate.tryEnter();
    const worker = start();
    const waiting = { claim: 2, runState: "waiting" };
    await waitFor(async () => expect(await lastEntry(queue, "a")).toEqual(waiting));
    await worker.close(0);
    expect(await lastEntry(queue, "a")).toEqual({ claim: 2, skipped: true });
    expect([await queue.getWaitingCount(), runs]).toEqual([1, []]);
    other?.leave();
  });

  test("clears its timer if the handlers finish before the timeout", async () => {
    const { start } = await startWorker();
    const worker = start();
    const clear = vi.spyOn(globalThis, "clearTimeout");
    const set = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => void vi.restoreAllMocks());
    await worker.close(60_000);
    const graceTimer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 60_000)]?.value;
    expect(graceTimer).toBeDefined();
    expect(clear).toHaveBeenCalledWith(graceTimer);
  });

  test("counts the fourth crash of a delivery while others were running", async () => {
    const { start, addCrashed, runs, queue, client, logger } = await startWorker({ attempts: 1 });
    const job = await addCrashed({ crashes: 3, counts: false });
    // A fourth claim that started while other deliveries were running and did not end.
    job.attemptsStarted = 4;
    await job.log(runStateEntry(job, "shared"));
    await client.hset(`hub-webhooks:retrain:${jobIdOf("a")}`, "ats", 4);
    const worker = start();
    await waitFor(async () => expect(await queue.getFailedCount()).toBe(1));
    expect(runs).toEqual([]);
    expect(logger.lines.at(-1)).toMatchObject({ level: "error", code: "ABANDONED", deliveryId: "a" });
    expect(await lastEntry(queue, "a")).toMatchObject({ claim: 5, skipped: true });
    await worker.close(0);
  });

  test("leaves the gate open after a delivery that has already succeeded", async () => {
    const gate = new RunGate();
    const { start, addCrashed, runs, queue } = await startWorker({ gate });
    const job = await addCrashed({ crashes: 1, counts: true });
    const other = gate.tryEnter();
    const worker = start();
    const rows = async () => (await queue.getJobLogs(jobIdOf("a"))).logs;
    await waitFor(async () => expect((await rows()).at(-1)).toContain("waiting"));
    await job.log(attemptEntry({ claim: 1, attempt: { number: 1, outcome: "succeeded" }, counts: true }));
    other?.leave();
    await waitFor(async () => expect(await queue.getCompletedCount()).toBe(1));
    expect(runs).toEqual([]);
    expect(await lastEntry(queue, "a")).toEqual({ claim: 2, skipped: true });
    expect(gate.tryEnter()).toBeDefined();
    await worker.close(0);
  });

  test("delays a delivery that was running at a crash, for longer after each crash", async () => {
    const waitMs = 600_000;
    const { start, addCrashed, runs, queue, client, logger } = await startWorker({ waitMs });
    const job = await addCrashed({ crashes: 1, counts: true });
    // A second claim that started while no other delivery was running and did not end.
    job.attemptsStarted = 2;
    await job.log(runStateEntry(job, "alone"));
    await client.hset(`hub-webhooks:retrain:${jobIdOf("a")}`, "ats", 2);
    const startedAt = Date.now();
    const worker = start();
    await waitFor(async () => expect(await queue.getDelayedCount()).toBe(1));
    // BullMQ stores the time in the upper bits.
    const dueAt = Math.floor(Number(await client.zscore("hub-webhooks:retrain:delayed", jobIdOf("a"))) / 0x1000);
    expect(dueAt).toBeGreaterThanOrEqual(startedAt + 2 * waitMs);
    expect(dueAt).toBeLessThanOrEqual(Date.now() + 2 * waitMs);
    expect(logger.lines).toMatchObject([{ level: "warn", code: "ABANDONED", attempt: 2, waitMs: 2 * waitMs }]);
    expect(await lastEntry(queue, "a")).toEqual({ claim: 3, skipped: true, dueAt: expect.stringMatching(/Z$/) });
    expect(runs).toEqual([]);
    await worker.close(0);
  });

  test("does not count a crash that happened while the delivery was waiting to run", async () => {
    const { start, add, runs, client } = await startWorker({ attempts: 1 });
    const job = await add("a");
    job.attemptsStarted = 1;
    await job.log(runStateEntry(job, "waiting"));
    await client.hset(`hub-webhooks:retrain:${jobIdOf("a")}`, "ats", 1);
    const worker = start();
    await waitFor(() => expect(runs).toMatchObject([{ attempt: 1 }]));
    runs[0]?.end(succeeded);
    await worker.close(1_000);
  });
});
