import { openInbox } from "../../src/inbox/open-inbox.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import { createConsoleLogger } from "../../src/receiver/logs.ts";
import { body } from "../delivery.ts";

/** The questions to this process. */
export type DrainQuestion = { accept: { from: number; count: number } } | { work: { until: number } };

/** The answers of this process. */
export type DrainAnswer = { seconds: number; mebibytes: number[] } | { seconds: number; ids: string[] };

const inFlight = 64;
const endpoint = "bench";
const inbox = await openInbox({ url: process.env.INBOX_URL, log: createConsoleLogger(), now: Date.now });

/** Accepts deliveries as from this number of connections, and reports the resident memory after each quarter. */
async function accept({ from, count }: { from: number; count: number }): Promise<DrainAnswer> {
  const startedAt = performance.now();
  const mebibytes: number[] = [];
  let next = 0;
  const one = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      await inbox.accept({ id: `delivery-${from + number}`, endpoint, body, receivedAt: new Date() });
      if ((number + 1) % Math.ceil(count / 4) === 0) mebibytes.push(process.memoryUsage().rss / 2 ** 20);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return { seconds: (performance.now() - startedAt) / 1_000, mebibytes };
}

/** Runs deliveries until this number has succeeded in all processes, and reports which of them ran in this process. */
async function work({ until }: { until: number }): Promise<DrainAnswer> {
  const startedAt = performance.now();
  const ids: string[] = [];
  let lastAt = startedAt;
  inbox.startWorker({
    endpoint,
    concurrency: 16,
    policy: createRetryPolicy({ attempts: 5 }),
    retentionMs: 86_400_000,
    run: async ({ id }) => {
      ids.push(id);
      lastAt = performance.now();
      return { status: "succeeded", result: undefined };
    },
  });
  while (((await inbox.counts())[endpoint]?.succeeded ?? 0) < until)
    await new Promise((resolve) => setTimeout(resolve, 100));
  return { seconds: (lastAt - startedAt) / 1_000, ids };
}

process.on("message", async (question: DrainQuestion) => {
  process.send?.("accept" in question ? await accept(question.accept) : await work(question.work));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
