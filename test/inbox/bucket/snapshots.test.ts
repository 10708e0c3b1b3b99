import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeRecord, recordKey, recordNumber } from "../../../src/inbox/bucket/log.ts";
import { type SnapshotSchedule, scheduleSnapshots } from "../../../src/inbox/bucket/snapshot-schedule.ts";
import { createWorkingFolder } from "../../../src/inbox/bucket/working-database.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming, succeeded, waitForStatus, work } from "../engine.ts";
import {
  acceptNext,
  lastRecord,
  listIds,
  MemoryObjectStore,
  manifests,
  openMemoryInbox,
  storeSnapshots,
} from "./memory-object-store.ts";

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

/** Sets the age of a folder so that it is older than this process. */
function age(folder: string): string {
  const before = performance.timeOrigin / 1_000 - 60;
  utimesSync(folder, before, before);
  return folder;
}

test("The folder of a killed process with the same PID is removed, but not the folders of this process", () => {
  const parent = createFolder();
  const create = (suffix: string) => {
    const folder = join(parent, `hub-webhooks-inbox-${process.pid}-${suffix}`);
    mkdirSync(folder);
    return folder;
  };
  using first = createWorkingFolder(parent);
  // As if the clock had been set back after the start of this process.
  const own = age(dirname(first.file));
  age(create("killed"));
  const ofAnotherCopy = create("of-another-copy");
  using second = createWorkingFolder(parent);
  const kept = [own, ofAnotherCopy, dirname(second.file)].map((folder) => basename(folder));
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted());
});

/** Set `RUNS=5000` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 100);
const minRecords = 3;
const maxRecords = 10_000;
const minShare = 0.25;
const retryMs = 60_000;
/** A snapshot has two parts of this size, of which the first one waits for the test. */
const partBytes = 500;

/** What the schedule must do. */
class Model {
  records = 0;
  bytes = 0;
  snapshotBytes = 0;
  now = 0;
  retryAt = 0;
  isClosed = false;
  /** The number of records and bytes when the snapshot started that is in progress. */
  running: { records: number; bytes: number; isCopied: boolean } | undefined;
  readonly expected = { started: 0, stored: 0, warnings: 0, isClosed: false };

  count(bytes: number): void {
    this.records += 1;
    this.bytes += bytes;
    const isLarge = this.records >= minRecords && this.bytes >= minShare * this.snapshotBytes;
    if ((isLarge || this.records >= maxRecords) && this.now >= this.retryAt) this.start();
  }

  start(): void {
    if (this.isClosed || this.running) return;
    this.running = { records: this.records, bytes: this.bytes, isCopied: false };
    this.expected.started += 1;
  }

  /** The copy or the first part is complete, or has failed. */
  continue(isFailed: boolean): void {
    const { running } = this;
    if (!running) return;
    if (!isFailed && !running.isCopied) running.isCopied = true;
    else this.#end(running, isFailed);
  }

  close(): void {
    this.isClosed = true;
    // A part that is being stored is awaited.
    if (!this.running?.isCopied) this.running = undefined;
    this.expected.isClosed = !this.running;
  }

  #end({ records, bytes }: { records: number; bytes: number }, isFailed: boolean): void {
    this.running = undefined;
    this.expected.isClosed = this.isClosed;
    if (this.isClosed) return;
    if (isFailed) {
      this.retryAt = this.now + retryMs;
      this.expected.warnings += 1;
      return;
    }
    this.records -= records;
    this.bytes -= bytes;
    this.snapshotBytes = 2 * partBytes;
    this.expected.stored += 1;
  }
}

/** A schedule whose copies and parts wait for the test. */
class Subject {
  now = 0;
  readonly found = { started: 0, stored: 0, warnings: 0, isClosed: false };
  readonly schedule: SnapshotSchedule;
  #held: PromiseWithResolvers<undefined> | undefined;

  constructor() {
    const store = new MemoryObjectStore();
    store.intercept = ({ method, key }) => (method === "put" && key.endsWith("/000000") ? this.#hold() : undefined);
    store.onStored = ({ key }) => {
      if (key.endsWith("/manifest")) this.found.stored += 1;
    };
    const log = createMemoryLogger();
    log.warn = () => {
      this.found.warnings += 1;
    };
    this.schedule = scheduleSnapshots({
      store,
      file: "",
      log,
      monotonicNow: () => this.now,
      records: 0,
      snapshotBytes: 0,
      minRecords,
      copyDatabase: async (_file, signal) => {
        this.found.started += 1;
        const number = this.found.started;
        await this.#hold(signal);
        const parts = (async function* () {
          yield new Uint8Array(partBytes);
          yield new Uint8Array(partBytes);
        })();
        return { number, fences: [], bytes: 1, parts, [Symbol.asyncDispose]: async () => {} };
      },
    });
  }

  continue(isFailed: boolean): void {
    if (isFailed) this.#held?.reject(new Error("The snapshot failed."));
    else this.#held?.resolve(undefined);
  }

  close(): void {
    void this.schedule.close().then(() => {
      this.found.isClosed = true;
    });
  }

  #hold(signal?: AbortSignal): Promise<undefined> {
    const held = Promise.withResolvers<undefined>();
    this.#held = held;
    signal?.addEventListener("abort", () => held.reject(signal.reason));
    return held.promise;
  }
}

/** A step of both the model and the subject. */
function command(name: string, run: (target: Model | Subject) => void): fc.AsyncCommand<Model, Subject> {
  return {
    check: () => true,
    toString: () => name,
    async run(model, subject) {
      run(model);
      run(subject);
      await new Promise((resolve) => setImmediate(resolve));
      expect(subject.found).toEqual(model.expected);
    },
  };
}

const commands = [
  fc
    .oneof(
      { weight: 3, arbitrary: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(0, 50, 1_000)) },
      { weight: 1, arbitrary: fc.constant([maxRecords - 1, 0] as const) },
    )
    .map(([count, bytes]) =>
      command(`count ${count} records of ${bytes} bytes`, (target) => {
        const schedule =
          target instanceof Model ? { countRecord: (size: number) => target.count(size) } : target.schedule;
        for (let counted = 0; counted < count; counted += 1) schedule.countRecord(bytes);
      }),
    ),
  fc
    .constantFrom(false, false, true)
    .map((isFailed) => command(isFailed ? "fail" : "continue", (target) => target.continue(isFailed))),
  fc.constantFrom(1, retryMs - 1, retryMs).map((ms) =>
    command(`wait ${ms} ms`, (target) => {
      target.now += ms;
    }),
  ),
  fc.constant(command("start", (target) => (target instanceof Model ? target : target.schedule).start())),
];
const closing = fc.constant(command("close", (target) => target.close()));

test("snapshots start when they are due, one at a time, are retried a minute after a failure, and end when the schedule closes", {
  tags: "slow",
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.commands(commands, { maxCommands: 40, size: "max" }),
      fc.commands([...commands, closing], { maxCommands: 10, size: "max" }),
      async (before, after) => {
        await fc.asyncModelRun(() => ({ model: new Model(), real: new Subject() }), [...before, ...after]);
      },
    ),
    { numRuns },
  );
});
