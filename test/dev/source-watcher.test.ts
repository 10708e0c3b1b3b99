import fs, { type FSWatcher, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { SourceWatcher } from "../../src/dev/reloading-server.ts";
import { createFolder } from "../support/temporary-folder.ts";

test.each(["before the deletion is reported", "after it"])(
  "A folder that is deleted and created again %s is watched again",
  async (when) => {
    const folder = join(createFolder(), "lib");
    const file = join(folder, "word.ts");
    mkdirSync(folder);
    writeFileSync(file, "");
    let reports = 0;
    const onChange = () => {
      reports += 1;
    };
    const watcher = new SourceWatcher({ onChange, settleMs: 1 });
    onTestFinished(() => watcher.close());
    watcher.add(file);
    rmSync(folder, { recursive: true });
    const create = () => {
      mkdirSync(folder);
      writeFileSync(file, "");
    };
    if (when !== "after it") create();
    await expect.poll(() => reports, { interval: 1 }).toBeGreaterThan(0);
    if (when === "after it") create();
    watcher.add(file);
    const before = reports;
    writeFileSync(file, "changed");
    await expect.poll(() => reports, { interval: 1 }).toBeGreaterThan(before);
  },
);

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
  const file = join(createFolder(), "word.ts");
  writeFileSync(file, "");
  const watchers = recordWatchers();
  const changes: unknown[] = [];
  const watcher = new SourceWatcher({ onChange: (change) => changes.push(change), settleMs: 1 });
  onTestFinished(() => watcher.close());
  watcher.add(file);
  watchers[0]?.emit("error", new Error("EPERM"));
  watcher.add(file);
  writeFileSync(file, "changed");
  await expect.poll(() => changes, { interval: 1 }).toContainEqual({ paths: [file], isLoaded: true });
  expect(watchers).toHaveLength(2);
});

test("A change that has just settled is not reported after close()", async () => {
  const file = join(createFolder(), "word.ts");
  writeFileSync(file, "");
  const onChange = vi.fn();
  const watcher = new SourceWatcher({ onChange, settleMs: 1 });
  watcher.add(file);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  writeFileSync(file, "changed");
  while (!watcher.isSettling) await setImmediate();
  vi.advanceTimersByTime(1);
  watcher.close();
  await setImmediate();
  expect(onChange).not.toHaveBeenCalled();
});
