import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { findUnsafeFileSystem } from "../../../src/inbox/sqlite/file-system.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../inbox-file.ts";
import { mountFuse } from "./mount-fuse.ts";
import { incoming } from "./open-inbox.ts";

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
    const inbox = await openInbox({ url, now: Date.now, log: logger });
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
    await inbox.close(0);
    expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringMatching(/\(fuse\b.*local disk/) }]);
  });
});
