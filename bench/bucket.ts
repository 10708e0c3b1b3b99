import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { parseBucketUrl, readBucketCredentials } from "../src/inbox/bucket/bucket-url.ts";
import { openBucketInbox } from "../src/inbox/bucket/open-bucket.ts";
import { openS3ObjectStore } from "../src/inbox/bucket/s3.ts";
import { storeSnapshot } from "../src/inbox/bucket/snapshots.ts";
import { createConsoleLogger } from "../src/receiver/logs.ts";
import { Child } from "./child.ts";
import { deliver } from "./cold-start.ts";
import { body, secret } from "./delivery.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { pinning } from "./machine.ts";
import { printDoubts, printTrials } from "./receive.ts";
import { printHeading, printTable } from "./report.ts";
import type { BucketRequest } from "./senders/bucket.ts";
import { type BenchOptions, runRounds, type Store, type Subject } from "./trial.ts";
import { variedInbox } from "./varied-inbox.ts";

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
  const { hub, url } = await startBucket(latencyMs);
  return { url, countRequests: () => hub.ask<number>("count"), close: () => hub.stop() };
}

async function newFile(): Promise<Store> {
  rmSync(inboxFolder, { recursive: true, force: true });
  return { url: `sqlite:${join(inboxFolder, "new", "inbox.db")}` };
}

async function startBucket(latencyMs: number): Promise<{ hub: Child; url: string }> {
  const hub = new Child({ file: "senders/bucket.ts", arguments: [String(latencyMs)], core: pinning?.load });
  const { INBOX_URL: url = "", ...variables } = await hub.next<Record<string, string>>();
  Object.assign(process.env, variables);
  return { hub, url };
}

/** The records since the snapshot: half of those after which the next snapshot is due. */
const newRecords = 500;

/** Measures a server that starts with many deliveries in a bucket, such as a Space that wakes up, until it has stored another one. */
export async function measureWaking({ rounds }: BenchOptions): Promise<void> {
  printHeading(`Start with an inbox in a bucket: milliseconds from process start (lowest of ${rounds})`);
  const rows: string[][] = [];
  for (const stored of [10_000, 100_000]) {
    const { hub, url } = await startBucket(0);
    Object.assign(process.env, { INBOX_URL: url, WEBHOOK_SECRET: secret });
    await fillBucket(url, stored);
    for (const latencyMs of [0, 50]) {
      await hub.ask({ latencyMs });
      const starts: Waking[] = [];
      await wake(hub);
      for (let round = 1; round <= rounds; round += 1) starts.push(await wake(hub));
      // Other programs only make a start slower.
      const lowest = (read: (start: Waking) => number) => Math.min(...starts.map(read)).toFixed(0);
      rows.push([
        `${stored.toLocaleString("en")} deliveries, ${latencyMs} ms`,
        lowest(({ importedMs }) => importedMs),
        lowest(({ openedMs }) => openedMs),
        lowest(({ listeningMs }) => listeningMs),
        lowest(({ acceptedMs }) => acceptedMs),
        lowest(({ cpuMs }) => cpuMs),
        lowest(({ requests }) => requests),
        lowest(({ roundTrips }) => roundTrips),
        Math.min(...starts.map(({ bytes }) => bytes / 1e6)).toFixed(1),
      ]);
      await hub.ask({ latencyMs: 0 });
    }
    await hub.stop();
  }
  printTable(["", "imported", "restored", "listening", "first 202", "CPU ms", "requests", "round trips", "MB"], rows);
}

/** Stores a snapshot with this number of deliveries, and records of pending ones. */
async function fillBucket(url: string, deliveries: number): Promise<void> {
  const readVariable = (name: string) => process.env[name];
  const location = parseBucketUrl(url, readVariable);
  const store = await openS3ObjectStore({ location, credentials: readBucketCredentials(url, readVariable) });
  const file = (await variedInbox(deliveries)).url.slice("sqlite:".length);
  const database = new DatabaseSync(file);
  database.exec("UPDATE log_position SET number = 1; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const content = readFileSync(file);
  async function* parts() {
    for (let at = 0; at < content.length; at += 8 * 2 ** 20) {
      yield gzipSync(content.subarray(at, at + 8 * 2 ** 20), { level: 1 });
    }
  }
  const copy = { number: 1, fences: [], bytes: content.length, parts: parts() };
  await storeSnapshot(store, copy, new AbortController().signal);
  const log = createConsoleLogger();
  const inbox = await openBucketInbox({ store, spaceId: undefined, takeOver: false, log, now: Date.now });
  for (let record = 0; record < newRecords; record += 1) {
    await inbox.accept({ endpoint: "bench", id: crypto.randomUUID(), body, receivedAt: new Date() });
  }
  await inbox.close(0);
}

/** The start of a server. Times are milliseconds since the start of its process. */
interface Waking {
  importedMs: number;
  openedMs: number;
  listeningMs: number;
  acceptedMs: number;
  /** The CPU time of the process until it listens. */
  cpuMs: number;
  /** The requests to the bucket before the first 202. */
  requests: number;
  /** The longest chain of requests, each of which started after the end of the previous one. */
  roundTrips: number;
  bytes: number;
}

async function wake(hub: Child): Promise<Waking> {
  await hub.ask("trace");
  const server = new Child({ file: "subjects/waking.js" });
  try {
    const { port, startedAt, ...times } = await server.next<Record<string, number>>(60_000);
    if (port === undefined || startedAt === undefined) throw new Error("The server has sent no times.");
    const { importedAt = 0, openedAt = 0, listeningAt = 0, cpuMs = 0 } = times;
    if (openedAt === 0) throw new Error("The server listens before its inbox is open.");
    await deliver(port, 202);
    const acceptedAt = performance.timeOrigin + performance.now();
    const trace = (await hub.ask<BucketRequest[]>("trace")).filter((request) => request.endedAt <= acceptedAt);
    return {
      importedMs: importedAt - startedAt,
      openedMs: openedAt - startedAt,
      listeningMs: listeningAt - startedAt,
      acceptedMs: acceptedAt - startedAt,
      cpuMs,
      requests: trace.length,
      roundTrips: countRoundTrips(trace),
      bytes: trace.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  } finally {
    // Releases the inbox, so that the next start does not wait for a heartbeat to expire.
    await server.ask("close").catch(() => {});
    await server.stop();
  }
}

function countRoundTrips(trace: readonly BucketRequest[]): number {
  let count = 0;
  let endOfTrip = Number.NEGATIVE_INFINITY;
  // The request that ends first ends a round trip for all requests that start later.
  for (const { startedAt, endedAt } of trace.toSorted((one, other) => one.endedAt - other.endedAt)) {
    if (startedAt < endOfTrip) continue;
    count += 1;
    endOfTrip = endedAt;
  }
  return count;
}
