import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasRedis, startRedis } from "../test/support/redis-server.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { pinning } from "./machine.ts";
import { printDoubts, printTrials } from "./receive.ts";
import { median, printHeading } from "./report.ts";
import { storedInbox } from "./stored.ts";
import { type BenchOptions, runRounds, type Subject } from "./trial.ts";

const yardstick = "Hono, nothing stored";
const million = 1_000_000;

/** What it costs to have a delivery on the disk before it is answered. */
export async function measureInbox(options: BenchOptions): Promise<void> {
  await using redis = hasRedis ? await startRedis([], { core: pinning?.load }) : undefined;
  const empty = () => storedInbox(0);
  const subjects: readonly Subject[] = [
    { name: "accepted", file: "ours-background.ts", arguments: ["log", "accept"], inbox: empty },
    { name: "accepted and worked", file: "ours-background.ts", arguments: ["log", "work"], inbox: empty },
    { name: "plainjob behind Hono", file: "hono-plainjob.ts", arguments: ["log"], inbox: empty },
    ...(redis
      ? [{ name: "BullMQ behind Hono", file: "hono-bullmq.ts", arguments: ["log"], inbox: () => redis.emptyDatabase() }]
      : []),
    { name: yardstick, file: "hono.ts", arguments: ["log"] },
  ];
  const rounds = await runRounds(subjects, options);
  printHeading(`Answering 202 once it is stored (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, subjects, yardstick);
  printDoubts(rounds);
  const accepted = median((rounds.get("accepted") ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
  await measureStored(options);
  await measureHalfLoad(options, Math.round(accepted / 2));
  rmSync(inboxFolder, { recursive: true, force: true });
  console.log(`\n${describeDisk()}`);
}

/** Whether it costs more where much is stored already. */
async function measureStored(options: BenchOptions): Promise<void> {
  const [ten, many] = [await storedInbox(10), await storedInbox(million)];
  const reference = "10 stored";
  const subjects = [
    { name: reference, inbox: async () => ten },
    { name: "1,000,000 stored", inbox: async () => many },
  ].map((subject): Subject => ({ ...subject, file: "ours-background.ts", arguments: ["log", "accept"] }));
  const rounds = await runRounds(subjects, options);
  printHeading("Accepting into an inbox that holds much already");
  printTrials(rounds, subjects, reference);
}

/** What the sender waits for when there is no rush. */
async function measureHalfLoad(options: BenchOptions, perSecond: number): Promise<void> {
  const subjects: readonly Subject[] = [
    {
      name: "accepted",
      file: "ours-background.ts",
      arguments: ["log", "accept"],
      inbox: () => storedInbox(0),
      perSecond,
    },
    { name: yardstick, file: "hono.ts", arguments: ["log"], perSecond },
  ];
  const rounds = await runRounds(subjects, options);
  printHeading(`At half of the load that it bears: ${perSecond} requests a second`);
  printTrials(rounds, subjects, yardstick);
}

/** The file system, by the number that Linux has for its kind, and what one sync of a page costs. */
function describeDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), "bench-sync-"));
  try {
    const file = openSync(join(folder, "page"), "w");
    const page = Buffer.alloc(4_096, 1);
    const syncs = Array.from({ length: 200 }, () => {
      writeSync(file, page);
      const startedAt = performance.now();
      fdatasyncSync(file);
      return performance.now() - startedAt;
    });
    closeSync(file);
    const kind = statfsSync(folder).type.toString(16);
    return `Disk       file system 0x${kind}; a sync of 4 kB takes ${median(syncs).toFixed(2)} ms (median of 200)`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
