import { rmSync } from "node:fs";
import { join } from "node:path";
import { Child } from "./child.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { pinning } from "./machine.ts";
import { printDoubts, printTrials } from "./receive.ts";
import { printHeading } from "./report.ts";
import { type BenchOptions, runRounds, type Store, type Subject } from "./trial.ts";

const reference = "SQLite file";
/** One connection waits for one record, so more connections show the throughput at a high latency. */
const connections = 512;

/** Measures deliveries that are stored in a bucket before the response, with several latencies of the bucket. */
export async function measureBucket(options: BenchOptions): Promise<void> {
  const accepting = { file: "ours-background.ts", arguments: ["log", "accept"], load: { connections } };
  const subjects: readonly Subject[] = [
    ...[0, 100, 300].map((latencyMs) => ({
      ...accepting,
      name: `bucket with ${latencyMs} ms`,
      store: () => bucketWith(latencyMs),
    })),
    { ...accepting, name: reference, store: newFile },
  ];
  const rounds = await runRounds(subjects, options);
  printHeading(`Store a delivery in a bucket before the response (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, subjects, reference);
  printDoubts(rounds);
}

async function bucketWith(latencyMs: number): Promise<Store> {
  const hub = new Child({ file: "senders/bucket.ts", arguments: [String(latencyMs)], core: pinning?.load });
  const { INBOX_URL: url = "", ...variables } = await hub.next<Record<string, string>>();
  Object.assign(process.env, variables);
  return { url, close: () => hub.stop() };
}

async function newFile(): Promise<Store> {
  rmSync(inboxFolder, { recursive: true, force: true });
  return { url: `sqlite:${join(inboxFolder, "new", "inbox.db")}` };
}
