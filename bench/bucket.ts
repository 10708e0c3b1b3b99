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

/** Measures deliveries that are stored in a bucket before the response: throughput at several latencies, and requests. */
export async function measureBucket(options: BenchOptions): Promise<void> {
  const accepting = { file: "ours-background.ts", arguments: ["log", "accept"], load: { connections } };
  const subjects: readonly Subject[] = [
    ...[0, 100, 300].map((latencyMs) => ({
      ...accepting,
      name: `bucket with ${latencyMs} ms`,
      store: () => bucketWith(latencyMs),
    })),
    // At a low rate, each delivery has records of its own.
    ...[
      { name: "100 ms, worked, 2 per second", load: { connections: 1 }, perSecond: 2 },
      { name: "100 ms, worked, 20 connections", load: { connections: 20 } },
    ].map((subject) => ({
      ...subject,
      file: "ours-background.ts",
      arguments: ["log", "work"],
      store: () => bucketWith(100),
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
  return { url, countRequests: () => hub.ask<number>("count"), close: () => hub.stop() };
}

async function newFile(): Promise<Store> {
  rmSync(inboxFolder, { recursive: true, force: true });
  return { url: `sqlite:${join(inboxFolder, "new", "inbox.db")}` };
}
