import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { heartbeatPrefix, yieldPrefix } from "../../../src/inbox/bucket/log.ts";
import { checkPrefix } from "../../../src/inbox/bucket/object-store.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming, succeeded, waitForStatus, work } from "../engine.ts";
import { World } from "./bucket-world.ts";
import { MemoryObjectStore, openMemoryInbox, type StoreFault, storesRecord } from "./memory-object-store.ts";

const key = (id: string) => ({ id, endpoint: "retrain" });

/** Holds back the requests that store records. */
function holdRecords(store: MemoryObjectStore) {
  const held: PromiseWithResolvers<StoreFault | undefined>[] = [];
  store.intercept = (request) => {
    if (!storesRecord(request)) return undefined;
    const pause = Promise.withResolvers<StoreFault | undefined>();
    held.push(pause);
    return pause.promise;
  };
  return {
    /** Waits for the next request and continues it. */
    async release(fault?: StoreFault): Promise<void> {
      await waitFor(() => expect(held).not.toEqual([]), { interval: 1 });
      held.shift()?.resolve(fault);
    },
    get count() {
      return held.length;
    },
    waitForRequest: () => waitFor(() => expect(held).not.toEqual([]), { interval: 1 }),
  };
}

function failRecords(store: MemoryObjectStore, fault: () => StoreFault | undefined): void {
  store.intercept = (request) => (storesRecord(request) ? fault() : undefined);
}

/** Returns the number of requests that stored records. */
function countRecords(store: MemoryObjectStore): number {
  return store.requests.filter(storesRecord).length;
}

describe("Before a record is stored", () => {
  test("a delivery is neither accepted, nor a duplicate, nor listed, nor run", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store);
    const runs = work(inbox, () => succeeded);
    await waitFor(() => expect(countRecords(store)).toBeGreaterThan(1));
    const records = holdRecords(store);
    const results: string[] = [];
    const first = inbox.accept(incoming("a")).then(({ duplicate }) => results.push(`first ${duplicate}`));
    await records.waitForRequest();
    const second = inbox.accept(incoming("a")).then(({ duplicate }) => results.push(`second ${duplicate}`));
    // Longer than several polls.
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect({ results, runs, found: await inbox.get(key("a")), requests: records.count }).toEqual({
      results: [],
      runs: [],
      found: undefined,
      requests: 1,
    });
    await records.release();
    await first;
    store.intercept = () => undefined;
    while (records.count > 0) await records.release();
    await second;
    expect(results).toEqual(["first false", "second true"]);
    await waitForStatus(inbox, "a", "succeeded");
    expect(runs).toHaveLength(1);
  });

  test("all deliveries that arrive wait for one further record", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store);
    const records = holdRecords(store);
    const first = inbox.accept(incoming("first"));
    await records.waitForRequest();
    const before = countRecords(store);
    const others = Array.from({ length: 100 }, (_, index) => inbox.accept(incoming(`other ${index}`)));
    await records.release();
    await first;
    await records.release();
    await Promise.all(others);
    expect(countRecords(store) - before).toBe(1);
  });
});

describe("If a record is not stored", () => {
  test("the delivery is rejected and undone, and can be stored later", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store, { maxWaitMs: 20 });
    failRecords(store, () => "refused");
    await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
    expect(await inbox.get(key("a"))).toBeUndefined();
    store.intercept = () => undefined;
    // Longer than `maxWaitMs`.
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
    await inbox.close(0);
    const { inbox: next } = await openMemoryInbox(store);
    expect(await next.get(key("a"))).toMatchObject({ status: "queued" });
  });

  test.each(["lost answer", "failed", "torn"] as const)(
    "but it is unknown (%s), the delivery is stored once",
    async (fault) => {
      const store = new MemoryObjectStore();
      const { inbox } = await openMemoryInbox(store);
      const faults: (StoreFault | undefined)[] = [fault, fault];
      failRecords(store, () => faults.shift());
      expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
      await inbox.accept(incoming("b"));
      await inbox.close(0);
      const { inbox: next, logger } = await openMemoryInbox(store);
      expect((await next.list()).deliveries.map(({ id }) => id)).toEqual(["b", "a"]);
      expect(await next.problems()).toEqual([]);
      expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
    },
  );
});

