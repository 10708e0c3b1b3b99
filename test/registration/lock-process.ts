import { setTimeout as wait } from "node:timers/promises";
import { withFileLock } from "../../src/registration/file-lock.ts";

/** A process that locks a file, says so, and keeps it locked until it is killed. */
await withFileLock({ file: process.argv[2] ?? "", waitMs: 0 }, async () => {
  console.log("locked");
  await wait(600_000);
});
