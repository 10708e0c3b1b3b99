import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeRecord, recordKey, recordNumber } from "../../../src/inbox/bucket/log.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming, succeeded, waitForStatus, work } from "../engine.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";
import { acceptNext, lastRecord, listIds, manifests, openMemoryInbox, storeSnapshots } from "./open-memory-inbox.ts";

function keysOf(store: MemoryObjectStore, prefix: string): string[] {
  return [...store.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
}

test("snapshots replace old records, except those that fence earlier processes", async () => {
  const store = new MemoryObjectStore();
  const { inbox: first } = await openMemoryInbox(store);
  await first.close(0);
  const { inbox } = await openMemoryInbox(store, { minSnapshotRecords: 5 });
  const ids: string[] = [];
  await storeSnapshots(inbox, store, { count: 3, ids });
  await waitFor(() => expect(manifests(store)).toHaveLength(2));
  await inbox.close(0);
  const oldest = Number(/\d{16}/.exec(manifests(store)[0] ?? "")?.[0]);
  const old = keysOf(store, "log/").filter((key) => (recordNumber(key) ?? 0) <= oldest);
  const kinds = await Promise.all(
    old.map(async (key) => (await decodeRecord(store.objects.get(key)?.body ?? new Uint8Array()))?.kind),
  );
  expect(kinds).toEqual(["takeover", "takeover"]);
  const { inbox: next } = await openMemoryInbox(store);
  expect(await listIds(next)).toEqual(ids);
});

test.each(["takeover", "unreadable record"])(
  "an earlier process that was paused for long cannot store a record at the number of a %s",
  async (fence) => {
    const store = new MemoryObjectStore();
    const { inbox: paused } = await openMemoryInbox(store);
    await paused.accept(incoming("a"));
    if (fence !== "takeover") {
      store.objects.set(recordKey(lastRecord(store) + 1), { body: new Uint8Array(9), storedAt: 0 });
    }
    const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords: 3 });
    // The fences are stored with the first changes, and this prune changes nothing.
    await owner.prune();
    const ids = ["a"];
    await storeSnapshots(owner, store, { count: 3, ids });
    await expect(paused.accept(incoming("lost"))).rejects.toMatchObject({ status: 503 });
    expect(await owner.get({ id: "lost", endpoint: "retrain" })).toBeUndefined();
  },
);

test("an earlier process that was paused while it stored a snapshot does not delete the record that fences it", {
  tags: "slow",
}, async () => {
  const store = new MemoryObjectStore();
  const { inbox: paused } = await openMemoryInbox(store, { minSnapshotRecords: 3 });
  const ids: string[] = [];
  await storeSnapshots(paused, store, { count: 1, ids });
  const manifest = Promise.withResolvers<undefined>();
  let isPaused = false;
  store.intercept = ({ method, key }) => {
    if (isPaused || method !== "put" || !/^snapshots\/.*\/manifest$/.test(key)) return undefined;
    isPaused = true;
    return manifest.promise;
  };
  while (!isPaused) await acceptNext(paused, ids);
  const { inbox: owner } = await openMemoryInbox(store, { minSnapshotRecords: 3 });
  await storeSnapshots(owner, store, { count: 3, ids });
  const requests = store.requests.length;
  manifest.resolve(undefined);
  await waitFor(() => expect(store.requests.slice(requests)).toContainEqual({ method: "list", key: "log/" }));
  await expect(paused.accept(incoming("lost"))).rejects.toMatchObject({ status: 503 });
  expect(await owner.get({ id: "lost", endpoint: "retrain" })).toBeUndefined();
});

test("a snapshot without a manifest is not used", async () => {
  const store = new MemoryObjectStore();
  const { inbox, logger } = await openMemoryInbox(store, { minSnapshotRecords: 5 });
  const ids: string[] = [];
  await storeSnapshots(inbox, store, { count: 1, ids });
  const [first] = manifests(store);
  store.intercept = ({ method, key }) => (method === "put" && key.endsWith("/manifest") ? "failed" : undefined);
  while (!logger.lines.some(({ level }) => level === "warn")) await acceptNext(inbox, ids);
  await inbox.close(0);
  expect(manifests(store)).toEqual([first]);
  expect(keysOf(store, "snapshots/").filter((key) => key.endsWith("/000000"))).toHaveLength(2);
  const { inbox: next } = await openMemoryInbox(store);
  expect(await listIds(next)).toEqual(ids);
});

