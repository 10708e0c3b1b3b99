import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makePrivateFolder } from "../../src/core/files.ts";
import { RegistrationFile, SecretHasher, withFileLock } from "../../src/registration/state.ts";
import { createFolder } from "../support/temporary-folder.ts";

const hub = "https://hub.example";
const script = fileURLToPath(new URL("state-process.ts", import.meta.url));

function statePath(): string {
  return join(createFolder(), ".hub-webhooks", "registrations.json");
}

function openState({ path = statePath(), address = hub }: { path?: string; address?: string } = {}): RegistrationFile {
  return new RegistrationFile({ path, hubUrl: address });
}

function managed(id: string) {
  return { id, endpoint: "retrain", secret: null };
}

async function add(state: RegistrationFile, id: string): Promise<void> {
  await state.change(({ webhooks }) => void webhooks.push(managed(id)));
}

/** Makes modules that import functions of `fs` by name use the spies, until the test ends. */
function applySpies(): void {
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

const filesAfterChange = [".gitignore", "registrations.json", "registrations.json.lock"];

describe("The state file", () => {
  test("separates the webhooks of each Hub", async () => {
    const state = openState();
    await add(state, "a");
    const other = openState({ path: state.path, address: "https://other.example" });
    await add(other, "b");
    expect([state.read().webhooks, other.read().webhooks]).toEqual([[managed("a")], [managed("b")]]);
  });

  test("is only readable by its owner, in a folder that Git ignores", async () => {
    const state = openState();
    await add(state, "a");
    const folder = dirname(state.path);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([folder, state.path, `${state.path}.lock`].map(mode)).toEqual(["700", "600", "600"]);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
  });

  test.each(["lock", "exclusive"])("cannot be used if its file %s is not a lock", async (name) => {
    const state = openState();
    await add(state, "a");
    writeFileSync(`${state.path}.${name}`, "not a lock".repeat(100));
    const using = name === "lock" ? add(state, "b") : state.runExclusive(async () => {});
    await expect(using).rejects.toMatchObject({
      code: "STATE_UNUSABLE",
      message: expect.stringContaining("cannot be read or written (file is not a database)"),
    });
  });

  test("cannot be replaced if that fails, which is the cause", async () => {
    const state = openState();
    vi.spyOn(fs, "renameSync").mockImplementation(() => {
      throw new Error("EXDEV");
    });
    applySpies();
    await expect(add(state, "a")).rejects.toMatchObject({ code: "STATE_UNUSABLE", cause: { message: "EXDEV" } });
  });

  test("is replaced atomically, leaves no other files, and becomes private if it was readable by others", async () => {
    const state = openState();
    await add(state, "a");
    chmodSync(state.path, 0o644);
    await add(state, "b");
    expect((statSync(state.path).mode & 0o777).toString(8)).toBe("600");
    expect(readdirSync(dirname(state.path)).sort()).toEqual(filesAfterChange);
  });

  test.each([true, false])(
    "is synced before it replaces the old file, and its folder is synced afterwards (if supported: %s)",
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
      applySpies();
      await add(state, "b");
      expect(order).toEqual(["sync file", "close", "rename", "sync folder", "close"]);
      expect(state.read().webhooks).toHaveLength(2);
      order.length = 0;
      makePrivateFolder(join(dirname(state.path), "made", "deeper"), "STATE_UNUSABLE");
      expect(order).toEqual(["sync folder", "close", "sync folder", "close"]);
    },
  );

  test("leaves no temporary file behind if it cannot be written", async () => {
    const state = openState();
    const failing = state.change(({ webhooks }) => {
      webhooks.push(managed("a"));
      // A file cannot replace a folder.
      mkdirSync(state.path);
    });
    await expect(failing).rejects.toMatchObject({ code: "STATE_UNUSABLE", cause: { code: "EISDIR" } });
    expect(readdirSync(dirname(state.path)).sort()).toEqual(filesAfterChange);
  });

  test("is not created by reading", () => {
    const state = openState();
    expect(state.read()).toEqual({ webhooks: [], pending: [] });
    expect(() => statSync(dirname(state.path))).toThrow("ENOENT");
  });

  test.each([
    ["is not JSON", "{"],
    ["is empty", ""],
    ["is of another program", '{"name": "x"}'],
    ["has an entry of another shape", '{"version": 1, "hubs": {"h": {"webhooks": [{}], "pending": []}}}'],
    ["is of a newer release", '{"version": 2, "hubs": {}}'],
  ])("that %s is rejected, and not changed", async (_what, text) => {
    const state = openState();
    mkdirSync(dirname(state.path));
    writeFileSync(state.path, text);
    const expected = expect.objectContaining({ code: "STATE_UNUSABLE" });
    expect(() => state.read()).toThrow(expected);
    await expect(add(state, "a")).rejects.toEqual(expected);
    expect(readFileSync(state.path, "utf8")).toBe(text);
  });

  test("loses no change of concurrent processes", { tags: "slow" }, async () => {
    const state = openState();
    const children = ["left", "right"].map((name) =>
      spawn(process.execPath, [script, state.path, hub, name, "25"], { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const ends = children.map((child) => once(child, "exit"));
    await Promise.all(Array.from({ length: 25 }, (_, index) => add(state, `own-${index}`)));
    for (const end of ends) expect(await end).toEqual([0, null]);
    const ids = state.read().webhooks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(75);
  });

  test.each([
    ["lock", 10_000, (state: RegistrationFile) => add(state, "a")],
    ["exclusive", 60_000, (state: RegistrationFile) => state.runExclusive(async () => {})],
  ] as const)("is waited for, but not without limit: %s, %i ms", async (name, limitMs, use) => {
    const state = openState();
    await add(state, "b");
    const elapsed = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => elapsed.mockRestore());
    await withFileLock({ file: `${state.path}.${name}`, timeoutMs: 0 }, async () => {
      const failure = use(state).catch((error: unknown) => error);
      elapsed.mockReturnValue(limitMs);
      expect(await Promise.race([failure, sleep(60, "waits")])).toBe("waits");
      elapsed.mockReturnValue(limitMs + 1);
      expect(await failure).toMatchObject({ code: "STATE_UNUSABLE" });
    });
  });

  test("is unlocked when the process that locked it exits", { tags: "slow" }, async () => {
    const state = openState();
    await add(state, "a");
    const child = spawn(process.execPath, [script, state.path], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const free = await withFileLock({ file: `${state.path}.lock`, timeoutMs: 0 }, () => "mine");
    expect(free).toBeUndefined();
    const added = add(state, "b");
    child.kill("SIGKILL");
    await added;
    expect(state.read().webhooks).toHaveLength(2);
  });
});

describe("Exclusive work", () => {
  test("does not block changes of the file", async () => {
    const state = openState();
    await state.runExclusive(() => add(state, "a"));
    expect(state.read().webhooks).toHaveLength(1);
  });

  test("is waited for until the signal aborts", async () => {
    const state = openState();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = state.runExclusive(async () => {
      begun.resolve();
      await end.promise;
      return "first";
    });
    await begun.promise;
    const controller = new AbortController();
    const second = state.runExclusive(async () => "second", { signal: controller.signal });
    const third = state.runExclusive(async () => "third");
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    end.resolve();
    expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  });

  test("rejects with the error of the work", async () => {
    const error = new Error("broken");
    await expect(openState().runExclusive(() => Promise.reject(error))).rejects.toBe(error);
  });
});

describe("A stored secret", () => {
  test("is recognized by its hash, which does not contain it", async () => {
    const note = await new SecretHasher("horse battery").hash();
    expect(JSON.stringify(note)).not.toMatch(/horse|battery/);
    expect(note).toMatchObject({
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await new SecretHasher("horse battery").matches(note)).toBe(true);
    expect(await new SecretHasher("horse batterY").matches(note)).toBe(false);
    expect(await new SecretHasher(undefined).matches(note)).toBe(false);
  });

  test("has a different salt each time", async () => {
    expect(await new SecretHasher("horse").hash()).not.toEqual(await new SecretHasher("horse").hash());
  });

  test("may be absent or unknown", async () => {
    expect(await new SecretHasher(undefined).hash()).toBeNull();
    expect(await new SecretHasher(undefined).matches(null)).toBe(true);
    expect(await new SecretHasher("horse").matches(null)).toBe(false);
    expect(await new SecretHasher(undefined).matches(undefined)).toBe(false);
  });
});
