import { DelayedError, UnrecoverableError, WaitingError } from "bullmq";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RunGate } from "../../../src/inbox/bullmq/handler-runs.ts";
import { QueueWorker, type QueueWorkerOptions } from "../../../src/inbox/bullmq/queue-worker.ts";
import type { DeliveryJob } from "../../../src/inbox/bullmq/stored-job.ts";
import type { FinishedRun } from "../../../src/inbox/inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { failed, succeeded } from "../engine.ts";

const leaseMs = 30_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function rethrow(error: Error): void {
  throw error;
}

/** Opens a worker without an inbox server. The test claims jobs, and decides which leases are renewed. */
function openWorker({ gate = new RunGate(), onError = rethrow } = {}) {
  const runs: { signal: AbortSignal; end: (run: FinishedRun) => void }[] = [];
  const logs: string[] = [];
  const renewed: string[][] = [];
  /** The answers to the next renewal. */
  const server: {
    refused: string[];
    state: "active" | "unknown";
    answer: Promise<void>;
    closed: Promise<void>;
    history: Promise<unknown>;
  } = {
    ...{ refused: [], state: "active", answer: Promise.resolve(), closed: Promise.resolve() },
    history: Promise.resolve(),
  };
  let process: Parameters<QueueWorkerOptions["server"]["openWorker"]>[1] = async () => undefined;
  const worker = new QueueWorker({
    queue: {
      endpoint: "retrain",
      concurrency: 4,
      policy: { maxAttempts: 3, waitAfter: () => 1_000, totalWaitMs: 0 },
      retentionMs: 1_000,
      run: (_claimed, signal) => {
        const { promise, resolve } = Promise.withResolvers<FinishedRun>();
        runs.push({ signal, end: resolve });
        return promise;
      },
    },
    server: {
      errors: { DelayedError, UnrecoverableError, WaitingError },
      openWorker: (_name, given) => {
        process = given;
        return {
          on: () => {},
          isRunning: () => true,
          close: () => server.closed,
          getBackend: () => ({
            getJobLogs: () => server.history.then(() => ({ logs, count: logs.length })),
            getState: async () => server.state,
            extendLocks: async (_jobIds: string[], tokens: string[]) => {
              renewed.push(tokens);
              await server.answer;
              return server.refused;
            },
          }),
        };
      },
    },
    gate,
    leases: { hold: () => () => {} },
    leaseMs,
    now: Date.now,
    log: createMemoryLogger(),
    onError,
  });
  const moveToWait = vi.fn(async () => 0);
  const extendLock = vi.fn(async () => 1);
  const job = {
    ...{ id: "job", data: { id: "a", body: "{}" }, timestamp: 0, delay: 0, attemptsStarted: 1, returnvalue: undefined },
    log: async (entry: string) => logs.push(entry),
    getState: async () => "active",
    ...{ extendLock, moveToWait, promote: async () => {}, retry: async () => {}, moveToDelayed: async () => {} },
    ...{ isFailed: async () => false, updateData: async () => {}, clearLogs: async () => {} },
  } as unknown as DeliveryJob;
  const claim = (token: string) =>
    process(Object.assign(Object.create(job), { token })).then(
      (result) => result ?? "succeeded",
      (error: Error) => error.name,
    );
  return { worker, server, runs, logs, renewed, moveToWait, extendLock, claim };
}

test("A run whose lease is refused is aborted, unless the delivery is not stored any longer", async () => {
  const { server, runs, claim } = openWorker();
  void claim("one");
  await vi.advanceTimersByTimeAsync(0);
  server.refused = ["job"];
  server.state = "unknown";
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(runs[0]?.signal.aborted).toBe(false);
  server.state = "active";
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(runs[0]?.signal.reason).toMatchObject({ code: "LEASE_LOST" });
});

test("A refused renewal does not abort a run that was claimed again meanwhile, whose own lease is renewed", async () => {
  const { server, runs, renewed, claim } = openWorker();
  void claim("one");
  const answer = Promise.withResolvers<void>();
  server.answer = answer.promise;
  server.refused = ["job"];
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  void claim("two");
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toHaveLength(2);
  answer.resolve();
  await vi.advanceTimersByTimeAsync(0);
  server.refused = [];
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  // The end of the first run does not end the lease of the second one.
  runs[0]?.end(succeeded);
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  expect(renewed.at(-1)).toEqual(["two"]);
});

test("A lease is renewed while its handler ends in the grace period of a shutdown, and then no longer", async () => {
  const { worker, server, runs, renewed, claim } = openWorker();
  void claim("one");
  await vi.advanceTimersByTimeAsync(0);
  const ended = Promise.withResolvers<void>();
  server.closed = ended.promise;
  const closing = worker.close(10 * leaseMs);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(renewed).toContainEqual(["one"]);
  runs[0]?.end(succeeded);
  ended.resolve();
  await closing;
  const count = renewed.length;
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect([renewed.length, vi.getTimerCount()]).toEqual([count, 0]);
});

