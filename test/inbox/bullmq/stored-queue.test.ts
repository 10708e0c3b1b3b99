import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { Client } from "pg";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { connectPostgres } from "../../../src/inbox/bullmq/postgres.ts";
import type { DeliveryQueue } from "../../../src/inbox/bullmq/queue-server.ts";
import { connectRedis } from "../../../src/inbox/bullmq/redis.ts";
import { attemptEntry, jobIdOf, replayEntry, toJobData } from "../../../src/inbox/bullmq/stored-job.ts";
import { Backlog, StoredQueue, type StoredQueueServer } from "../../../src/inbox/bullmq/stored-queue.ts";
import { createRetryPolicy } from "../../../src/inbox/retry.ts";
import { startPostgres } from "../../support/postgres-server.ts";
import { hasRedis, startRedis } from "../../support/redis-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type EngineOptions, failed, incoming, openInbox, succeeded, work } from "../engine.ts";
import type { TestedServer } from "./server-contract.ts";

test("A backlog with room is counted at most once a second", async () => {
  let now = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const count = vi.fn(async () => 3);
  const backlog = new Backlog(count);
  for (const _ of [1, 2, 3]) expect(await backlog.isFull(10)).toBe(false);
  now += 999;
  await backlog.isFull(10);
  expect(count).toHaveBeenCalledTimes(1);
  now += 1;
  await backlog.isFull(10);
  expect(count).toHaveBeenCalledTimes(2);
});

test("A full backlog is not counted again for four times as long as counting took", async () => {
  const times: number[] = [];
  const backlog = new Backlog(async () => {
    times.push(performance.now());
    await setTimeout(20);
    times.push(performance.now());
    return 10;
  });
  for (const _ of [1, 2]) expect(await backlog.isFull(10)).toBe(true);
  const [startedAt = 0, endedAt = 0, startedAgainAt = 0] = times;
  expect(startedAgainAt - endedAt).toBeGreaterThanOrEqual(4 * (endedAt - startedAt) - 2);
});

test("A delivery that is added during a count counts as queued", async () => {
  const counted = Promise.withResolvers<number>();
  const backlog = new Backlog(() => counted.promise);
  const isFull = backlog.isFull(10);
  backlog.added();
  counted.resolve(9);
  expect(await isFull).toBe(true);
});

/** Deliveries for several steps: 100 are replayed, and 20 are emptied at a time. */
const count = 120;
const body = JSON.stringify({ text: "x".repeat(10_000) });
const hourMs = 3_600_000;

// Storing this many deliveries takes longer than the default 3 s on a busy machine.
const open = ({ store, ...options }: EngineOptions) =>
  openBullmqInbox({ url: store, now: Date.now, deadlineMs: 60_000, ...options });
const connection = (url: string) => ({ url, mustExist: false, startMs: 8_000, now: Date.now, onError: () => {} });

const redis = {
  name: "Redis",
  open,
  isAvailable: hasRedis,
  start: () => startRedis(["--appendfsync", "no"]),
  connect: (url: string) => connectRedis(connection(url)),
  /** Returns a function that counts the bytes that the server has sent since. */
  async countSent(store: string): Promise<() => Promise<number>> {
    const client = new Redis(store);
    onTestFinished(() => client.disconnect());
    const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await client.info("stats"))?.[1]);
    const before = await sent();
    return async () => (await sent()) - before;
  },
  async shuffle(_store: string) {},
};
const postgres = {
  name: "PostgreSQL",
  open,
  isAvailable: true,
  start: () => startPostgres(),
  connect: (url: string) => connectPostgres(connection(url)),
  countSent: async (_store: string) => async () => 0,
  /** Lets many deliveries finish in the same millisecond. PostgreSQL can return them in any order, so this uses a random one. */
  async shuffle(store: string) {
    const client = new Client({ connectionString: store });
    await client.connect();
    await client.query("UPDATE hub_webhooks.job SET finished_at_ms = 1000 * (ascii(right(id, 1)) % 4)");
    const read = "SELECT pg_get_functiondef('hub_webhooks.get_range'::regproc) AS definition";
    const definition: string = (await client.query(read)).rows[0].definition;
    expect(definition).toContain("ORDER BY %s %s OFFSET");
    await client.query(definition.replace("ORDER BY %s %s OFFSET", "ORDER BY %s %s, random() OFFSET"));
    await client.end();
  },
};

