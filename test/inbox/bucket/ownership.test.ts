import { describe, expect, onTestFinished, test } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import { encodeRecord, heartbeatKey, heartbeatPrefix, recordKey, yieldPrefix } from "../../../src/inbox/bucket/log.ts";
import { checkObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { startHeartbeatSender } from "../../../src/inbox/bucket/ownership.ts";
import { FaultyS3 } from "../../support/faulty-s3.ts";
import { incoming, succeeded, work } from "../engine.ts";
import { type Process, World } from "./bucket-world.ts";
import type { StoreFault, StoreRequest } from "./memory-object-store.ts";

const problemsOf = ({ inbox }: Process) => inbox.problems().then((problems) => problems.map(({ code }) => code));

function messages({ logger }: Process, pattern: RegExp): number {
  return logger.lines.filter(({ msg }) => pattern.test(msg)).length;
}

function yieldRequests({ store }: World, method: StoreRequest["method"]): number {
  return store.requests.filter((request) => request.method === method && request.key.startsWith(yieldPrefix)).length;
}

/**
 * Starts a process that takes over the inbox. Returns the time until the inbox is open, from the start of the process (`startedMs`) and
 * from its first heartbeat, since which it is an owner for other processes (`heldMs`).
 */
async function takeOver(world: World): Promise<{ next: Process; startedMs: number; heldMs: number }> {
  const { clock, latencyMs } = world;
  const startedAt = clock.now;
  const next = world.start();
  let heldAt = 0;
  world.fault = ({ method, key, process }) => {
    // A request has its effect after half of the latency.
    if (method === "put" && process === next.name && key.startsWith(heartbeatPrefix))
      heldAt ||= clock.now - latencyMs / 2;
    return undefined;
  };
  await world.untilOpen(next);
  expect(heldAt).toBeGreaterThan(0);
  return { next, startedMs: clock.now - startedAt, heldMs: clock.now - heldAt };
}

/** Stores the takeover of a process that has died after it sent its request. Returns its writer ID. */
async function storeLateTakeover(
  { store, clock, lastRecord }: World,
  { heartbeatAgeMs = 0, spaceId = "acme/receiver" } = {},
) {
  const writer = crypto.randomUUID();
  const owner = { spaceId, host: "dead", pid: 1, startedAt: new Date(clock.now).toISOString() };
  const heartbeat = JSON.stringify({ owner, position: lastRecord, isReleased: false });
  const storedAt = clock.now - heartbeatAgeMs;
  store.objects.set(heartbeatKey(writer), { body: new TextEncoder().encode(heartbeat), storedAt });
  const body = await encodeRecord({ number: lastRecord + 1, kind: "takeover", writer, owner, body: new Uint8Array() });
  store.objects.set(recordKey(lastRecord + 1), { body, storedAt: clock.now });
  return writer;
}

describe("A new process of the same Space", () => {
  test.each([
    [200, 0, 0],
    [200, 0.75, 0],
    [900, 0.25, 0],
    [980, 0, 0],
    [980, 0.5, 0],
    [980, 0, 400],
  ])(
    "takes over within 5 s from a loaded owner, with a latency of %i ms, after %f of a request and %i records",
    async (latencyMs, offset, records) => {
      const world = new World();
      world.latencyMs = 0;
      const owner = await world.open();
      for (let record = 0; record < records; record += 1) await owner.accepts();
      world.latencyMs = latencyMs;
      const load = world.load(owner);
      await world.clock.advance((4 + offset) * latencyMs);
      const { startedMs, heldMs, next } = await takeOver(world);
      load.stop();
      expect(heldMs).toBeLessThanOrEqual(5_000);
      // With a short log, nine requests of the new process wait for an earlier one. Files and threads take real time.
      if (records === 0) expect(startedMs).toBeLessThanOrEqual(12 * latencyMs + 1_000);
      const listed = await next.inbox.list({ limit: 1_000 });
      expect(listed.deliveries.map(({ id }) => id)).toEqual(expect.arrayContaining(load.accepted));
      await world.clock.advance(5_000);
      expect(await problemsOf(owner)).toEqual(["INBOX_TAKEN_OVER"]);
      expect(await next.accepts()).toBe(true);
      // All requests were withdrawn.
      expect(yieldRequests(world, "put")).toBeGreaterThan(0);
      expect([...world.store.objects.keys()].filter((key) => key.startsWith(yieldPrefix))).toEqual([]);
    },
  );

  test.each([1_500, 2_000])(
    "takes over within 5 s from an owner that stores a record every %i ms",
    async (periodMs) => {
      const world = new World();
      const owner = await world.open();
      world.latencyMs = 980;
      let isOn = true;
      world.stopLoad = () => {
        isOn = false;
      };
      const send = async () => {
        for (let count = 0; isOn; count += 1) {
          owner.inbox.accept(incoming(`load ${count}`, { body: "{}" })).catch(() => {});
          await world.clock.wait(periodMs);
        }
      };
      void send();
      await world.clock.advance(2 * periodMs);
      expect((await takeOver(world)).heldMs).toBeLessThanOrEqual(5_000);
    },
  );

  test("sends no request to an idle owner, which looks for requests each second", async () => {
    const world = new World();
    const owner = await world.open();
    await owner.accepts();
    const before = yieldRequests(world, "get");
    await world.clock.advance(15_000);
    expect(yieldRequests(world, "get") - before).toBeGreaterThanOrEqual(12);
    expect(yieldRequests(world, "get") - before).toBeLessThanOrEqual(15);
    await world.open();
    expect(yieldRequests(world, "put")).toBe(0);
  });

  test("requests the inbox again from an owner that ignored its request for a minute", async () => {
    const world = new World();
    const owner = await world.open();
    world.latencyMs = 900;
    const load = world.load(owner, 1);
    const dying = world.start();
    world.fault = ({ method, key, process }) => {
      if (method !== "delete" && process === dying.name && key.startsWith(yieldPrefix)) dying.kill();
      return undefined;
    };
    await world.clock.until(() => messages(owner, /has not taken over/) === 1);
    const next = world.start();
    await world.untilOpen(next, 70_000);
    load.stop();
    expect(messages(next, /has requested the inbox/)).toBe(1);
  });

  test("blocks the owner for 8 s at most if it dies, and then not again within a minute", async () => {
    const world = new World();
    const owner = await world.open();
    const load = world.load(owner);
    const die = async () => {
      const next = world.start();
      world.fault = ({ method, key, process }) => {
        if (method !== "delete" && process !== "process 1" && key.startsWith(yieldPrefix)) next.kill();
        return undefined;
      };
      await world.clock.advance(3_000);
    };
    await die();
    expect(await problemsOf(owner)).toEqual(["INBOX_UNAVAILABLE"]);
    await expect(owner.inbox.accept(incoming("a"))).rejects.toMatchObject({ status: 503, retryAfterSeconds: 5 });
    await world.clock.advance(8_000);
    expect(await owner.accepts()).toBe(true);
    expect(await problemsOf(owner)).toEqual([]);
    await die();
    expect(await owner.accepts()).toBe(true);
    load.stop();
    expect({ yields: messages(owner, /is taking over/), vain: messages(owner, /has not taken over/) }).toEqual({
      yields: 1,
      vain: 1,
    });
  });

  test.each([
    ["of another Space", { spaceId: "me/copy" }, 0],
    ["of a process that no longer waits", { spaceId: "acme/receiver" }, 31_000],
    ["that is unreadable", undefined, 0],
  ])("has an owner that ignores a request %s", async (_of, newOwner, ageMs) => {
    const world = new World();
    const owner = await world.open();
    const [heartbeat = ""] = [...world.store.objects.keys()].filter((key) => key.startsWith("heartbeats/"));
    const request = { writerId: "other", owner: { ...newOwner, host: "other", pid: 1, startedAt: "" } };
    world.store.objects.set(heartbeat.replace("heartbeats/", yieldPrefix), {
      body: new TextEncoder().encode(newOwner ? JSON.stringify(request) : "{"),
      storedAt: world.clock.now - ageMs,
    });
    for (let count = 0; count < 5; count += 1) {
      expect(await owner.accepts()).toBe(true);
      await world.clock.advance(1_000);
    }
    expect(messages(owner, /is taking over/)).toBe(0);
  });
});

describe("After a takeover", () => {
  test("by a process that has died, the inbox is opened again, and interrupted deliveries run again", async () => {
    const world = new World();
    // Polls find interrupted deliveries.
    const owner = await world.open({ pollMs: 5 });
    const runs: string[] = [];
    const signals: AbortSignal[] = [];
    work(owner.inbox, ({ id }, signal) => {
      runs.push(id);
      signals.push(signal);
      return signals.length === 1 ? new Promise(() => {}) : succeeded;
    });
    await owner.accepts();
    await world.clock.until(() => runs.length === 1);
    await storeLateTakeover(world, { heartbeatAgeMs: 30_000 });
    expect(await owner.accepts()).toBe(false);
    expect(await problemsOf(owner)).toEqual(["INBOX_TAKEN_OVER"]);
    expect(signals[0]?.aborted).toBe(true);
    await world.clock.advance(20_000);
    expect(await owner.accepts()).toBe(false);
    await world.clock.until(() => runs.length === 2, 30_000);
    expect(runs[1]).toBe(runs[0]);
    expect(await owner.accepts()).toBe(true);
    expect(await problemsOf(owner)).toEqual([]);
  });

  test("by a process that still runs, the inbox stays closed, even with INBOX_TAKE_OVER, until that process stops", async () => {
    const world = new World();
    const owner = await world.open({ takeOver: true });
    await owner.accepts();
    const other = await world.open({ takeOver: true });
    await world.clock.advance(130_000);
    expect(await owner.accepts()).toBe(false);
    expect(await other.accepts()).toBe(true);
    expect(messages(owner, /has taken over/)).toBe(1);
    const opened = messages(owner, /Opened the inbox/);
    await world.clock.settled(other.inbox.close(0));
    await world.clock.until(() => messages(owner, /Opened the inbox/) > opened, 30_000);
    expect(await owner.accepts()).toBe(true);
  });

  test("a list that omits the heartbeat of the new owner does not matter", async () => {
    const world = new World();
    const owner = await world.open();
    const other = await world.open();
    const list = world.store.list.bind(world.store);
    world.store.list = async (prefix, options) => (prefix === "heartbeats/" ? [] : list(prefix, options));
    await world.clock.advance(130_000);
    expect([await owner.accepts(), await other.accepts()]).toEqual([false, true]);
    expect(messages(owner, /Opened the inbox/)).toBe(1);
  });

  test("an inbox that is being opened again can be closed", async () => {
    const world = new World();
    const owner = await world.open();
    await storeLateTakeover(world, { heartbeatAgeMs: 61_000 });
    await owner.accepts();
    world.latencyMs = 1_000;
    for (let step = 0; step < 5; step += 1) await world.clock.step();
    expect(await world.clock.settled(owner.inbox.close(0))).toEqual({ interrupted: 0 });
    // Neither an owner nor requests remain.
    const requests = world.store.requests.length;
    await world.clock.advance(120_000);
    expect(world.store.requests.length).toBe(requests);
  });
});

describe("A server whose inbox cannot be opened", () => {
  const checkStore = (world: World) => () => checkObjectStore(world.store);

  test.each<[string, (request: StoreRequest) => StoreFault | undefined]>([
    ["the bucket is away", () => "failed"],
    ["the access key is revoked", () => "refused"],
    ["the bucket is full", ({ method }) => (method === "put" ? "refused" : undefined)],
  ])("rejects deliveries while %s, and opens the inbox later", async (_why, fault) => {
    const world = new World();
    world.fault = fault;
    const server = world.start({ checkStore: checkStore(world) });
    await world.clock.advance(60_000);
    await expect(server.inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
    await expect(server.inbox.list()).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    expect(await problemsOf(server)).toEqual(["INBOX_UNAVAILABLE"]);
    // One line per minute.
    expect(messages(server, /cannot be opened yet/)).toBeLessThanOrEqual(3);
    world.fault = () => undefined;
    expect(await world.untilOpen(server)).toBeLessThanOrEqual(15_000);
    expect(await problemsOf(server)).toEqual([]);
    expect(await server.accepts()).toBe(true);
  });

  test("does not take over before the check of the store has ended", async () => {
    const world = new World();
    const failures: unknown[] = [];
    const checkSlowly = async () => {
      await world.clock.wait(5_000);
      throw new WebhookError("Unsupported store", { code: "INBOX_UNUSABLE" });
    };
    world.start({ checkStore: checkSlowly, onFailure: (error) => failures.push(error) });
    await world.clock.advance(10_000);
    expect({ failures, objects: world.store.objects.size }).toMatchObject({
      failures: [{ code: "INBOX_UNUSABLE" }],
      objects: 0,
    });
  });

  test("waits until the lease of a killed process ends", async () => {
    const world = new World();
    const killed = await world.open({ spaceId: undefined });
    killed.kill();
    await world.clock.advance(5_000);
    const failures: unknown[] = [];
    const server = world.start({ spaceId: undefined, onFailure: (error) => failures.push(error) });
    await world.clock.advance(10_000);
    expect(await problemsOf(server)).toEqual(["INBOX_IN_USE"]);
    expect(await world.untilOpen(server, 60_000)).toBeGreaterThan(30_000);
    expect({ failures, accepts: await server.accepts() }).toEqual({ failures: [], accepts: true });
  });

  test("waits although each of two owners has renewed its heartbeat once before it was killed", async () => {
    const world = new World();
    const failures: unknown[] = [];
    const first = await world.open();
    const server = world.start({ spaceId: undefined, onFailure: (error) => failures.push(error) });
    await world.clock.advance(30_000);
    const second = await world.open();
    first.kill();
    await world.clock.advance(25_000);
    second.kill();
    await world.untilOpen(server, 120_000);
    expect({ failures, accepts: await server.accepts() }).toEqual({ failures: [], accepts: true });
  });

  test("reports a failure if the owner still runs", async () => {
    const world = new World();
    const owner = await world.open({ spaceId: undefined });
    const failures: unknown[] = [];
    const server = world.start({ spaceId: undefined, onFailure: (error) => failures.push(error) });
    await world.clock.until(() => failures.length > 0, 60_000);
    expect(failures).toMatchObject([{ code: "INBOX_IN_USE" }]);
    // It does not wait until the owner stops, because it can be a copy on the wrong machine.
    await world.clock.settled(owner.inbox.close(0));
    await world.clock.advance(120_000);
    expect({ accepts: await server.accepts(), problems: await problemsOf(server) }).toEqual({
      accepts: false,
      problems: ["INBOX_IN_USE"],
    });
  });
});

test("An owner whose heartbeats are not stored keeps the inbox, and logs the failure once a minute", async () => {
  const world = new World();
  const owner = await world.open();
  world.fault = ({ method, key }) => (method === "put" && key.startsWith(heartbeatPrefix) ? "refused" : undefined);
  await world.clock.advance(45_000);
  expect(await owner.accepts()).toBe(true);
  expect(messages(owner, /heartbeat of the inbox could not be stored/)).toBe(1);
  world.fault = () => undefined;
  await world.clock.advance(60_000);
  const other = world.start({ spaceId: undefined });
  await world.clock.advance(5_000);
  expect({ owner: await owner.accepts(), other: await problemsOf(other) }).toEqual({
    owner: true,
    other: ["INBOX_IN_USE"],
  });
});

describe("A process that stops", () => {
  test("while it opens its inbox leaves no heartbeat of an owner, at every step", async () => {
    let isOpen = false;
    for (let steps = 0; !isOpen; steps += 1) {
      const world = new World();
      const stopped = world.start();
      void stopped.inbox.opened.then(
        () => {
          isOpen = true;
        },
        () => {},
      );
      for (let step = 0; step < steps; step += 1) await world.clock.step();
      await world.clock.settled(stopped.inbox.close(0));
      await world.clock.advance(60_000);
      const heartbeats = [...world.store.objects].filter(([key]) => key.startsWith(heartbeatPrefix));
      const released = heartbeats.map(([, { body }]) => JSON.parse(new TextDecoder().decode(body)).isReleased);
      expect({ steps, released }).toEqual({ steps, released: heartbeats.map(() => true) });
    }
  });

  test("but cannot release its inbox logs this, and the inbox is free 60 s later", async () => {
    const world = new World();
    const owner = await world.open();
    world.fault = ({ method, key, process }) =>
      process === owner.name && method === "put" && key.startsWith(heartbeatPrefix) ? "refused" : undefined;
    await world.clock.settled(owner.inbox.close(0));
    expect(messages(owner, /could not be released/)).toBe(1);
    const next = world.start({ spaceId: undefined });
    await world.clock.advance(5_000);
    expect(await problemsOf(next)).toEqual(["INBOX_IN_USE"]);
    expect(await world.untilOpen(next, 70_000)).toBeGreaterThan(30_000);
  });

  test.each([
    ["its last records", false],
    ["the heartbeat in flight", true],
  ])("releases the inbox after %s", async (_what, isSendingHeartbeat) => {
    const world = new World();
    const owner = await world.open();
    const handler = Promise.withResolvers<void>();
    let isRunning = false;
    work(owner.inbox, () => {
      isRunning = true;
      return handler.promise.then(() => succeeded);
    });
    await owner.accepts();
    await world.clock.until(() => isRunning);
    if (isSendingHeartbeat) {
      // The heartbeat after 20 s is still being stored when the server stops.
      world.slowKeys = "heartbeats/";
      await world.clock.until(() => world.slowPuts === 1);
      world.slowKeys = undefined;
    }
    const stored: string[] = [];
    world.store.onStored = ({ key, body }) =>
      stored.push(key.startsWith("heartbeats/") ? new TextDecoder().decode(body) : key);
    const closing = owner.inbox.close(10_000);
    if (!isSendingHeartbeat) await world.clock.advance(1_000);
    const before = world.lastRecord;
    handler.resolve();
    await world.clock.settled(closing);
    await world.clock.advance(5_000);
    const last = world.lastRecord;
    expect(last).toBeGreaterThan(before);
    expect(stored.at(-1)).toBe(
      JSON.stringify({ ...JSON.parse(stored.at(-1) ?? ""), position: last, isReleased: true }),
    );
  });
});

describe("The thread that sends heartbeats", { tags: "slow" }, () => {
  /** Starts a thread that sends heartbeats to a key. */
  async function startSender(s3: FaultyS3, { key = "heartbeats/writer", maxBlockedMs = 600_000 } = {}) {
    const { connection } = await s3.open();
    if (connection === undefined) throw new Error("A thread cannot open the store.");
    const errors: unknown[] = [];
    const sender = startHeartbeatSender({
      ...{ connection, key, maxBlockedMs },
      heartbeat: { isReleased: false },
      intervalMs: 80,
      readPosition: () => 7,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => sender.stop());
    return { sender, errors };
  }

  /** Blocks the event loop until the threads have sent a number of heartbeats. */
  async function blockUntilSent(s3: FaultyS3, count = 1): Promise<void> {
    // The server runs on the event loop too, so it receives the request after the block.
    while (s3.history.length < count) {
      const until = performance.now() + 60;
      while (performance.now() < until);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  test("a thread that is stopped waits for the heartbeat in flight, which would otherwise be stored after the release", async () => {
    await using s3 = await FaultyS3.start();
    s3.faults = [{ kind: "latency", ms: 100 }];
    const { sender } = await startSender(s3);
    await blockUntilSent(s3);
    expect(s3.history.map(({ result }) => result)).toEqual([undefined]);
    await sender.stop();
    expect(s3.history.map(({ result }) => result)).toEqual([200]);
  });

  test("a thread sends heartbeats while the event loop is blocked, until it is stopped", async () => {
    await using s3 = await FaultyS3.start();
    const { sender, errors } = await startSender(s3);
    await blockUntilSent(s3);
    await sender.stop();
    const stored = s3.objects.get("inbox/test/heartbeats/writer");
    expect(JSON.parse(String(stored?.body))).toEqual({ isReleased: false, position: 7 });
    expect(errors).toEqual([]);
    const requests = s3.history.length;
    const until = performance.now() + 200;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(s3.history).toHaveLength(requests);
  });

  test("a thread sends no heartbeats while the event loop counts as hung, so that another process can take over", async () => {
    await using s3 = await FaultyS3.start();
    await startSender(s3, { key: "heartbeats/hung", maxBlockedMs: 10 });
    await startSender(s3, { key: "heartbeats/busy" });
    await blockUntilSent(s3, 3);
    expect([...new Set(s3.history.map(({ key }) => key))]).toEqual(["inbox/test/heartbeats/busy"]);
  });
});
