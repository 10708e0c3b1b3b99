import {
  closeSync,
  copyFileSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hasRedis, startRedis } from "../test/support/redis-server.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { pinning } from "./machine.ts";
import { chartThroughput, printDoubts, printTrials } from "./receive.ts";
import { median, printHeading, printNote } from "./report.ts";
import { storedInbox } from "./stored.ts";
import { type BenchOptions, baselineOf, runRounds, type Store, type Subject } from "./trial.ts";

const reference = "Hono, nothing stored";
const million = 1_000_000;

/** Measures the cost of storing a delivery on disk before the response. */
export async function measureInbox(options: BenchOptions): Promise<void> {
  const ours: readonly Subject[] = [
    { name: "accepted", file: "ours-background.ts", arguments: ["log", "accept"], store: newFile },
    { name: "accepted and worked", file: "ours-background.ts", arguments: ["log", "work"], store: newFile },
  ];
  const subjects: readonly Subject[] = [
    ...baselineOf(ours, options),
    ...ours,
    { name: "plainjob behind Hono", file: "hono-plainjob.ts", arguments: ["log"], store: emptyFile },
    ...(hasRedis
      ? [
          { name: "BullMQ behind Hono", core: pinning?.load },
          { name: "BullMQ, Redis on its core", core: pinning?.server },
        ].map(({ name, core }) => ({ name, file: "hono-bullmq.ts", arguments: ["log"], store: () => redisOn(core) }))
      : []),
    { name: reference, file: "hono.ts", arguments: ["log"] },
  ];
  const rounds = await runRounds(subjects, options);
  printHeading(`Store a delivery before the response (202) (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, subjects, reference);
  chartThroughput("Deliveries stored per second, compared with Hono without storage", rounds, subjects, reference);
  printDoubts(rounds);
  const accepted = median((rounds.get("accepted") ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
  await measureStored(options);
  await measureHalfLoad(options, Math.round(accepted / 2));
  rmSync(inboxFolder, { recursive: true, force: true });
  printNote(describeDisk());
}

/** The subject creates the inbox itself, because a baseline cannot open the file of a newer release. */
async function newFile(): Promise<Store> {
  rmSync(join(inboxFolder, "new"), { recursive: true, force: true });
  return { url: `sqlite:${join(inboxFolder, "new", "inbox.db")}` };
}

async function emptyFile(): Promise<Store> {
  return { url: await storedInbox(0) };
}

/**
 * Each trial adds tens of thousands of deliveries that do not run, so the next trial starts with a copy of the
 * original.
 */
async function copyOf(url: string): Promise<Store> {
  const file = join(inboxFolder, "copy", "inbox.db");
  rmSync(dirname(file), { recursive: true, force: true });
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(url.replace("sqlite:", ""), file);
  return { url: `sqlite:${file}` };
}

async function redisOn(core: number | undefined): Promise<Store> {
  const redis = await startRedis([], { core });
  return { url: await redis.emptyDatabase(), close: async () => redis[Symbol.asyncDispose]() };
}

/** Measures whether the number of stored deliveries affects the cost of a delivery. */
async function measureStored(options: BenchOptions): Promise<void> {
  const original = await storedInbox(million);
  const reference = "10 stored";
  const subjects = [
    { name: reference, store: async () => ({ url: await storedInbox(10) }) },
    { name: "1,000,000 stored", store: () => copyOf(original) },
  ].map((subject): Subject => ({ ...subject, file: "ours-background.ts", arguments: ["log", "accept"] }));
  const rounds = await runRounds(subjects, options);
  printHeading("Store deliveries in an inbox with a million deliveries");
  printTrials(rounds, subjects, reference);
}

/** Measures the response time at a low request rate. */
async function measureHalfLoad(options: BenchOptions, perSecond: number): Promise<void> {
  const subjects: readonly Subject[] = [
    {
      name: "accepted",
      file: "ours-background.ts",
      arguments: ["log", "accept"],
      store: emptyFile,
      perSecond,
    },
    { name: reference, file: "hono.ts", arguments: ["log"], perSecond },
  ];
  const rounds = await runRounds(subjects, options);
  printHeading(`At half of the maximum rate: ${perSecond} requests per second`);
  printTrials(rounds, subjects, reference);
}

/** Returns the type of the file system, as Linux numbers it, and the time of one page sync. */
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
