import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SourceWatcher } from "../../src/dev/source-watcher.ts";
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
