import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { inboxFile } from "../inbox-file.ts";

/** A folder of FUSE that is gone after the test; `undefined`, with the reason, where none can be mounted. */
export function mountFuse(): string | undefined {
  const below = dirname(inboxFile());
  const at = join(dirname(inboxFile()), "mounted");
  mkdirSync(at);
  const { status, error, stderr } = spawnSync("bindfs", [below, at], { encoding: "utf8" });
  if (status !== 0) {
    console.log(`no FUSE file system could be mounted, so it was not tried: ${error?.message ?? stderr}`);
    return undefined;
  }
  onTestFinished(() => void spawnSync("umount", ["-l", at]));
  return at;
}
