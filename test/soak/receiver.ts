import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { NonRetriableError, WebhooksServer } from "hub-webhooks";

/*
 * A receiver of the built package as a user would write one. What becomes of a delivery follows from the beginning of
 * its id, so that whoever sent it knows what to expect. What it holds is told to the process that started it.
 */

const server = new WebhooksServer({ metrics: true, bodyLimit: 4 * 1024 * 1024 });

server.webhook("inline", async (_payload, { delivery: { id } }) => {
  if (id.startsWith("fails")) throw new Error("As it was told to.");
  if (id.startsWith("slow")) await pause(150);
  return { id };
});

server.webhook(
  "background",
  { background: true, attempts: 5, backoff: { first: 200, max: "2s" }, concurrency: 8 },
  async (_payload, { delivery: { id, attempt }, signal }) => {
    if (id.startsWith("poison")) throw new Error("This one never works.");
    if (id.startsWith("hopeless")) throw new NonRetriableError("This one cannot work.");
    if (id.startsWith("second-try") && attempt === 1) throw new Error("It works the next time.");
    if (id.startsWith("slow")) await pause(1_000, undefined, { signal });
  },
);

/** What a process holds, as it tells it itself. */
export interface Holding {
  /** All in bytes. `heapUsed` and `external` after its garbage was collected. */
  rss: number;
  heapUsed: number;
  external: number;
  /** How late timers were since it was last asked, in milliseconds. */
  delayP99: number;
  delayMax: number;
}

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

process.on("message", () => {
  const [delayP99, delayMax] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const holding: Holding = { rss, heapUsed, external, delayP99, delayMax };
  process.send?.(holding);
  // The collection just now is not to count.
  setImmediate(() => delay.reset());
});
// Who started it is gone.
process.on("disconnect", () => process.exit(1));

await server.launch({ host: "127.0.0.1", shutdownGrace: "20s" });