describe("While the bucket is away", () => {
  test("deliveries are rejected in time, and the inbox recovers by itself", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store, { maxWaitMs: 50 });
    failRecords(store, () => "failed");
    await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    // Rejected without waiting, so it is not stored later either.
    await expect(inbox.accept(incoming("b"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    store.intercept = () => undefined;
    await waitFor(async () => expect(await inbox.problems()).toEqual([]));
    // The first delivery was not undone, because the bucket could have stored it.
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: true });
    expect(await inbox.accept(incoming("b"))).toEqual({ duplicate: false });
  });

  test("a record without an answer is reported, and after the limit, deliveries are rejected without waiting", async () => {
    const store = new MemoryObjectStore();
    let now = 0;
    const { inbox } = await openMemoryInbox(store, { monotonicNow: () => now });
    const records = holdRecords(store);
    const first = inbox.accept(incoming("a"));
    await records.waitForRequest();
    expect(await inbox.problems()).toEqual([]);
    now = 6_000;
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
    now = 20_000;
    await expect(inbox.accept(incoming("b"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    store.intercept = () => undefined;
    await records.release();
    expect(await first).toEqual({ duplicate: false });
    expect(await inbox.problems()).toEqual([]);
  });

  test("a pause that the store requests delays a record by 2 s at most", async () => {
    const world = new World();
    const owner = await world.open();
    const faults: (StoreFault | undefined)[] = ["throttled"];
    world.fault = (request) => (storesRecord(request) ? faults.shift() : undefined);
    const before = world.clock.now;
    expect(await owner.accepts()).toBe(true);
    expect(world.clock.now - before).toBeLessThan(4_000);
  });

  test("waiting deliveries have a limited size, which refused ones do not count towards", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store, { maxWaitingBytes: 1_000 });
    failRecords(store, () => "refused");
    const refused = inbox.accept(incoming("refused", { body: "x".repeat(900) }));
    await expect(refused).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    const records = holdRecords(store);
    const accepted = ["a", "b"].map((id) => inbox.accept(incoming(id, { body: "x".repeat(500) })));
    await expect(inbox.accept(incoming("c", { body: "x" }))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await records.waitForRequest();
    store.intercept = () => undefined;
    await records.release();
    await Promise.all(accepted);
    expect(await inbox.accept(incoming("c", { body: "x" }))).toEqual({ duplicate: false });
  });
});

describe("After a takeover", () => {
  test("the earlier process accepts nothing, runs nothing, and reports the takeover", async () => {
    const store = new MemoryObjectStore();
    const { inbox: earlier, logger } = await openMemoryInbox(store);
    await earlier.accept(incoming("a"));
    const { inbox: later } = await openMemoryInbox(store);
    await expect(earlier.accept(incoming("b"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
    const requests = store.requests.length;
    await expect(earlier.accept(incoming("c"))).rejects.toMatchObject({ code: "INBOX_TAKEN_OVER", status: 503 });
    const runs = work(earlier, () => succeeded);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect({ runs, requests: store.requests.length }).toEqual({ runs: [], requests });
    expect(await earlier.problems()).toMatchObject([{ code: "INBOX_TAKEN_OVER", severity: "unavailable" }]);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "INBOX_TAKEN_OVER" }));
    expect((await later.list()).deliveries.map(({ id }) => id)).toEqual(["a"]);
    expect(await later.accept(incoming("b"))).toEqual({ duplicate: false });
  });

  test("deliveries that the earlier process was running run again, and its handlers are aborted", async () => {
    const store = new MemoryObjectStore();
    const { inbox: earlier } = await openMemoryInbox(store);
    await earlier.accept(incoming("a"));
    const signals: AbortSignal[] = [];
    work(earlier, (_claimed, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    await waitFor(() => expect(signals).toHaveLength(1));
    const { inbox: later } = await openMemoryInbox(store);
    await expect(earlier.accept(incoming("b"))).rejects.toMatchObject({ status: 503 });
    expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" });
    work(later, () => succeeded);
    expect((await waitForStatus(later, "a", "succeeded"))?.attempts).toMatchObject([
      { outcome: "abandoned" },
      { outcome: "succeeded" },
    ]);
  });
});

test("An inbox that is opened again after a takeover closes its earlier working file", async () => {
  const world = new World();
  const parentFolder = createFolder();
  const earlier = await world.open({ parentFolder });
  const later = await world.open();
  expect(await earlier.accepts()).toBe(false);
  await world.clock.settled(later.inbox.close(0));
  const before = readdirSync(parentFolder);
  await world.clock.until(() => readdirSync(parentFolder).length === 1 && readdirSync(parentFolder)[0] !== before[0]);
  expect(await earlier.accepts()).toBe(true);
});

describe("A process that starts", () => {
  test("removes old requests of other processes, but not those of processes that are starting", async () => {
    const store = new MemoryObjectStore();
    const now = Date.now();
    store.now = () => now;
    const leftovers = () => [...store.objects.keys()].filter((stored) => /^(check|yield)/.test(stored));
    for (const prefix of [checkPrefix, yieldPrefix]) {
      store.objects.set(`${prefix}1-young`, { body: new Uint8Array(), storedAt: now - 590_000 });
      store.objects.set(`${prefix}2-old`, { body: new Uint8Array(), storedAt: now - 600_000 });
    }
    await openMemoryInbox(store);
    await waitFor(() => expect(leftovers().filter((stored) => stored.endsWith("old"))).toEqual([]));
    expect(leftovers()).toEqual([`${checkPrefix}1-young`, `${yieldPrefix}1-young`]);
  });

  test("leaves no heartbeat if its takeover fails, so that another process can start at once", async () => {
    const store = new MemoryObjectStore();
    failRecords(store, () => "refused");
    await expect(openMemoryInbox(store)).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    store.intercept = () => undefined;
    expect([...store.objects.keys()].filter((stored) => stored.startsWith(heartbeatPrefix))).toEqual([]);
    await openMemoryInbox(store, { spaceId: "me/copy" });
  });
});

describe("A process of another Space", () => {
  test("does not take over while the owner sends heartbeats", async () => {
    const store = new MemoryObjectStore();
    const { inbox: owner } = await openMemoryInbox(store, { spaceId: "acme/receiver" });
    const objects = store.objects.size;
    await expect(openMemoryInbox(store, { spaceId: "me/copy" })).rejects.toMatchObject({
      code: "INBOX_IN_USE",
      message: expect.stringContaining("acme/receiver"),
    });
    await expect(openMemoryInbox(store, { spaceId: undefined })).rejects.toMatchObject({ code: "INBOX_IN_USE" });
    expect(store.objects.size).toBe(objects);
    expect(await owner.accept(incoming("a"))).toEqual({ duplicate: false });
  });

  test.each(["short", "hidden"] as const)(
    "does not take over if the heartbeat of the owner is %s at first",
    async (fault) => {
      const store = new MemoryObjectStore();
      await openMemoryInbox(store, { spaceId: "acme/receiver" });
      let faults = 4;
      store.intercept = ({ method, key: read }) =>
        method === "get" && read.startsWith(heartbeatPrefix) && faults-- > 0 ? fault : undefined;
      await expect(openMemoryInbox(store, { spaceId: "me/copy" })).rejects.toMatchObject({ code: "INBOX_IN_USE" });
      expect(faults).toBeLessThan(0);
    },
  );

  test.each([
    ["60 s after the last heartbeat", { ageMs: 61_000 }, {}],
    ["on request", { ageMs: 0 }, { takeOver: true }],
  ])("takes over %s", async (_when, { ageMs }, options) => {
    const store = new MemoryObjectStore();
    await openMemoryInbox(store, { spaceId: "acme/receiver" });
    store.now = () => Date.now() + ageMs;
    const { inbox } = await openMemoryInbox(store, { spaceId: "me/copy", ...options });
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
  });

  test("takes over immediately after the owner has stopped", async () => {
    const store = new MemoryObjectStore();
    const { inbox } = await openMemoryInbox(store, { spaceId: "acme/receiver" });
    await inbox.close(0);
    await openMemoryInbox(store, { spaceId: "me/copy" });
  });
});
