/** The thread of a `LeaseRenewer`. Loads BullMQ, and stays connected to the inbox server, only while the event loop is blocked. */
import { parentPort, workerData } from "node:worker_threads";
import type { IQueueBackend } from "bullmq";
import { describeError } from "../../core/describe.ts";
import { shareRun } from "../../core/time.ts";
import { LoopMonitor } from "../loop-monitor.ts";
import { countsPerLease, type HeldLease, type LeaseRenewerData, type SlotMessage } from "./lease-renewer.ts";

const { url, leaseMs, maxBlockedMs, loopCounter }: LeaseRenewerData = workerData;

const slots = new Map<number, HeldLease>();
parentPort?.on("message", ({ slot, lease }: SlotMessage) => slots.set(slot, lease));

const loop = new LoopMonitor(loopCounter);
let server: IQueueBackend | undefined;

async function update(): Promise<void> {
  const blockedMs = loop.blockedMs();
  if (blockedMs > leaseMs / 8 && blockedMs < maxBlockedMs) return renew();
  const open = server;
  server = undefined;
  await open?.close();
}

async function renew(): Promise<void> {
  server ??= await connect();
  for (const [endpoint, leases] of Map.groupBy(slots.values(), (lease) => lease.endpoint)) {
    const [ids, tokens] = [leases.map(({ jobId }) => jobId), leases.map(({ token }) => token)];
    // Ignores leases that are no longer held.
    await server.forQueue(endpoint).extendLocks(ids, tokens, leaseMs);
  }
}

async function connect(): Promise<IQueueBackend> {
  if (/^rediss?:/.test(url)) return (await import("./redis.ts")).openRedisLeases(url, report);
  return (await import("./postgres.ts")).openPostgresLeases(url, report);
}

function report(error: unknown): void {
  parentPort?.postMessage(new Error(describeError(error).message));
}

setInterval(
  shareRun(() => update().catch(report)),
  leaseMs / countsPerLease,
);
