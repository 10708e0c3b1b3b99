import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { type FSWatcher, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { SourceWatcher } from "../../src/dev/reloading-server.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { watchTimers } from "../support/timers.ts";

/** Opens a watcher of a file in a new folder, closes it after the test, and records the reported changes. */
function openWatcher({ settleMs = 1 } = {}) {
  const folder = join(createFolder(), "lib");
  mkdirSync(folder);
  const file = join(folder, "word.ts");
  writeFileSync(file, "");
  const changes: { paths: readonly string[]; isLoaded: boolean }[] = [];
  const watcher = new SourceWatcher({ onChange: (change) => changes.push(change), settleMs });
  onTestFinished(() => watcher.close());
  watcher.add(file);
  return { folder, file, watcher, changes };
}

test.each(["before the deletion is reported", "after it"])(
  "A folder that is deleted and created again %s is watched again",
  async (when) => {
    const { folder, file, watcher, changes } = openWatcher();
    rmSync(folder, { recursive: true });
    const create = () => {
      mkdirSync(folder);
      writeFileSync(file, "");
    };
    if (when !== "after it") create();
    await expect.poll(() => changes.length, { interval: 1 }).toBeGreaterThan(0);
    if (when === "after it") create();
    watcher.add(file);
    const before = changes.length;
    writeFileSync(file, "changed");
    await expect.poll(() => changes.length, { interval: 1 }).toBeGreaterThan(before);
  },
);

test.each(["the folder", "the folder and its parent"])("Files are reported when %s is created again", async (which) => {
  const { folder, file, changes } = openWatcher();
  const removed = which === "the folder" ? folder : dirname(folder);
  rmSync(removed, { recursive: true });
  await expect.poll(() => changes, { interval: 1 }).toContainEqual({ paths: [file], isLoaded: true });
  await setTimeout(20);
  changes.length = 0;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, "");
  await expect.poll(() => changes, { interval: 1 }).toContainEqual({ paths: [file], isLoaded: true });
});

/** Records the watchers of folders. */
function recordWatchers(): FSWatcher[] {
  const watchers: FSWatcher[] = [];
  const { watch } = fs;
  const watching = vi.spyOn(fs, "watch").mockImplementation((...given: unknown[]) => {
    const watcher = Reflect.apply(watch, fs, given);
    watchers.push(watcher);
    return watcher;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    watching.mockRestore();
    syncBuiltinESMExports();
  });
  return watchers;
}

test("A folder whose watcher fails is watched again when one of its files is added again", async () => {
  const watchers = recordWatchers();
  const { file, watcher, changes } = openWatcher();
  watchers[0]?.emit("error", new Error("EPERM"));
  watcher.add(file);
  writeFileSync(file, "changed");
  await expect.poll(() => changes, { interval: 1 }).toContainEqual({ paths: [file], isLoaded: true });
  expect(watchers).toHaveLength(2);
});

test("A file in a missing folder is ignored, and the others are watched", async () => {
  const { folder, file, watcher, changes } = openWatcher();
  watcher.add(join(folder, "nowhere", "b.ts"));
  writeFileSync(file, "changed");
  await expect.poll(() => changes).toContainEqual({ paths: [file], isLoaded: true });
  const added = join(folder, "new.ts");
  writeFileSync(added, "");
  await expect.poll(() => changes).toContainEqual({ paths: [added], isLoaded: false });
});

test("Only loaded files are reported if other files in the folder changed at the same time", async () => {
  const { folder, file, changes } = openWatcher({ settleMs: 50 });
  writeFileSync(join(folder, "word.test.ts"), "changed");
  writeFileSync(file, "changed");
  await expect.poll(() => changes).toEqual([{ paths: [file], isLoaded: true }]);
});

test("Changes that are detected late are reported once", async () => {
  const settleMs = 50;
  const { file, watcher, changes } = openWatcher({ settleMs });
  writeFileSync(file, "first");
  while (!watcher.isSettling) await setImmediate();
  writeFileSync(file, "second");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * settleMs);
  await expect.poll(() => changes.length).toBeGreaterThan(0);
  await setTimeout(4 * settleMs);
  expect(changes).toEqual([{ paths: [file], isLoaded: true }]);
});

test("Changes are reported when they have settled, and not after close()", async () => {
  const timers = watchTimers();
  const { folder, file, watcher, changes } = openWatcher({ settleMs: 54_321 });
  expect(watcher.isSettling).toBe(false);
  for (const path of [file, join(folder, "other.ts")]) {
    const before = timers.of(54_321).length;
    writeFileSync(path, "changed");
    await expect.poll(() => timers.of(54_321).length).toBeGreaterThan(before);
  }
  expect(watcher.isSettling).toBe(true);
  watcher.close();
  expect(timers.of(54_321).filter(({ cleared }) => cleared === 0)).toEqual([]);
  expect(changes).toEqual([]);
});

test("A change that has just settled is not reported after close()", async () => {
  const { file, watcher, changes } = openWatcher();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  writeFileSync(file, "changed");
  while (!watcher.isSettling) await setImmediate();
  vi.advanceTimersByTime(1);
  watcher.close();
  await setImmediate();
  expect(changes).toEqual([]);
});

test("No files are watched after close(), even if files are added late", { tags: "slow" }, async () => {
  const module = new URL("../../src/dev/reloading-server.ts", import.meta.url).href;
  const script = `
    import { SourceWatcher } from ${JSON.stringify(module)};
    const watcher = new SourceWatcher({ onChange() {} });
    watcher.add(process.execPath);
    watcher.close();
    watcher.add(process.execPath);`;
  // A file watcher would keep the process alive.
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([0, null]);
});