test("A handler that fails in the grace period of a shutdown is queued again, which does not count as an attempt", async () => {
  const { worker, runs, logs, moveToWait, claim } = openWorker();
  const claimed = claim("one");
  await vi.advanceTimersByTimeAsync(0);
  const closing = worker.close(1_000);
  const onStored = vi.fn();
  runs[0]?.end({ ...failed(), onStored });
  expect(await claimed).toBe("WaitingError");
  await closing;
  expect(logs.map((text) => JSON.parse(text))).toMatchObject([{ outcome: "abandoned", counts: false }]);
  expect(onStored).toHaveBeenCalledExactlyOnceWith({ status: "queued", dueAt: Date.now(), counts: false });
  expect([moveToWait.mock.calls, worker.interrupted]).toEqual([[["one"]], 1]);
});

test.each([
  ["A success", succeeded, [[{ status: "succeeded" }]]],
  ["A failure", failed(), []],
])("%s after the lease was lost is reported only if it counts", async (_what, outcome, reported) => {
  const { server, runs, moveToWait, claim } = openWorker();
  const claimed = claim("one");
  await vi.advanceTimersByTimeAsync(0);
  server.refused = ["job"];
  await vi.advanceTimersByTimeAsync(leaseMs);
  const onStored = vi.fn();
  runs[0]?.end({ ...outcome, onStored });
  expect(await claimed).toBe("WaitingError");
  expect([onStored.mock.calls, moveToWait.mock.calls]).toEqual([reported, []]);
});

test("A stored attempt is reported, although a replay that was requested meanwhile cannot be read", async () => {
  const { server, runs, logs, claim } = openWorker();
  const claimed = claim("one");
  await vi.advanceTimersByTimeAsync(0);
  logs.push("of a replay");
  server.history = Promise.reject(new Error("The connection is closed."));
  const onStored = vi.fn();
  runs[0]?.end({ ...failed(), onStored });
  expect(await claimed).toBe("Error");
  expect(onStored).toHaveBeenCalledExactlyOnceWith({ status: "queued", dueAt: Date.now() + 1_000, counts: true });
});

test("A delivery that is claimed while the worker closes is queued again without a run, and no timer is left", async () => {
  const { worker, runs, logs, moveToWait, claim } = openWorker();
  await worker.close(1_000);
  expect(await claim("late")).toBe("WaitingError");
  expect([runs, logs.map((text) => JSON.parse(text))]).toEqual([[], [{ claim: 1, skipped: true }]]);
  expect(moveToWait).toHaveBeenCalledExactlyOnceWith("late");
  expect(vi.getTimerCount()).toBe(0);
});

const disconnected = new Error("connect ECONNREFUSED 127.0.0.1:5432");

test("The result of a long run is recorded, although its lease cannot be checked at first", async () => {
  const onError = vi.fn();
  const { runs, logs, extendLock, claim } = openWorker({ onError });
  const claimed = claim("one");
  await vi.advanceTimersByTimeAsync(leaseMs / 2);
  extendLock.mockRejectedValueOnce(disconnected);
  runs[0]?.end(succeeded);
  expect(await claimed).toBe("succeeded");
  expect(logs.map((text) => JSON.parse(text))).toMatchObject([{ outcome: "succeeded", counts: true }]);
  expect(onError).toHaveBeenCalledExactlyOnceWith(disconnected);
});

test("The result of a long run is recorded as late if its lease cannot be checked for a minute", async () => {
  const { runs, logs, extendLock, moveToWait, claim } = openWorker({ onError: vi.fn() });
  const claimed = claim("one");
  await vi.advanceTimersByTimeAsync(leaseMs / 2);
  extendLock.mockRejectedValue(disconnected);
  const onStored = vi.fn();
  runs[0]?.end({ ...succeeded, onStored });
  await vi.advanceTimersByTimeAsync(0);
  expect(logs).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(await claimed).toBe("WaitingError");
  expect(logs.map((text) => JSON.parse(text))).toMatchObject([{ outcome: "succeeded", counts: true }]);
  expect([onStored.mock.calls, moveToWait.mock.calls]).toEqual([[[{ status: "succeeded" }]], []]);
});

test("A delivery whose lease was lost while it waited for a permit is run only by the next claim", async () => {
  const gate = new RunGate();
  const { signal } = new AbortController();
  const suspect = await gate.enterAlone(signal, () => {});
  const { server, runs, logs, claim } = openWorker({ gate });
  const first = claim("one");
  server.refused = ["job"];
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  const second = claim("two");
  server.refused = [];
  suspect?.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toHaveLength(1);
  expect(await first).toBe("WaitingError");
  const states = logs.map((text) => JSON.parse(text).runState);
  expect(states).toEqual(["waiting", "waiting", "shared"]);
  runs[0]?.end(succeeded);
  expect(await second).toBe("succeeded");
  // Both claims have left their permits.
  const entered = vi.fn();
  void gate.enterAlone(signal, () => {}).then(entered);
  await vi.advanceTimersByTimeAsync(0);
  expect(entered).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ isAlone: true }));
});
