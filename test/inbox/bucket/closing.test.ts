import { readdirSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { startBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming } from "../engine.ts";
import { MemoryObjectStore, type StoreRequest } from "./memory-object-store.ts";
import { openMemoryInbox, storesRecord } from "./open-memory-inbox.ts";

/** Waits that end only when they are aborted, except those of a duration. `pending`: the durations of the others. */
function recordWaits({ endsAfterMs = 0 } = {}) {
  const pending: number[] = [];
  const wait = (ms: number, signal: AbortSignal) => {
    if (ms === endsAfterMs) return Promise.resolve();
    pending.push(ms);
    return new Promise<void>((_resolve, reject) => {
      const end = () => {
        pending.splice(pending.indexOf(ms), 1);
        reject(signal.reason);
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });
  };
  return { wait, pending };
}

test("A closed inbox leaves no timer", async () => {
  const { wait, pending } = recordWaits();
  const { inbox } = await openMemoryInbox(new MemoryObjectStore(), { wait });
  await inbox.settled(10_000);
  expect(pending).not.toContain(10_000);
  const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
  onTestFinished(() => void vi.restoreAllMocks());
  await inbox.close(60_000);
  expect(pending).toEqual([]);
  const timers = set.mock.results.filter((_, index) => Number(set.mock.calls[index]?.[1]) >= 60_000);
  expect(timers).not.toEqual([]);
  for (const { value } of timers) expect(clear).toHaveBeenCalledWith(value);
});

test("An inbox that closes while the bucket is away rejects its deliveries 5 s after the grace period", async () => {
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store, { wait: recordWaits().wait });
  store.intercept = (request) => (storesRecord(request) ? "failed" : undefined);
  const accepted = inbox.accept(incoming("a"));
  accepted.catch(() => {});
  await waitFor(async () => expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE" }]));
  const delays: number[] = [];
  const schedule = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms = 0, ...given: []) => {
    if (ms >= 5_000) delays.push(ms);
    return schedule(run, Math.min(ms, 5), ...given);
  }) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await inbox.close(7_000)).toEqual({ interrupted: 0 });
  expect(delays).toContain(12_000);
  await expect(accepted).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
});

/** Starts to open an inbox, and pauses at a request. */
async function startPaused(isPaused: (request: StoreRequest) => boolean, waits = recordWaits()) {
  const store = new MemoryObjectStore();
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  store.intercept = (request) => {
    if (!isPaused(request)) return undefined;
    reached.resolve();
    return resumed.promise;
  };
  const parentFolder = createFolder();
  const failures: unknown[] = [];
  const inbox = startBucketInbox({
    store,
    spaceId: "acme/receiver",
    takeOver: false,
    log: createMemoryLogger(),
    now: Date.now,
    parentFolder,
    wait: waits.wait,
    onFailure: (error) => failures.push(error),
  });
  await reached.promise;
  const resume = () => {
    store.intercept = () => undefined;
    resumed.resolve(undefined);
  };
  return { store, inbox, failures, resume, folders: () => readdirSync(parentFolder) };
}

test.each<[string, (request: StoreRequest) => boolean]>([
  ["reads the snapshot", ({ method, key }) => method === "list" && key === "snapshots/"],
  ["takes over", storesRecord],
])("An inbox that is closed while it %s is not opened, and leaves neither an owner nor a file", async (_what, step) => {
  const { store, inbox, failures, resume, folders } = await startPaused(step);
  const closing = inbox.close(0);
  resume();
  expect(await closing).toEqual({ interrupted: 0 });
  await expect(inbox.opened).rejects.toMatchObject({ code: "CLOSING" });
  expect([failures, folders()]).toEqual([[], []]);
  await openMemoryInbox(store, { spaceId: "me/copy" });
});

test("An inbox that is closed while a request of its start has no answer does not wait for it for more than 5 s", async () => {
  const { inbox, resume } = await startPaused(storesRecord, recordWaits({ endsAfterMs: 5_000 }));
  onTestFinished(resume);
  expect(await inbox.close(0)).toEqual({ interrupted: 0 });
});
