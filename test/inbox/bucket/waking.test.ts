import { expect, test } from "vitest";
import { recordKey } from "../../../src/inbox/bucket/log.ts";
import { readAhead } from "../../../src/inbox/bucket/object-store.ts";
import { incoming } from "../engine.ts";
import { World } from "./bucket-world.ts";
import {
  listIds,
  MemoryObjectStore,
  openMemoryInbox,
  type StoreFault,
  type StoreRequest,
} from "./memory-object-store.ts";

/** A bucket whose owner has stored deliveries and stopped. */
async function sleepingWorld(deliveries: number): Promise<World> {
  const world = new World();
  const owner = await world.open();
  for (let count = 0; count < deliveries; count += 1) await owner.accepts();
  await world.clock.settled(owner.inbox.close(0));
  world.latencyMs = 1_000;
  return world;
}

test.each([
  { deliveries: 0, roundTrips: 6 },
  { deliveries: 60, roundTrips: 6 },
  { deliveries: 100, roundTrips: 7 },
])(
  "a server with $deliveries new records stores its first delivery after $roundTrips round trips",
  async (expected) => {
    const world = await sleepingWorld(expected.deliveries);
    const startedAt = world.clock.now;
    const woken = world.start();
    await world.untilOpen(woken);
    expect(await woken.accepts()).toBe(true);
    expect(Math.floor((world.clock.now - startedAt) / world.latencyMs)).toBe(expected.roundTrips);
  },
);

test("a slow bucket delays the start, and no delivery is accepted before the inbox is restored", async () => {
  const world = await sleepingWorld(20);
  world.slowKeys = recordKey(7);
  const woken = world.start();
  let isOpen = false;
  void woken.inbox.opened.then(() => {
    isOpen = true;
  });
  for (let step = 0; step < 1_000 && !isOpen; step += 1) {
    await expect(woken.inbox.accept(incoming("early"))).rejects.toMatchObject({
      status: 503,
      code: "INBOX_UNAVAILABLE",
    });
    await world.clock.step();
  }
  expect(isOpen).toBe(true);
  const { deliveries } = await woken.inbox.list({ limit: 100 });
  expect(deliveries).toHaveLength(20);
});

test.each<{ name: string; fault: StoreFault; request: Partial<StoreRequest> }>([
  { name: "list of the log that fails", fault: "failed", request: { method: "list", key: "log/" } },
  { name: "read of a record that fails", fault: "failed", request: { method: "get", key: recordKey(4) } },
  { name: "half of a record", fault: "short", request: { method: "get", key: recordKey(4) } },
  { name: "record that is hidden", fault: "hidden", request: { method: "get", key: recordKey(4) } },
])("a $name while the snapshot is restored is read again", async ({ fault, request }) => {
  const store = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(store);
  const ids = ["a", "b", "c", "d", "e"];
  for (const id of ids) await owner.accept(incoming(id));
  await owner.close(0);
  let faults = 0;
  store.intercept = ({ method, key }) => {
    if (faults > 0 || method !== request.method || key !== request.key) return undefined;
    faults += 1;
    return fault;
  };
  const { inbox } = await openMemoryInbox(store);
  expect(faults).toBe(1);
  expect(await listIds(inbox)).toEqual(ids);
  expect(await inbox.problems()).toEqual([]);
});

test("a process that takes over the inbox while another one restores it keeps it", async () => {
  const world = await sleepingWorld(5);
  const paused = world.start({ spaceId: "acme/paused" });
  let hasRead = false;
  world.fault = ({ process, key }) => {
    hasRead ||= process === paused.name && key === recordKey(3);
    return undefined;
  };
  await world.clock.until(() => hasRead);
  world.clock.paused.add(paused.name);
  const owner = await world.open({ spaceId: "acme/other" });
  expect(await owner.accepts()).toBe(true);
  world.clock.paused.delete(paused.name);
  await world.clock.advance(30_000);
  expect([await owner.accepts(), await paused.accepts()]).toEqual([true, false]);
});

test("a start whose heartbeat fails does not take over the inbox later", async () => {
  const world = await sleepingWorld(1);
  const before = world.lastRecord;
  world.fault = ({ method, key }) => (method === "put" && /^(?:heartbeats|log)\//.test(key) ? "failed" : undefined);
  const failed = world.start({ canRetry: () => false });
  await expect(world.clock.settled(failed.inbox.opened)).rejects.toMatchObject({ name: "ObjectStoreError" });
  world.fault = () => undefined;
  await world.clock.advance(120_000);
  expect(world.lastRecord).toBe(before);
});

test("a start that stops while its heartbeat is being stored leaves none", async () => {
  const world = await sleepingWorld(1);
  world.slowKeys = "heartbeats/";
  let isRefused = false;
  world.fault = ({ method, key }) => {
    if (method !== "put" || !key.startsWith("log/")) return undefined;
    isRefused = true;
    // The removal is faster than the heartbeat.
    world.slowKeys = undefined;
    world.latencyMs = 100;
    return "refused";
  };
  const failed = world.start({ canRetry: () => false });
  await world.clock.until(() => isRefused);
  await expect(world.clock.settled(failed.inbox.opened)).rejects.toMatchObject({ status: 503 });
  await world.clock.advance(10_000);
  const heartbeats = [...world.store.objects.keys()].filter((key) => key.startsWith("heartbeats/"));
  // That of the owner that has stopped.
  expect(heartbeats).toHaveLength(1);
});

test.each([
  { bytes: 1, inFlight: 4 },
  { bytes: 8 * 2 ** 20, inFlight: 3 },
  { bytes: 64 * 2 ** 20, inFlight: 1 },
])("objects of $bytes bytes are read $inFlight at a time, in their order, up to the first error", async (limits) => {
  let [open, most] = [0, 0];
  const read = async (number: number) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    if (number === 9) throw new Error("unreadable");
    return number;
  };
  const found: number[] = [];
  const reads = readAhead(Array(12).keys(), { maxReads: 4, bytesOf: () => limits.bytes, read });
  const all = async () => {
    for await (const number of reads) found.push(number);
  };
  await expect(all()).rejects.toThrow("unreadable");
  expect([found, most]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8], limits.inFlight]);
});
