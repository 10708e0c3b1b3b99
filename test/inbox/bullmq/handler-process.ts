import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import type { ClaimedDelivery } from "../../../src/inbox/inbox.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/*
 * Runs deliveries of "retrain". The handler of "blocks-MS" blocks the event loop for MS milliseconds. The handler of
 * "held-…" waits for SIGUSR2.
 */
const { STORE: url = "", LEASE_MS = "1000", MAX_BLOCKED_MS } = process.env;
const inbox = await openBullmqInbox({
  url,
  log: createMemoryLogger(),
  now: Date.now,
  leaseMs: Number(LEASE_MS),
  ...(MAX_BLOCKED_MS !== undefined && { maxBlockedMs: Number(MAX_BLOCKED_MS) }),
});
const released = Promise.withResolvers<void>();
process.on("SIGUSR2", released.resolve);

inbox.startWorker({
  endpoint: "retrain",
  concurrency: 4,
  policy: { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 },
  retentionMs: 60_000,
  run: async (claimed) => {
    print("claimed", claimed);
    const outcome = await handle(claimed);
    print("ended", claimed);
    return outcome;
  },
});
print("ready", {});

async function handle({ id }: ClaimedDelivery): Promise<Outcome> {
  if (id.startsWith("blocks-")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(id.slice(7)));
  if (id.startsWith("held-")) await released.promise;
  return { status: "succeeded", result: undefined };
}

function print(msg: string, fields: object): void {
  process.stdout.write(`${JSON.stringify({ level: 30, msg, ...fields })}\n`);
}

// An open inbox does not keep the process alive.
setInterval(() => {}, 60_000);
