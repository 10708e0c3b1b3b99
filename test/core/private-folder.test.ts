import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePrivateFolder } from "../../src/core/files.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { RegistrationFile } from "../../src/registration/state.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";

/** Creates a `.hub-webhooks` folder with this mode, regardless of the umask. */
function folderWith(mode: number): string {
  const folder = join(createFolder(), ".hub-webhooks");
  mkdirSync(folder);
  chmodSync(folder, mode);
  return folder;
}

function linkedFolder(): string {
  const parent = createFolder();
  mkdirSync(join(parent, "elsewhere"), { mode: 0o700 });
  symlinkSync(join(parent, "elsewhere"), join(parent, ".hub-webhooks"));
  return join(parent, ".hub-webhooks");
}

const refused = (message: string) =>
  expect.objectContaining({ code: "FOLDER_UNUSABLE", message: expect.stringContaining(message) });

describe("The private folder", () => {
  test.each([0o770, 0o775, 0o720, 0o702, 0o777, 0o1777])("is rejected with a fix if its mode is %o", (mode) => {
    const folder = folderWith(mode);
    expect(() => makePrivateFolder(folder, "FOLDER_UNUSABLE")).toThrow(refused(`chmod go-w "${folder}"`));
    chmodSync(folder, mode & ~0o022);
    makePrivateFolder(folder, "FOLDER_UNUSABLE");
  });

  test.each([0o700, 0o755, 0o750, 0o500])("is accepted if its mode is %o", (mode) => {
    const folder = folderWith(mode);
    makePrivateFolder(folder, "FOLDER_UNUSABLE");
    expect(statSync(folder).mode & 0o777).toBe(mode);
  });

  test("is rejected if it is a symbolic link, even a dangling one", () => {
    const folder = linkedFolder();
    expect(() => makePrivateFolder(folder, "FOLDER_UNUSABLE")).toThrow(refused("symbolic link"));
    rmSync(join(folder, "..", "elsewhere"), { recursive: true });
    expect(() => makePrivateFolder(folder, "FOLDER_UNUSABLE")).toThrow(refused("symbolic link"));
  });

  test.skipIf(process.platform !== "linux")("is not kept open after it is created", () => {
    const parent = realpathSync(createFolder());
    makePrivateFolder(join(parent, "one", ".hub-webhooks"), "FOLDER_UNUSABLE");
    const opened = readdirSync("/proc/self/fd").map((descriptor) => {
      try {
        return realpathSync(`/proc/self/fd/${descriptor}`);
      } catch {
        return "";
      }
    });
    expect(opened.filter((path) => path.startsWith(parent))).toEqual([]);
  });

  test("is accepted with any mode if it has another name", () => {
    const parent = createFolder();
    chmodSync(parent, 0o1777);
    makePrivateFolder(parent, "FOLDER_UNUSABLE");
    makePrivateFolder(join(parent, "data"), "FOLDER_UNUSABLE");
    expect(existsSync(join(parent, "data", ".gitignore"))).toBe(false);
  });

  test("is created with mode 0700 below a folder that others may write to", () => {
    const parent = createFolder();
    chmodSync(parent, 0o1777);
    makePrivateFolder(join(parent, ".hub-webhooks"), "FOLDER_UNUSABLE");
    expect(statSync(join(parent, ".hub-webhooks")).mode & 0o777).toBe(0o700);
  });
});

describe.each([
  { what: "is a symbolic link", make: linkedFolder },
  { what: "is writable by the group", make: () => folderWith(0o770) },
])("A .hub-webhooks that $what is refused", ({ make }) => {
  test("by the inbox", () => {
    const file = join(make(), "inbox.db");
    expect(() => new SqliteInbox({ file, now: Date.now, log: createMemoryLogger() })).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE" }),
    );
    expect(existsSync(file)).toBe(false);
  });

  test("by the file of registrations, read and written", async () => {
    const state = new RegistrationFile({ path: join(make(), "registrations.json"), hubUrl: "https://hub.example" });
    expect(() => state.read()).toThrow(expect.objectContaining({ code: "STATE_UNUSABLE" }));
    await expect(state.change(() => {})).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });

  test("by the state of a local Hub", async () => {
    const started = LocalHub.launch({ state: join(make(), "hub.db") });
    await expect(started).rejects.toMatchObject({ code: "LOCAL_HUB_STATE_UNUSABLE" });
  });
});