const engines = [redis, postgres].filter(({ isAvailable }) => isAvailable);
describe.each(engines)("The queue of an endpoint on $name", { tags: "slow", timeout: 60_000 }, (engine) => {
  let tested: TestedServer;

  beforeAll(async () => {
    const started = await engine.start();
    tested = started;
    return () => started[Symbol.asyncDispose]();
  }, 60_000);

  /** Opens a queue without a worker in which all deliveries are finished. */
  async function openEnded({ outcome, size = count }: { outcome: typeof succeeded; size?: number }) {
    const store = await tested.emptyDatabase({ isNew: true });
    const { inbox } = await openInbox({ ...engine, emptyStore: () => store }, { store });
    work(inbox, () => outcome, { concurrency: 50, policy: createRetryPolicy({ attempts: 1 }) });
    const ids = Array.from({ length: size }, (_, index) => `delivery-${index}`);
    await Promise.all(ids.map((id) => inbox.accept(incoming(id, { body }))));
    const done = outcome.status === "failed" ? { dead: size } : { succeeded: size };
    await waitFor(async () => expect((await inbox.counts()).retrain).toMatchObject(done), { timeout: 30_000 });
    await inbox.close(0);
    const server = await engine.connect(store);
    const queue = server.openQueue("retrain");
    onTestFinished(async () => {
      await queue.close();
      await server.close();
    });
    const replayDead = vi.spyOn(server, "replayDead");
    return { store, queue, replayDead, endpoint: new StoredQueue("retrain", queue, server) };
  }

  test("replays dead deliveries in small steps, without reading their bodies", async () => {
    const { store, queue, replayDead, endpoint } = await openEnded({ outcome: failed() });
    const sentBytes = await engine.countSent(store);
    expect(await endpoint.replayDead()).toBe(count);
    expect(await sentBytes()).toBeLessThan((count * body.length) / 10);
    expect(await queue.getJobCountByTypes("wait")).toBe(count);
    expect(Math.max(...replayDead.mock.calls.map(([, ids]) => ids.length))).toBeLessThanOrEqual(100);
  });

  test("removes dead deliveries in small steps", async () => {
    const { queue, endpoint } = await openEnded({ outcome: failed() });
    const clean = vi.spyOn(queue, "clean");
    const later = Date.now() + hourMs;
    expect(await endpoint.prune({ bodiesBefore: later, idsBefore: later })).toBe(count);
    expect(Math.max(...clean.mock.calls.map(([, limit]) => limit))).toBeLessThanOrEqual(200);
  });

  test("removes the bodies of succeeded deliveries in small steps, also of those that finished at the same time", async () => {
    const { store, queue, endpoint } = await openEnded({ outcome: succeeded });
    await engine.shuffle(store);
    const { getJob } = queue;
    let [open, mostOpen] = [0, 0];
    vi.spyOn(queue, "getJob").mockImplementation(async (id) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      return getJob.call(queue, id).finally(() => {
        open -= 1;
      });
    });
    expect(await endpoint.prune({ bodiesBefore: Date.now() + hourMs, idsBefore: 0 })).toBe(count);
    expect(mostOpen).toBeGreaterThan(0);
    expect(mostOpen).toBeLessThanOrEqual(20);
    const stored = await queue.getJobs(["completed"], 0, -1);
    expect(stored.filter(({ data }) => "body" in data)).toEqual([]);
  });

  test("keeps the body of a delivery that is pruned and replayed at the same time", async () => {
    const { queue, endpoint } = await openEnded({ outcome: succeeded, size: 2 });
    const prune = () => endpoint.prune({ bodiesBefore: Date.now() + hourMs, idsBefore: 0 });
    const { getRanges, getJob } = queue;
    const listing = vi.spyOn(queue, "getRanges").mockImplementation(async (types, from, until = 0, ...rest) => {
      const listed = await getRanges.call(queue, types, from, until, ...rest);
      // The binary search reads single deliveries before the list.
      if (until > 1) await endpoint.replay("delivery-0");
      return listed;
    });
    expect(await prune()).toBe(1);
    listing.mockRestore();
    await queue
      .getJob(jobIdOf("delivery-1"))
      .then((job) => job?.updateData(toJobData(incoming("delivery-1", { body }))));
    vi.spyOn(queue, "getJob").mockImplementationOnce(async (id) => {
      const job = await getJob.call(queue, id);
      expect(await prune()).toBe(1);
      return job;
    });
    await endpoint.replay("delivery-1");
    for (const id of ["delivery-0", "delivery-1"])
      expect(await endpoint.get(id)).toMatchObject({ status: "queued", body });
  });
});

