import type { Outcome } from "../../../src/delivery.ts";
import { WebhookError } from "../../../src/errors.ts";
import { openBullmqInbox } from "../../../src/inbox/bullmq/open.ts";
import type { Task } from "../../../src/inbox/inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/*
 * Runs "retrain". The id of a delivery says what its handler does: "blocks-MS" blocks the event loop, "held-…" waits for
 * SIGUSR2, "poison-…" kills the process, "bystander-…" never ends in its first attempt.
 */
const { STORE: url = "", LEASE_MS = "1000", MAX_BLOCKED_MS, KILL_AT = "1" } = process.env;
const inbox = await openBullmqInbox({
  url,
  log: createMemoryLogger,
  now: Date.now,
  leaseMs: Number(LEASE_MS),
  ...(MAX_BLOCKED_MS !== undefined && { maxBlockedMs: Number(MAX_BLOCKED_MS) }),
});
const released = Promise.withResolvers<void>();
process.on("SIGUSR2", released.resolve);
const running = new Set<string>();

inbox.work({
  endpoint: "retrain",
  concurrency: 4,
  policy: { attempts: 2, waitAfter: () => 1, totalWaitMs: 0 },
  retentionMs: 60_000,
  run: async (task) => {
    running.add(task.id);
    say("took", { ...task, beside: running.size - 1 });
    const outcome = await handle(task).finally(() => running.delete(task.id));
    say("ended", task);
    return outcome;
  },
});
say("ready", {});

async function handle({ id, attempt }: Task): Promise<Outcome> {
  const succeeded: Outcome = { status: "succeeded", result: undefined };
  if (id.startsWith("blocks-")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(id.slice(7)));
  if (id.startsWith("held-")) await released.promise;
  if (id.startsWith("bystander-") && attempt === 1) await new Promise(() => {});
  if (id.startsWith("poison-")) {
    while (attempt === 1 && running.size < Number(KILL_AT)) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(process.pid, "SIGKILL");
  }
  if (!id.startsWith("fails-")) return succeeded;
  return { status: "failed", error: new WebhookError("It failed.", { code: "HANDLER_FAILED", retryable: false }) };
}

function say(msg: string, fields: object): void {
  process.stdout.write(`${JSON.stringify({ level: 30, msg, ...fields })}\n`);
}

// An inbox alone keeps no process alive.
setInterval(() => {}, 60_000);
