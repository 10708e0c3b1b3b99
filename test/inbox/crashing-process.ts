import { setTimeout as wait } from "node:timers/promises";
import type { Outcome } from "../../src/payload/delivery.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { crashPolicy, openers } from "./openers.ts";

/*
 * Runs the deliveries of "retrain" until one whose id starts with "poison" kills the process: at its first attempt when
 * BESIDE others run as well, later at once. The others wait to be killed in their first attempt and succeed after that.
 */
const { ENGINE = "", STORE: store = "", BESIDE = "0" } = process.env;
const name = (["SQLite", "PostgreSQL", "Redis"] as const).find((known) => known === ENGINE);
if (!name) throw new Error(`There is no engine "${ENGINE}".`);
const inbox = await openers[name]({ store, log: createMemoryLogger, leaseMs: 300 });
const running = new Set<string>();

function say(msg: "started" | "ended", id: string): void {
  process.stdout.write(`${JSON.stringify({ level: 30, msg, id, beside: running.size })}\n`);
}

inbox.work({
  endpoint: "retrain",
  concurrency: 4,
  policy: crashPolicy,
  retentionMs: 60_000,
  run: async ({ id, attempt }): Promise<Outcome> => {
    say("started", id);
    running.add(id);
    if (id.startsWith("poison")) {
      while (attempt === 1 && running.size <= Number(BESIDE)) await wait(5);
      process.kill(process.pid, "SIGKILL");
    }
    if (attempt === 1 && id.startsWith("beside")) await new Promise(() => {});
    // Long enough for another delivery to start beside it.
    await wait(50);
    running.delete(id);
    say("ended", id);
    return { status: "succeeded", result: undefined };
  },
});

// An inbox alone keeps no process alive.
setInterval(() => {}, 60_000);