const server: StoredQueueServer = {
  replayDead: async () => 0,
  discard: async () => false,
  failDiscarded: async () => {},
  emptyFinished: async () => true,
  countIgnored: async () => 0,
  forgetIgnored: async () => {},
  listJobs: async () => [],
};

describe("The replay of a delivery that waits for a retry", () => {
  const refused = new Error("Job is not in the delayed state.");

  /** Creates a queue with one delivery that has these states in successive reads. */
  function queueWith({ states, promote }: { states: readonly string[]; promote: () => Promise<void> }) {
    const left = [...states];
    const log = vi.fn(async () => 1);
    const job = {
      data: toJobData(incoming("a")),
      attemptsStarted: 2,
      getState: async () => left.shift(),
      log,
      promote,
    };
    const queue = { getJob: async () => job } as unknown as DeliveryQueue;
    return { endpoint: new StoredQueue("retrain", queue, server), log };
  }

  test("is recorded so that all attempts are available again, and makes the delivery due", async () => {
    const promote = vi.fn(async () => {});
    const { endpoint, log } = queueWith({ states: ["delayed"], promote });
    await endpoint.replay("a");
    expect(log.mock.calls).toEqual([[replayEntry({ attemptsStarted: 2 })]]);
    expect(promote).toHaveBeenCalledOnce();
  });

  test("succeeds if the delivery becomes due at the same time, and fails otherwise", async () => {
    const promote = () => Promise.reject(refused);
    await queueWith({ states: ["delayed", "waiting"], promote }).endpoint.replay("a");
    await expect(queueWith({ states: ["delayed", "delayed"], promote }).endpoint.replay("a")).rejects.toBe(refused);
  });
});

