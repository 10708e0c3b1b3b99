import { flushCompileCache } from "node:module";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { crashPolicy, openers } from "./openers.ts";

/* Claims deliveries of "retrain" and prints them. Its handlers never finish. */
const { ENGINE = "", STORE: store = "" } = process.env;
const name = (["SQLite", "Bucket", "PostgreSQL", "Redis"] as const).find((known) => known === ENGINE);
if (!name) throw new Error(`There is no engine "${ENGINE}".`);
const inbox = await openers[name]({ store, log: createMemoryLogger(), leaseMs: 300 });
// The process is killed, so it does not write this at its exit.
flushCompileCache();
inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: ({ id, attempt }) => {
    process.stdout.write(`${JSON.stringify({ level: 30, msg: "claimed", id, attempt })}\n`);
    return new Promise(() => {});
  },
});

// An open inbox does not keep the process alive.
setInterval(() => {}, 60_000);
