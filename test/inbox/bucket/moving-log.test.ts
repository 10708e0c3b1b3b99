// @module-tag slow

import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openBucketReader } from "../../../src/inbox/bucket/bucket-reader.ts";
import { recordKey, recordNumber } from "../../../src/inbox/bucket/log.ts";
import { ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming } from "../engine.ts";
import {
  lastRecord,
  listIds,
  MemoryObjectStore,
  manifests,
  openMemoryInbox,
  type StoreFault,
  type StoreRequest,
  storeSnapshots,
  storesRecord,
  viewOf,
} from "./memory-object-store.ts";

function isRecord({ key }: StoreRequest): boolean {
  return recordNumber(key) !== undefined;
}

/** The requests of a start before which a process is paused. */
const steps: readonly [string, (request: StoreRequest) => boolean][] = [
  ["reads a part", ({ method, key }) => method === "get" && key.endsWith("/000000")],
  ["lists the records", ({ method, key }) => method === "list" && key === "log/"],
  ["takes over", storesRecord],
];

/** The owner continues to store records, because it yields only to a process of its Space. */
const forced = { spaceId: undefined, takeOver: true };

/** Opens an inbox, and pauses at the first request for which `isPaused` returns `true`. `hasStaleLists`: lists do not change after that. */
async function pauseAt(
  store: MemoryObjectStore,
  { isPaused, hasStaleLists = false }: { isPaused: (request: StoreRequest) => boolean; hasStaleLists?: boolean },
  open: (view: MemoryObjectStore) => Promise<Inbox>,
): Promise<() => Promise<Inbox>> {
  let isAtStep = false;
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  const opening = open(
    viewOf(store, (request) => {
      if (isAtStep && hasStaleLists && request.method === "list") return "stale";
      if (isAtStep || !isPaused(request)) return undefined;
      isAtStep = true;
      store.keepView();
      reached.resolve();
      return resumed.promise;
    }),
  );
  await Promise.race([reached.promise, opening]);
  return () => {
    resumed.resolve(undefined);
    return opening;
  };
}

describe("A log that is continued and pruned during a start", () => {
  test.each([
    ...steps.map(([step, isPaused]) => [step, "lists are stale", { isPaused, hasStaleLists: true }] as const),
    ...steps.slice(-1).map(([step, isPaused]) => [step, "lists are current", { isPaused }] as const),
  ])("is read again if the process was paused before it %s and %s", async (_step, _lists, pause) => {
    const store = new MemoryObjectStore();
    const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords: 4 });
    const ids: string[] = [];
    await storeSnapshots(owner, store, { count: 1, ids });
    const [oldest] = manifests(store);
    let lines: readonly { level: string }[] = [];
    const parentFolder = createFolder();
    const resume = await pauseAt(store, pause, async (view) => {
      const { inbox, logger } = await openMemoryInbox(view, { ...forced, parentFolder });
      lines = logger.lines;
      return inbox;
    });
    await storeSnapshots(owner, store, { count: 2, ids });
    await waitFor(() => expect(manifests(store)).not.toContain(oldest));
    const inbox = await resume();
    expect(await listIds(inbox)).toEqual(ids);
    expect(await inbox.problems()).toEqual([]);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
    // The working files of earlier attempts contain payloads.
    expect(readdirSync(parentFolder)).toHaveLength(1);
    await expect(owner.accept(incoming("lost"))).rejects.toMatchObject({ status: 503 });
    await inbox.accept(incoming("next"));
  });

  test("is read again by a process that only reads", async () => {
    const store = new MemoryObjectStore();
    const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords: 4 });
    const ids: string[] = [];
    await storeSnapshots(owner, store, { count: 1, ids });
    const [oldest] = manifests(store);
    const log = createMemoryLogger();
    const isPaused = ({ method, key }: StoreRequest) => method === "list" && key === "log/";
    const resume = await pauseAt(store, { isPaused }, (view) => openBucketReader({ store: view, log }));
    await storeSnapshots(owner, store, { count: 2, ids });
    await waitFor(() => expect(manifests(store)).not.toContain(oldest));
    const reader = await resume();
    expect(await listIds(reader)).toEqual(ids);
    await reader.close(0);
  });
});

test("an owner that takes over while another process reads the log keeps the inbox", async () => {
  const store = new MemoryObjectStore();
  const isPaused = ({ method, key }: StoreRequest) => method === "list" && key === "log/";
  const resume = await pauseAt(store, { isPaused }, async (view) => (await openMemoryInbox(view)).inbox);
  const { inbox: owner } = await openMemoryInbox(store, { spaceId: "other/receiver" });
  await expect(resume()).rejects.toMatchObject({ code: "INBOX_IN_USE" });
  await owner.accept(incoming("a"));
});