describe("A delivery that changes at the same time", () => {
  /** Opens a queue whose methods are replaced. */
  function open(methods: object, replaced: Partial<StoredQueueServer> = {}) {
    const queue = { getJobLogs: async () => ({ logs: [] }), ...methods } as unknown as DeliveryQueue;
    return new StoredQueue("retrain", queue, { ...server, ...replaced });
  }
  const jobWith = (fields: object) => ({
    id: "job",
    data: toJobData(incoming("a")),
    timestamp: 0,
    delay: 0,
    ...fields,
  });

  test("is read again, so that its status and its attempts belong together", async () => {
    const states = ["active", "completed", "completed"];
    const getJob = vi.fn(async () => jobWith({}));
    const endpoint = open({ getJobState: async () => states.shift(), getJob });
    expect(await endpoint.get("a")).toMatchObject({ status: "succeeded" });
    expect(getJob).toHaveBeenCalledTimes(2);
  });

  test("is added if it was dead, and is pruned while it is received again", async () => {
    const dead = jobWith({ finishedOn: 1, isFailed: async () => true });
    const jobs = [dead, undefined, undefined];
    const add = vi.fn(async () => dead);
    const getJobCounts = async () => ({ wait: 1 });
    const endpoint = open({ getJob: async () => jobs.shift(), getJobCounts, add });
    expect(await endpoint.add(incoming("a"), 10)).toBe(false);
    expect(add).toHaveBeenCalledOnce();
  });

  const pruned = () => Promise.reject(Object.assign(new Error("Missing key for job."), { code: -1 }));

  test("is added if it was dead, and is pruned while it is queued again", async () => {
    const dead = jobWith({ finishedOn: 1, isFailed: async () => true, updateData: async () => {} });
    const jobs = [dead, { ...dead, log: pruned, getState: async () => "unknown" }];
    const add = vi.fn(async () => dead);
    const endpoint = open({ getJob: async () => jobs.shift(), getJobCounts: async () => ({ wait: 1 }), add });
    expect(await endpoint.add(incoming("a"), 10)).toBe(false);
    expect(add).toHaveBeenCalledOnce();
  });

  test.each(["completed", "failed", "waiting-children", "unknown"])(
    "cannot be replayed if it is pruned: %s",
    async (state) => {
      const states = [state, "unknown"];
      const changes = { updateData: pruned, log: async () => 1, retry: pruned };
      const job = jobWith({ getState: async () => states.shift(), ...changes });
      const endpoint = open({ getJob: async () => job });
      await expect(endpoint.replay("a")).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN" });
    },
  );

  test("is discarded if it is queued again after the first try, unless it runs", async () => {
    const results = [false, true];
    const discard = async () => results.shift() ?? false;
    await open({ getJobState: async () => "waiting" }, { discard }).discard("a");
    expect(results).toEqual([]);
    const running = open({ getJobState: async () => "active" }, { discard });
    await expect(running.discard("a")).rejects.toMatchObject({ code: "DELIVERY_RUNNING" });
  });

  test("is queued again after its recorded end if it is replayed before BullMQ has finished it", async () => {
    const states = ["active", "active", "completed", "active", "active", "completed"];
    const logs = [attemptEntry({ claim: 1, attempt: { number: 1, outcome: "ignored" }, counts: true })];
    const [retry, forgetIgnored] = [vi.fn(async () => {}), vi.fn(async () => {})];
    const getState = async () => states.shift();
    const job = jobWith({ attemptsStarted: 1, getState, retry, log: async (entry: string) => logs.push(entry) });
    const endpoint = open({ getJob: async () => job, getJobLogs: async () => ({ logs }) }, { forgetIgnored });
    await endpoint.replay("a");
    expect(retry).toHaveBeenCalledExactlyOnceWith("completed");
    expect(forgetIgnored).toHaveBeenCalledExactlyOnceWith(expect.anything(), ["job"]);
    // Another replay was first.
    retry.mockRejectedValue(Object.assign(new Error("Job is not in the completed state."), { code: -3 }));
    await endpoint.replay("a");
  });
});

describe("Deliveries with the same ID", () => {
  function openQueue() {
    const reads: ((job: object) => void)[] = [];
    const queue = { getJob: () => new Promise((resolve) => reads.push(resolve)) } as unknown as DeliveryQueue;
    const endpoint = new StoredQueue("retrain", queue, server);
    /** Resolves the next read with a stored delivery. */
    const answer = () => reads.shift()?.({ getState: async () => "waiting" });
    return { reads, answer, add: () => endpoint.add(incoming("a"), 10) };
  }

  test("are added one after the other, also after the first is stored", async () => {
    const { reads, answer, add } = openQueue();
    const [first, second] = [add(), add()];
    await waitFor(() => expect(reads).toHaveLength(1));
    answer();
    expect(await first).toBe(true);
    await waitFor(() => expect(reads).toHaveLength(1));
    const third = add();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    expect(reads).toHaveLength(1);
    answer();
    await second;
    await waitFor(() => expect(reads).toHaveLength(1));
    answer();
    expect(await third).toBe(true);
  });

  test("use no memory after they are stored", async () => {
    const { reads, answer, add } = openQueue();
    const deleted = vi.spyOn(Map.prototype, "delete");
    onTestFinished(() => deleted.mockRestore());
    const adding = add();
    await waitFor(() => expect(reads).toHaveLength(1));
    answer();
    await adding;
    expect(deleted).toHaveBeenCalledWith(jobIdOf("a"));
  });
});
