import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makePrivateFolder } from "../../src/core/private-folder.ts";
import { withFileLock } from "../../src/registration/file-lock.ts";
import { SecretHashes } from "../../src/registration/secret-hash.ts";
import { StateFile } from "../../src/registration/state-file.ts";
import { openFolder } from "./test-hub.ts";

const hub = "https://hub.example";

function statePath(): string {
  return join(openFolder(), ".hub-webhooks", "registrations.json");
}

function openState({ path = statePath(), address = hub }: { path?: string; address?: string } = {}): StateFile {
  return new StateFile({ path, hub: address });
}

function known(id: string) {
  return { id, endpoint: "retrain", secret: null };
}

async function add(state: StateFile, id: string): Promise<void> {
  await state.change(({ webhooks }) => void webhooks.push(known(id)));
}

describe("The state file", () => {
  test("keeps what is known of each Hub apart", async () => {
    const state = openState();
    await add(state, "a");
    const other = openState({ path: state.path, address: "https://other.example" });
    await add(other, "b");
    expect([state.read().webhooks, other.read().webhooks]).toEqual([[known("a")], [known("b")]]);
  });

  test("is for its owner alone, in a folder that stays out of the repository", async () => {
    const state = openState();
    await add(state, "a");
    const folder = dirname(state.path);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([folder, state.path, `${state.path}.lock`].map(mode)).toEqual(["700", "600", "600"]);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
  });

  test("is written whole: nothing else stays behind, and a file readable by others becomes private", async () => {
    const state = openState();
    await add(state, "a");
    chmodSync(state.path, 0o644);
    await add(state, "b");
    expect((statSync(state.path).mode & 0o777).toString(8)).toBe("600");
    expect(readdirSync(dirname(state.path)).sort()).toEqual([
      ".gitignore",
      "registrations.json",
      "registrations.json.lock",
    ]);
  });

  test.each([true, false])(
    "is on the disk before it replaces the old one, and then its folder (which can be synced: %s)",
    async (canSync) => {
      const state = openState();
      await add(state, "a");
      const { fsyncSync, closeSync, renameSync } = fs;
      const order: string[] = [];
      const synced = new Set<number>();
      vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
        const isFolder = fs.fstatSync(descriptor).isDirectory();
        order.push(isFolder ? "sync folder" : "sync file");
        synced.add(descriptor);
        if (isFolder && !canSync) throw new Error("EINVAL");
        fsyncSync(descriptor);
      });
      vi.spyOn(fs, "closeSync").mockImplementation((descriptor) => {
        if (synced.delete(descriptor)) order.push("close");
        closeSync(descriptor);
      });
      vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
        order.push("rename");
        renameSync(from, to);
      });
      syncBuiltinESMExports();
      onTestFinished(() => {
        vi.restoreAllMocks();
        syncBuiltinESMExports();
      });
      await add(state, "b");
      expect(order).toEqual(["sync file", "close", "rename", "sync folder", "close"]);
      expect(state.read().webhooks).toHaveLength(2);
      order.length = 0;
      makePrivateFolder(join(dirname(state.path), "made", "deeper"), "STATE_UNUSABLE");
      expect(order).toEqual(["sync folder", "close", "sync folder", "close"]);
    },
  );

  test("leaves no temporary file behind when it cannot be written", async () => {
    const state = openState();
    const failing = state.change(({ webhooks }) => {
      webhooks.push(known("a"));
      // No file can take the name of a folder.
      mkdirSync(state.path);
    });
    await expect(failing).rejects.toMatchObject({ code: "STATE_UNUSABLE", message: expect.stringContaining("EISDIR") });
    expect(readdirSync(dirname(state.path)).sort()).toEqual([
      ".gitignore",
      "registrations.json",
      "registrations.json.lock",
    ]);
  });

  test("is not made by whoever only looks", () => {
    const state = openState();
    expect(state.read()).toEqual({ webhooks: [], pending: [] });
    expect(() => statSync(dirname(state.path))).toThrow("ENOENT");
  });

  test.each([
    ["is no JSON", "{", "it is damaged"],
    ["is empty", "", "it is damaged"],
    ["is of another program", '{"name": "x"}', "is not what hub-webhooks has written"],
    [
      "has an entry of another shape",
      '{"version": 1, "hubs": {"h": {"webhooks": [{}], "pending": []}}}',
      "is not what",
    ],
    ["is of a newer release", '{"version": 2, "hubs": {}}', "newer release of hub-webhooks: update this one"],
  ])("that %s is refused with the remedy, and left as it is", async (_what, text, remedy) => {
    const state = openState();
    mkdirSync(dirname(state.path));
    writeFileSync(state.path, text);
    const expected = expect.objectContaining({ code: "STATE_UNUSABLE", message: expect.stringContaining(remedy) });
    expect(() => state.read()).toThrow(expected);
    await expect(add(state, "a")).rejects.toEqual(expected);
    expect(readFileSync(state.path, "utf8")).toBe(text);
  });

  test("that cannot be made is told with its path", async () => {
    const folder = openFolder();
    writeFileSync(join(folder, "file"), "");
    const state = openState({ path: join(folder, "file", "registrations.json") });
    await expect(add(state, "a")).rejects.toMatchObject({
      code: "STATE_UNUSABLE",
      message: expect.stringContaining(state.path),
    });
  });

  test("loses nothing when many change it at the same time, in two processes and within one", async () => {
    const state = openState();
    const script = fileURLToPath(new URL("noting-process.ts", import.meta.url));
    const children = ["left", "right"].map((name) =>
      spawn(process.execPath, [script, state.path, hub, name, "25"], { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const ends = children.map((child) => once(child, "exit"));
    await Promise.all(Array.from({ length: 25 }, (_, index) => add(state, `own-${index}`)));
    expect(await Promise.all(ends)).toEqual([
      [0, null],
      [0, null],
    ]);
    const ids = state.read().webhooks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(75);
  });

  test("is free again when a process dies that had locked it", async () => {
    const state = openState();
    await add(state, "a");
    const script = fileURLToPath(new URL("locking-process.ts", import.meta.url));
    const child = spawn(process.execPath, [script, `${state.path}.lock`], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const free = await withFileLock({ file: `${state.path}.lock`, waitMs: 0 }, () => "mine");
    expect(free).toBeUndefined();
    const added = add(state, "b");
    child.kill("SIGKILL");
    await added;
    expect(state.read().webhooks).toHaveLength(2);
  });
});

describe("Doing something alone", () => {
  test("keeps nobody from changing the file meanwhile", async () => {
    const state = openState();
    await state.alone(() => add(state, "a"));
    expect(state.read().webhooks).toHaveLength(1);
  });

  test("is waited for, until the signal says that it is enough", async () => {
    const state = openState();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = state.alone(async () => {
      begun.resolve();
      await end.promise;
      return "first";
    });
    await begun.promise;
    const controller = new AbortController();
    const second = state.alone(async () => "second", { signal: controller.signal });
    const third = state.alone(async () => "third");
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    end.resolve();
    expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  });

  test("fails with the error of what was done", async () => {
    const broken = () => Promise.reject(new Error("broken"));
    await expect(openState().alone(broken)).rejects.toThrow("broken");
  });
});

describe("A secret that is noted", () => {
  test("is recognised, and is not to be found in the note", async () => {
    const note = await new SecretHashes("horse battery").note();
    expect(JSON.stringify(note)).not.toMatch(/horse|battery/);
    expect(note).toMatchObject({
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await new SecretHashes("horse battery").isNoted(note)).toBe(true);
    expect(await new SecretHashes("horse batterY").isNoted(note)).toBe(false);
    expect(await new SecretHashes(undefined).isNoted(note)).toBe(false);
  });

  test("has another salt each time", async () => {
    expect(await new SecretHashes("horse").note()).not.toEqual(await new SecretHashes("horse").note());
  });

  test("may be none, or unknown", async () => {
    expect(await new SecretHashes(undefined).note()).toBeNull();
    expect(await new SecretHashes(undefined).isNoted(null)).toBe(true);
    expect(await new SecretHashes("horse").isNoted(null)).toBe(false);
    expect(await new SecretHashes(undefined).isNoted(undefined)).toBe(false);
  });
});
