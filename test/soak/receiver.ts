import { setTimeout as pause } from "node:timers/promises";
import { NonRetriableError, WebhooksServer } from "hub-webhooks";

/*
 * A receiver of the built package, written as a user would write it. The start of a delivery's id decides its outcome, so
 * that the sender can predict it. The process answers each message with its memory use.
 */

const server = new WebhooksServer({ metrics: true, bodyLimit: 4 * 1024 * 1024 });

server.webhook("inline", async (_payload, { delivery: { id } }) => {
  if (id.startsWith("fails")) throw new Error("This delivery always fails.");
  if (id.startsWith("slow")) await pause(150);
  return { id };
});

server.webhook(
  "background",
  { background: true, attempts: 5, backoff: { first: 200, max: "2s" }, concurrency: 8 },
  async (_payload, { delivery: { id, attempt }, signal }) => {
    if (id.startsWith("poison")) throw new Error("This delivery always fails.");
    if (id.startsWith("unretriable")) throw new NonRetriableError("This delivery must not be retried.");
    if (id.startsWith("second-try") && attempt === 1) throw new Error("This delivery succeeds at its second attempt.");
    if (id.startsWith("slow")) await pause(1_000, undefined, { signal });
  },
);

/** The resources that the process reports. */
export interface Measurement {
  /** In bytes. `heapUsed` and `external` are measured after a garbage collection. */
  rss: number;
  heapUsed: number;
  external: number;
}

process.on("message", () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const measurement: Measurement = { rss, heapUsed, external };
  process.send?.(measurement);
});
// The parent process has exited.
process.on("disconnect", () => process.exit(1));

await server.launch({ host: "127.0.0.1", shutdownGrace: "20s" });
