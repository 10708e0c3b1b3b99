import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Logger, LogMethod } from "../../../src/core/log.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { crashPolicy } from "../openers.ts";

/* Runs deliveries of "retrain" for WAIT_MS each. Exits after the delivery EXIT_AFTER, if set. */
const { STORE: store = "", WAIT_MS, LEASE_MS, EXIT_AFTER } = process.env;

const print = (level: number, msg: string) => process.stdout.write(`${JSON.stringify({ level, msg })}\n`);
const silent: LogMethod = () => {};
const log: Logger = {
  debug: silent,
  info: silent,
  warn: (fields: object | string, message?: string) => print(40, message ?? String(fields)),
  error: silent,
  child: () => log,
};

const alive = setInterval(() => {}, 60_000);
const inbox = new SqliteInbox({
  file: join(store, "inbox.db"),
  pollMs: 20,
  leaseMs: Number(LEASE_MS),
  now: Date.now,
  log: log,
});
inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async ({ id }) => {
    print(30, "started");
    await wait(Number(WAIT_MS));
    // The process stays alive until the end of the attempt is stored.
    if (id === EXIT_AFTER) clearInterval(alive);
    return { status: "succeeded", result: undefined };
  },
});
