import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { inboxFile } from "../inbox-file.ts";

/** Mounts a FUSE folder until the test ends. If that is impossible, logs the reason and returns `undefined`. */
export function mountFuse(): string | undefined {
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