test("a record that is damaged before the takeover is a gap, although the process takes over after it", async () => {
  const store = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(store);
  const resume = await pauseAt(
    store,
    { isPaused: storesRecord },
    async (view) => (await openMemoryInbox(view, forced)).inbox,
  );
  await owner.accept(incoming("a"));
  const number = lastRecord(store);
  store.objects.set(recordKey(number), { body: new Uint8Array(99), storedAt: 0 });
  const inbox = await resume();
  expect(await inbox.problems()).toMatchObject([
    { code: "INBOX_DAMAGED", message: expect.stringContaining(`(${number})`) },
  ]);
});

/** Returns a fault for the first requests with each key. */
function firstTimes(count: number, fault: StoreFault, methods: readonly StoreRequest["method"][]) {
  const counts = new Map<string, number>();
  return ({ method, key }: StoreRequest) => {
    const times = counts.get(key) ?? 0;
    if (!methods.includes(method) || times >= count) return undefined;
    counts.set(key, times + 1);
    return fault;
  };
}

test.each([
  ["a snapshot", 4],
  ["no snapshot", 1_000],
])("a log with %s is complete although reads and lists are wrong at first", async (_what, minSnapshotRecords) => {
  const written = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(written, { minSnapshotRecords });
  const ids: string[] = [];
  if (minSnapshotRecords < 1_000) await storeSnapshots(owner, written, { count: 2, ids });
  for (const id of ["a", "b", "c"]) await owner.accept(incoming(id));
  ids.push("a", "b", "c");
  await owner.close(0);
  for (const createFault of [
    () => firstTimes(2, "short", ["get"]),
    () => firstTimes(2, "hidden", ["get"]),
    // The list of an empty bucket.
    () => firstTimes(Number.POSITIVE_INFINITY, "stale", ["list"]),
  ]) {
    const store = new MemoryObjectStore();
    for (const [key, object] of written.objects) store.objects.set(key, object);
    const reader = await openBucketReader({ store: viewOf(store, createFault()), log: createMemoryLogger() });
    expect(await listIds(reader)).toEqual(ids);
    await reader.close(0);
    const { inbox, logger } = await openMemoryInbox(viewOf(store, createFault()));
    expect(await listIds(inbox)).toEqual(ids);
    expect(await inbox.problems()).toEqual([]);
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
  }
});

test("a record that is always read short is no gap, because a list contains its size", async () => {
  const store = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(store);
  await owner.accept(incoming("a"));
  await owner.close(0);
  const isShort = (request: StoreRequest) => (request.method === "get" && isRecord(request) ? "short" : undefined);
  await expect(openMemoryInbox(viewOf(store, isShort))).rejects.toThrow(ObjectStoreError);
  const { inbox } = await openMemoryInbox(store);
  expect(await listIds(inbox)).toEqual(["a"]);
});

test("a start without a readable snapshot is refused, because its records were deleted", async () => {
  const store = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords: 4 });
  await storeSnapshots(owner, store, { count: 2, ids: [] });
  await owner.close(0);
  const objects = new Map(store.objects);
  for (const key of manifests(store)) store.objects.set(key, { body: new Uint8Array(3), storedAt: 0 });
  await expect(openMemoryInbox(store)).rejects.toThrow(ObjectStoreError);
  await expect(openMemoryInbox(store)).rejects.toThrow("delete all objects below snapshots/");
  for (const key of manifests(store))
    store.objects.set(key, objects.get(key) ?? { body: new Uint8Array(), storedAt: 0 });
  const { inbox } = await openMemoryInbox(store);
  expect(await inbox.problems()).toEqual([]);
});

test.each(["short", "hidden"] as const)("an own record whose read is %s at first is stored once", async (fault) => {
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store);
  const reads = firstTimes(3, fault, ["get"]);
  let isLost = true;
  store.intercept = (request) => {
    if (!isRecord(request)) return undefined;
    if (request.method !== "put") return reads(request);
    if (!isLost) return undefined;
    isLost = false;
    return "lost answer";
  };
  const before = store.objects.size;
  await inbox.accept(incoming("a"));
  expect(store.objects.size).toBe(before + 1);
  await inbox.close(0);
  const { inbox: next } = await openMemoryInbox(store);
  expect(await listIds(next)).toEqual(["a"]);
  expect(await next.problems()).toEqual([]);
});
