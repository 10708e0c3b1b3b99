import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Logger, LogMethod } from "../../../src/core/logger.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { crashPolicy } from "../openers.ts";

/* Runs deliveries of "retrain", each of which takes WAIT_MS, and lives until it has run EXIT_AFTER, or for good. */
const { STORE: store = "", WAIT_MS, LEASE_MS, EXIT_AFTER } = process.env;

const say = (level: number, msg: string) => process.stdout.write(`${JSON.stringify({ level, msg })}\n`);
const silent: LogMethod = () => {};
const log: Logger = {
  debug: silent,
  info: silent,
  warn: (fields: object | string, message?: string) => say(40, message ?? String(fields)),
  error: silent,
  child: () => log,
};

const alive = setInterval(() => {}, 60_000);
const inbox = new SqliteInbox({
  file: join(store, "inbox.db"),
  pollMs: 20,
  leaseMs: Number(LEASE_MS),
  now: Date.now,
  log: () => log,
});
inbox.work({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async ({ id }) => {
    say(30, "started");
    await wait(Number(WAIT_MS));
    // What is left to do, such as the write of its end, keeps the process alive by itself.
    if (id === EXIT_AFTER) clearInterval(alive);
    return { status: "succeeded", result: undefined };
  },
});
