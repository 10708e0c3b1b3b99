import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { IndexSchedule } from "../../../src/inbox/sqlite/index-schedule.ts";
import { SearchIndex, searchIndexFile } from "../../../src/inbox/sqlite/search-index.ts";
import { SearchIndexer } from "../../../src/inbox/sqlite/search-indexer.ts";
import { incoming, openInbox } from "./open-inbox.ts";

/** Replaces timers until the test has finished, but not while the inbox works. */
function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** Starts the schedule for an inbox with some deliveries. */
async function start(count: number) {
  const { inbox, file } = openInbox();
  await Promise.all(Array.from({ length: count }, (_, index) => inbox.accept(incoming(`d${index}`))));
  const database = new DatabaseSync(file);
  const indexers: SearchIndexer[] = [];
  onTestFinished(() => {
    for (const indexer of indexers) indexer[Symbol.dispose]();
    database.close();
  });
  useFakeTimers();
  const disk = { hasSpace: true, searches: 0 };
  new IndexSchedule({
    openIndexer: () => {
      const indexer = new SearchIndexer(database, searchIndexFile(file));
      indexers.push(indexer);
      return indexer;
    },
    countSearches: () => disk.searches,
    hasSpace: () => disk.hasSpace,
  }).start();
  const identity = String(database.prepare("SELECT uuid FROM identity").get()?.uuid);
  const indexedUntil = () => {
    using index = SearchIndex.openToRead(searchIndexFile(file), identity);
    return index?.readState()?.indexedUntil;
  };
  return { disk, indexedUntil };
}

test("A search index grows slowly, and faster after a search", async () => {
  const { disk, indexedUntil } = await start(900);
  expect(indexedUntil()).toBe(200);
  vi.advanceTimersByTime(1_000);
  expect(indexedUntil()).toBe(400);
  disk.searches += 1;
  vi.advanceTimersByTime(1_000);
  expect(indexedUntil()).toBe(900);
});

test("A search index does not grow while the disk has little space", async () => {
  const { disk, indexedUntil } = await start(600);
  disk.hasSpace = false;
  vi.advanceTimersByTime(20_000);
  expect(indexedUntil()).toBe(200);
  disk.hasSpace = true;
  vi.advanceTimersByTime(11_000);
  expect(indexedUntil()).toBe(600);
});

test("A search index is not created on a disk with little space", () => {
  useFakeTimers();
  const openIndexer = vi.fn<() => SearchIndexer>();
  new IndexSchedule({ openIndexer, countSearches: () => 0, hasSpace: () => false }).start();
  vi.advanceTimersByTime(60_000);
  expect(openIndexer).not.toHaveBeenCalled();
});
