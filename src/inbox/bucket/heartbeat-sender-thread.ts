/** The thread of `startHeartbeatSender`. Opens the store when the event loop is first blocked. */
import { parentPort, workerData } from "node:worker_threads";
import { LoopMonitor } from "../loop-monitor.ts";
import type { ObjectStore } from "./object-store.ts";
import type { HeartbeatSenderData } from "./ownership.ts";

const data: HeartbeatSenderData = workerData;
const { intervalMs, maxBlockedMs } = data;

const loop = new LoopMonitor(data.loopCounter);
let store: ObjectStore | undefined;
let sentAt = Number.NEGATIVE_INFINITY;
let sending: Promise<void> | undefined;

async function send(): Promise<void> {
  const { openS3ObjectStore } = await import("./s3.ts");
  store ??= await openS3ObjectStore(data.connection);
  const content = { ...data.heartbeat, position: Number(Atomics.load(data.position, 0)) };
  await store.put(data.key, new TextEncoder().encode(JSON.stringify(content)));
}

function sendIfBlocked(): void {
  const blockedMs = loop.blockedMs();
  const isDue = performance.now() - sentAt >= intervalMs;
  if (sending || !isDue || blockedMs < intervalMs / 4 || blockedMs > maxBlockedMs) return;
  sentAt = performance.now();
  sending = send()
    .catch((error: Error) => parentPort?.postMessage(new Error(error.message)))
    .finally(() => {
      sending = undefined;
    });
}

const timer = setInterval(sendIfBlocked, data.countIntervalMs);
parentPort?.once("message", async () => {
  clearInterval(timer);
  await sending;
  process.exit();
});
