import { readdirSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { openBucketReader } from "../../../src/inbox/bucket/bucket-reader.ts";
import { recordNumber } from "../../../src/inbox/bucket/log.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming } from "../engine.ts";
import { MemoryObjectStore, openMemoryInbox } from "./memory-object-store.ts";

/** Stores an inbox with one delivery, and opens it for reading. `folders`: the folders of its copies, which contain payloads. */
async function openReader({ minSnapshotRecords = 1_000 } = {}) {
  const store = new MemoryObjectStore();
  const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords, parentFolder: createFolder() });
  await owner.accept(incoming("a"));
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  let now = 0;
  const reader = await openBucketReader({ store, log: createMemoryLogger(), monotonicNow: () => now });
  onTestFinished(async () => void (await reader.close(0)));
  return {
    ...{ store, owner, reader, folders: () => readdirSync(folder) },
    wait: (ms: number) => {
      now += ms;
    },
    ids: async () => (await reader.list({ limit: 1_000 })).deliveries.map(({ id }) => id),
  };
}

test("A reader reads new records once a second, and removes its copy when it is closed", async () => {
  const { store, owner, reader, folders, wait, ids } = await openReader();
  await owner.accept(incoming("b"));
  wait(999);
  expect(await ids()).toEqual(["a"]);
  wait(1);
  expect(await ids()).toEqual(["b", "a"]);
  const requests = store.requests.length;
  expect(await Promise.all([ids(), ids()])).toEqual([
    ["b", "a"],
    ["b", "a"],
  ]);
  expect([store.requests.length, folders().length]).toEqual([requests, 1]);
  await reader.close(0);
  expect(folders()).toEqual([]);
});

test("A reader replaces its copy after the records that follow it were deleted, and removes the old one", async () => {
  const { store, owner, folders, wait, ids } = await openReader({ minSnapshotRecords: 3 });
  const before = folders();
  const stored = ["a"];
  const records = () => [...store.objects.keys()].filter((key) => recordNumber(key) !== undefined);
  const known = records();
  const acceptNext = async () => {
    stored.push(`d${stored.length}`);
    await owner.accept(incoming(`d${stored.length - 1}`));
    // Snapshots are stored in the meantime.
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await acceptNext();
  const [next = ""] = records().filter((key) => !known.includes(key));
  while (store.objects.has(next)) await acceptNext();
  wait(1_000);
  expect((await ids()).sort()).toEqual(stored.slice().sort());
  expect(folders()).toHaveLength(1);
  expect(folders()).not.toEqual(before);
});

test("A reader tries again after the bucket was away", async () => {
  const { store, owner, wait, ids } = await openReader();
  await owner.accept(incoming("b"));
  store.intercept = ({ method }) => (method === "list" ? "failed" : undefined);
  wait(1_000);
  await expect(ids()).rejects.toMatchObject({ name: "ObjectStoreError" });
  store.intercept = () => undefined;
  expect(await ids()).toEqual(["b", "a"]);
});

test("A reader that is closed while it reads waits for the read, and then removes its copy", async () => {
  const { store, owner, reader, folders, wait, ids } = await openReader();
  await owner.accept(incoming("b"));
  const listed = Promise.withResolvers<undefined>();
  let isListing = false;
  store.intercept = ({ method }) => {
    if (method !== "list") return undefined;
    isListing = true;
    return listed.promise;
  };
  wait(1_000);
  const reading = ids();
  await waitFor(() => expect(isListing).toBe(true));
  const closing = reader.close(0);
  await new Promise(setImmediate);
  expect(folders()).toHaveLength(1);
  listed.resolve(undefined);
  reading.catch(() => {});
  await closing;
  expect(folders()).toEqual([]);
});

test("A reader does not write to the bucket, even if a record is damaged", async () => {
  const { store, reader, owner, ids, wait } = await openReader();
  await owner.accept(incoming("b"));
  await owner.close(0);
  const last = [...store.objects.keys()].filter((key) => recordNumber(key) !== undefined).at(-1) ?? "";
  store.objects.set(last, { body: new Uint8Array(9), storedAt: 0 });
  store.requests.length = 0;
  wait(1_000);
  expect(await ids()).toEqual(["a"]);
  await reader.close(0);
  expect(store.requests.filter(({ method }) => method !== "get" && method !== "list")).toEqual([]);
});

test("A bucket without an inbox cannot be read, which leaves no copy", async () => {
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  const opening = openBucketReader({ store: new MemoryObjectStore(), log: createMemoryLogger() });
  await expect(opening).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
  expect(readdirSync(folder)).toEqual([]);
});