test("a start reads the newest snapshot and only the records since then", async () => {
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store, { minSnapshotRecords: 5 });
  const ids: string[] = [];
  await storeSnapshots(inbox, store, { count: 1, ids });
  await inbox.close(0);
  store.requests.length = 0;
  const number = Number(/\d{16}/.exec(manifests(store)[0] ?? "")?.[0]);
  const { inbox: next } = await openMemoryInbox(store);
  const read = store.requests.filter(({ method, key }) => method === "get" && recordNumber(key) !== undefined);
  expect(read.every(({ key }) => key > recordKey(number))).toBe(true);
  expect(await listIds(next)).toEqual(ids);
});

test.each([
  ["part", "/000000"],
  ["manifest", "/manifest"],
])("if a %s of the newest snapshot is damaged, the older snapshot and more records are used", async (_what, suffix) => {
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store, { minSnapshotRecords: 5 });
  const ids: string[] = [];
  await storeSnapshots(inbox, store, { count: 2, ids });
  await inbox.close(0);
  const key = keysOf(store, "snapshots/").findLast((found) => found.endsWith(suffix)) ?? "";
  const found = store.objects.get(key);
  store.objects.set(key, { storedAt: 0, body: found?.body.slice(1) ?? new Uint8Array() });
  const { inbox: next, logger } = await openMemoryInbox(store);
  expect(await listIds(next)).toEqual(ids);
  expect(await next.problems()).toEqual([]);
  expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "INBOX_DAMAGED" }));
});

test("a snapshot is not used if the store damages a part", async () => {
  const store = new MemoryObjectStore();
  const { inbox, logger } = await openMemoryInbox(store, { minSnapshotRecords: 3 });
  store.onStored = ({ key, body }) => {
    if (key.endsWith("/000000")) store.objects.set(key, { body: body.slice(1), storedAt: 0 });
  };
  for (const id of ["a", "b", "c", "d"]) await inbox.accept(incoming(id));
  await waitFor(() => expect(logger.lines).toContainEqual(expect.objectContaining({ level: "warn" })));
  expect(manifests(store)).toEqual([]);
});

test("a snapshot that cannot be stored changes nothing", async () => {
  const store = new MemoryObjectStore();
  const { inbox, logger } = await openMemoryInbox(store, { minSnapshotRecords: 3 });
  store.intercept = ({ method, key }) => (method === "put" && key.startsWith("snapshots/") ? "refused" : undefined);
  for (const id of ["a", "b", "c", "d", "e"]) await inbox.accept(incoming(id));
  await waitFor(() => expect(logger.lines).toContainEqual(expect.objectContaining({ level: "warn" })));
  const records = keysOf(store, "log/");
  expect(keysOf(store, "snapshots/")).toEqual([]);
  await inbox.close(0);
  expect(keysOf(store, "log/").length).toBeGreaterThanOrEqual(records.length);
  const { inbox: next } = await openMemoryInbox(store);
  expect(await listIds(next)).toEqual(["a", "b", "c", "d", "e"]);
});

test("the working file is removed when the inbox closes or cannot be opened", async () => {
  const parentFolder = mkdtempSync(join(tmpdir(), "bucket-inbox-"));
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store, { parentFolder });
  work(inbox, () => succeeded);
  await inbox.accept(incoming("a"));
  await waitForStatus(inbox, "a", "succeeded");
  const [folder = ""] = readdirSync(parentFolder);
  expect(existsSync(join(parentFolder, folder, "inbox.db"))).toBe(true);
  await expect(openMemoryInbox(store, { parentFolder, spaceId: undefined })).rejects.toMatchObject({
    code: "INBOX_IN_USE",
  });
  expect(readdirSync(parentFolder)).toEqual([folder]);
  await inbox.close(0);
  expect(readdirSync(parentFolder)).toEqual([]);
});
