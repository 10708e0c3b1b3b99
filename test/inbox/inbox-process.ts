import { flushCompileCache } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import type { Logger, LogMethod } from "../../src/core/log.ts";
import type { ClaimedDelivery } from "../../src/inbox/inbox.ts";
import type { Outcome } from "../../src/payload/parse.ts";
import { crashPolicy, openers } from "./openers.ts";

/*
 * Runs deliveries of "retrain", and prints the start and the end of each. The start of an ID decides what the handler does:
 *
 * - "poison": kills the process, in the first attempt once BESIDE other deliveries are running.
 * - "beside": never ends in the first attempt.
 * - "blocks-MS": blocks the event loop.
 * - "held": waits for SIGUSR2.
 * - "waits-MS": waits. With "-last" at the end, the process then lets itself end.
 */
const { ENGINE = "", STORE: store = "", LEASE_MS = "300", MAX_BLOCKED_MS = "600000", BESIDE = "0" } = process.env;
const name = (["SQLite", "Bucket", "PostgreSQL", "Redis"] as const).find((known) => known === ENGINE);
if (!name) throw new Error(`There is no engine "${ENGINE}".`);

const print = (level: number, msg: string, fields: object = {}) =>
  process.stdout.write(`${JSON.stringify({ level, msg, ...fields })}\n`);
const silent: LogMethod = () => {};
const warn = (fields: object | string, message?: string) => print(40, message ?? String(fields));
const log: Logger = { debug: silent, info: silent, warn, error: silent, child: () => log };

// An open inbox does not keep the process alive.
const alive = setInterval(() => {}, 60_000);
const released = Promise.withResolvers<void>();
process.on("SIGUSR2", released.resolve);
const limits = { leaseMs: Number(LEASE_MS), maxBlockedMs: Number(MAX_BLOCKED_MS) };
const inbox = await openers[name]({ store, log, ...limits });
// A process that is killed does not write this at its exit.
flushCompileCache();
const running = new Set<string>();

inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async (claimed): Promise<Outcome> => {
    print(30, "started", claimed);
    running.add(claimed.id);
    await handle(claimed);
    running.delete(claimed.id);
    print(30, "ended", claimed);
    return { status: "succeeded", result: undefined };
  },
});
print(30, "ready");

async function handle({ id, attempt }: ClaimedDelivery): Promise<void> {
  const [kind, ms] = id.split("-");
  if (kind === "poison") {
    while (attempt === 1 && running.size <= Number(BESIDE)) await wait(5);
    process.kill(process.pid, "SIGKILL");
  }
  if (kind === "beside" && attempt === 1) await new Promise(() => {});
  if (kind === "blocks") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
  if (kind === "held") await released.promise;
  // By default, long enough for another delivery to start in the meantime.
  if (kind === "waits" || kind === "other" || kind === "beside") await wait(Number(kind === "waits" ? ms : 50));
  // The process stays alive until the end of the attempt is stored.
  if (id.endsWith("-last")) clearInterval(alive);
}
