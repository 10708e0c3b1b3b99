import { spawnSync } from "node:child_process";
import { mkdirSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openInbox as openByUrl } from "../../../src/inbox/open-inbox.ts";
import { DiskSpace, findUnsafeFileSystem, type Space, spaceOf } from "../../../src/inbox/sqlite/file-system.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming, openInbox } from "./open-inbox.ts";

/** Mounts a FUSE folder until the test ends. If that is impossible, logs the reason and returns `undefined`. */
function mountFuse(): string | undefined {
  const below = dirname(inboxFile());
  const at = join(dirname(inboxFile()), "mounted");
  mkdirSync(at);
  const { status, error, stderr } = spawnSync("bindfs", [below, at], { encoding: "utf8" });
  if (status !== 0) {
    console.log(`Skipped: a FUSE file system could not be mounted: ${error?.message ?? stderr}`);
    return undefined;
  }
  onTestFinished(() => void spawnSync("umount", ["-l", at]));
  return at;
}

const onLinux = process.platform === "linux";

describe("The file system of an inbox", () => {
  const mounts = "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n";
  const found = (kind: number, mounted = mounts, file = "/inbox.db") =>
    findUnsafeFileSystem(file, { kind: () => kind, mounts: () => mounted });

  test.each([
    ["NFS", 0x6969],
    ["SMB", 0x517b],
    ["SMB", 0xfe534d42],
    ["CIFS", 0xff534d42],
    // The value on a 32-bit system.
    ["CIFS", 0xff534d42 | 0],
    ["9p", 0x01021997],
    ["Ceph", 0x00c36400],
    ["Lustre", 0x0bd00bd0],
  ])("is rejected if it is %s (%i)", (name, kind) => {
    expect(found(kind)).toBe(onLinux ? name : undefined);
  });

  test.each([
    ["ext4", 0xef53],
    ["XFS", 0x58465342],
    ["Btrfs", 0x9123683e],
    ["ZFS", 0x2fc12fc1],
    ["F2FS", 0xf2f52010],
    ["tmpfs", 0x01021994],
    ["overlayfs", 0x794c7630],
    ["an unknown one", 0x12345678],
  ])("is accepted if it is %s", (_name, kind) => {
    expect(found(kind)).toBeUndefined();
  });

  const fuse = 0x65735546;
  const mount = (at: string, kind: string) => `40 22 0:39 / ${at} rw,nosuid shared:1 - ${kind} source rw\n`;

  test.each([
    ["/", mount("/", "fuse.gcsfuse"), "fuse.gcsfuse"],
    ["below its mount", mounts + mount("/proc", "fuse.s3fs"), "fuse.s3fs"],
    [
      "next to a mount whose name has the same start",
      mount("/", "fuse.hf-mount") + mount("/pro", "virtiofs"),
      "fuse.hf-mount",
    ],
    ["over another mount", mount("/proc", "virtiofs") + mount("/proc", "fuse.sshfs"), "fuse.sshfs"],
    ["without a name", "", "FUSE"],
  ])("is rejected if it is FUSE: %s", (_where, mounted, name) => {
    expect(found(fuse, mounted, "/proc/nothing.db")).toBe(onLinux ? name : undefined);
  });

  test.each(["virtiofs", "fuseblk", "fuse.fuse-overlayfs"])("is accepted if it is FUSE by the kernel: %s", (kind) => {
    expect(found(fuse, mounts + mount("/proc", kind), "/proc/nothing.db")).toBeUndefined();
  });

  test("is found if the mount point contains a space", () => {
    const folder = join(dirname(inboxFile()), "my bucket");
    mkdirSync(folder);
    const mounted = mounts + mount(folder.replace(" ", "\\040"), "virtiofs");
    expect(found(fuse, mounted, join(folder, "inbox.db"))).toBeUndefined();
  });

  test("is that of the nearest existing folder, behind symbolic links", () => {
    const file = inboxFile();
    const link = join(dirname(file), "link");
    symlinkSync("/proc", link);
    const asked: string[] = [];
    const kind = (path: string) => asked.push(path);
    findUnsafeFileSystem(join(link, "a", "b", "inbox.db"), { kind, mounts: () => mounts });
    expect(asked).toEqual(onLinux ? ["/proc"] : []);
  });

  test("is accepted on this machine", () => {
    expect(findUnsafeFileSystem(inboxFile())).toBeUndefined();
  });
});

describe("A FUSE mount", () => {
  const log = createMemoryLogger();

  test("is rejected with a remedy, and no file is created on it", (context) => {
    const folder = mountFuse();
    if (folder === undefined) return context.skip("A FUSE file system needs bindfs and root.");
    const file = join(folder, "not", "there", "inbox.db");
    expect(() => new SqliteInbox({ file, now: Date.now, log: log })).toThrow(
      expect.objectContaining({
        code: "INBOX_UNUSABLE",
        message: expect.stringMatching(
          /\(fuse\b.*shared memory.*local disk.*redis:.*postgres:.*\?unsafe-file-system=allow/,
        ),
      }),
    );
    expect(() => mkdirSync(join(folder, "not"))).not.toThrow();
  });

  test("is used with a warning if the URL allows it", async (context) => {
    const folder = mountFuse();
    if (folder === undefined) return context.skip("A FUSE file system needs bindfs and root.");
    const logger = createMemoryLogger();
    const url = `sqlite:${folder}/inbox.db?unsafe-file-system=allow`;
    const inbox = await openByUrl({ url, now: Date.now, log: logger });
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
    await inbox.close(0);
    expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringMatching(/\(fuse\b.*local disk/) }]);
  });
});

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
