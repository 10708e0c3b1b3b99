import { setTimeout as wait } from "node:timers/promises";
import { withFileLock } from "../../src/registration/state.ts";

/** Locks a file until the process is killed. */
await withFileLock({ file: process.argv[2] ?? "", timeoutMs: 0 }, async () => {
  console.log("locked");
  await wait(600_000);
});
