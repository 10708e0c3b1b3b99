import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DiskSpace, type Space, spaceOf } from "../../../src/inbox/sqlite/file-system.ts";
import { openInbox } from "./open-inbox.ts";

const mebibyte = 2 ** 20;

function openSpace(space: Space | undefined) {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  const disk = { space };
  const room = new DiskSpace(database, () => disk.space);
  const walBytes = () => Number(database.prepare("PRAGMA wal_autocheckpoint").get()?.wal_autocheckpoint) * 4_096;
  const limit = () => Number(database.prepare("PRAGMA journal_size_limit").get()?.journal_size_limit);
  room.refresh();
  return { database, disk, room, walBytes, limit };
}

describe("The WAL", () => {
  test.each([
    ["40 MiB on a large disk", { free: 2 ** 40, total: 2 ** 41 }, 40 * mebibyte],
    ["an eighth of the free space on a small one", { free: 8 * mebibyte, total: 8 * mebibyte }, mebibyte],
    ["64 KiB without free space", { free: 0, total: 8 * mebibyte }, 64 * 1_024],
    ["40 MiB if the space is unknown", undefined, 40 * mebibyte],
    ["40 MiB if the disk reports no size", { free: 0, total: 0 }, 40 * mebibyte],
  ])("is limited to %s", (_what, space, bytes) => {
    const { walBytes, limit } = openSpace(space);
    expect(walBytes()).toBe(bytes);
    expect(limit()).toBe(bytes);
  });

  test("is limited again when the disk fills up", () => {
    const { disk, room, walBytes } = openSpace({ free: 800 * mebibyte, total: 1_000 * mebibyte });
    disk.space = { free: 80 * mebibyte, total: 1_000 * mebibyte };
    room.refresh();
    expect(walBytes()).toBe(10 * mebibyte);
  });
});

describe("The space of a disk", () => {
  const reads = (free: number) => {
    const database = new DatabaseSync(":memory:");
    onTestFinished(() => database.close());
    let count = 0;
    const read = () => {
      count += 1;
      return { free, total: 1_000 * mebibyte };
    };
    const room = new DiskSpace(database, read);
    room.refresh();
    return { room, count: () => count };
  };

  test("is read before each transaction if there is little", () => {
    const { room, count } = reads(200 * mebibyte);
    room.refreshIfNeeded();
    room.refreshIfNeeded();
    expect(count()).toBe(3);
  });

  test("is read ten times a second if there is plenty", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { room, count } = reads(900 * mebibyte);
    room.refreshIfNeeded();
    vi.advanceTimersByTime(100);
    room.refreshIfNeeded();
    expect(count()).toBe(1);
    vi.advanceTimersByTime(1);
    room.refreshIfNeeded();
    expect(count()).toBe(2);
  });
});

describe("Room for a delivery", () => {
  test("is the free space without a reserve of an eighth of the disk, at most 16 MiB", () => {
    const { room, disk } = openSpace({ free: 3 * mebibyte, total: 8 * mebibyte });
    expect([room.hasRoomFor(2 * mebibyte - 1), room.hasRoomFor(2 * mebibyte)]).toEqual([true, false]);
    disk.space = { free: 17 * mebibyte, total: 2 ** 40 };
    room.refresh();
    expect([room.hasRoomFor(mebibyte - 1), room.hasRoomFor(mebibyte)]).toEqual([true, false]);
  });

  test("includes unused pages of the file", () => {
    const { room, database } = openSpace({ free: 0, total: 8 * mebibyte });
    database.exec("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1000000)); DROP TABLE t");
    expect(room.hasRoomFor(900_000)).toBe(true);
    expect(room.hasRoomFor(1_100_000)).toBe(false);
  });

  test("is unlimited if the space is unknown", () => {
    expect(openSpace(undefined).room.hasRoomFor(2 ** 40)).toBe(true);
    expect(spaceOf("/no/such/folder")).toBeUndefined();
  });
});

test("The WAL of an earlier process is emptied when an inbox is opened", async () => {
  const { inbox, file } = openInbox();
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_autocheckpoint = 0");
  database.exec("INSERT INTO processes (process_id, heartbeats) VALUES (hex(zeroblob(100000)), 1)");
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(100_000);
  openInbox({ file });
  expect(statSync(`${file}-wal`).size).toBe(0);
  database.close();
  await inbox.close(0);
});
