import { flushCompileCache } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import type { Outcome } from "../../src/payload/parse.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { crashPolicy, openers } from "./openers.ts";

/*
 * Runs deliveries of "retrain". IDs that start with "poison" kill the process: in the first attempt once BESIDE other
 * deliveries are running, in later attempts immediately. IDs that start with "beside" never end in the first attempt
 * and succeed in the second.
 */
const { ENGINE = "", STORE: store = "", BESIDE = "0" } = process.env;
const name = (["SQLite", "Bucket", "PostgreSQL", "Redis"] as const).find((known) => known === ENGINE);
if (!name) throw new Error(`There is no engine "${ENGINE}".`);
const inbox = await openers[name]({ store, log: createMemoryLogger(), leaseMs: 300 });
// The process is killed, so it does not write this at its exit.
flushCompileCache();
const running = new Set<string>();

function print(msg: "started" | "ended", id: string): void {
  process.stdout.write(`${JSON.stringify({ level: 30, msg, id, beside: running.size })}\n`);
}

inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async ({ id, attempt }): Promise<Outcome> => {
    print("started", id);
    running.add(id);
    if (id.startsWith("poison")) {
      while (attempt === 1 && running.size <= Number(BESIDE)) await wait(5);
      process.kill(process.pid, "SIGKILL");
    }
    if (attempt === 1 && id.startsWith("beside")) await new Promise(() => {});
    // Long enough for another delivery to start in the meantime.
    await wait(50);
    running.delete(id);
    print("ended", id);
    return { status: "succeeded", result: undefined };
  },
});

// An open inbox does not keep the process alive.
setInterval(() => {}, 60_000);
