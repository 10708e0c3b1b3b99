import { join } from "node:path";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { crashPolicy } from "../openers.ts";

/* Runs deliveries of "retrain". Each handler blocks the event loop for BLOCKED_MS. */
const { STORE: store = "", BLOCKED_MS, LEASE_MS, MAX_BLOCKED_MS = "600000" } = process.env;
const inbox = new SqliteInbox({
  file: join(store, "inbox.db"),
  pollMs: 20,
  leaseMs: Number(LEASE_MS),
  maxBlockedMs: Number(MAX_BLOCKED_MS),
  now: Date.now,
  log: createMemoryLogger(),
});
inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async () => {
    process.stdout.write(`${JSON.stringify({ level: 30, msg: "started" })}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(BLOCKED_MS));
    return { status: "succeeded", result: undefined };
  },
});

// An open inbox does not keep the process alive.
setInterval(() => {}, 60_000);
