import { monitorEventLoopDelay } from "node:perf_hooks";
import { WebhooksServer } from "../../src/index.ts";
import { createNodeLogger } from "../../src/receiver/node/node-logger.ts";
import { openFaultInbox } from "./inbox-opener.ts";

/*
 * Runs a receiver whose handlers block the event loop or always fail. The routes below /control let the test use its
 * inbox.
 */

const { INBOX_URL: url = "", LEASE_MS, CLOCK_BY = "0", ENDPOINTS = "0" } = process.env;
const logger = createNodeLogger();
const now = () => Date.now() + Number(CLOCK_BY);
const leaseMs = LEASE_MS === undefined ? {} : { leaseMs: Number(LEASE_MS) };
const server = new WebhooksServer({
  logger,
  now,
  inbox: await openFaultInbox(url, { ...leaseMs, now, log: logger }),
});

server.webhook("target", { background: true }, (_payload, { delivery, log }) => {
  log.info({ id: delivery.id }, "target ran");
});

server.webhook("blocking", { background: true, timeout: "10m" }, (_payload, { delivery, log }) => {
  log.info("work started");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(delivery.id.split("-").at(-1)));
});

let fails = true;
server.webhook("failing", { background: true, attempts: 1, concurrency: 1 }, () => {
  if (fails) throw new Error("It fails.");
});

server.webhook("brief", { background: true, retention: "1ms" }, () => {});

for (let index = 0; index < Number(ENDPOINTS); index += 1) {
  server.webhook(`numbered-${index}`, { background: true }, (_payload, { log }) => {
    log.info("numbered ran");
  });
}

/** Measures how long the event loop was blocked while `change` ran. */
async function measure(change: () => Promise<number>) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const startedAt = performance.now();
  const count = await change();
  const tookMs = performance.now() - startedAt;
  delay.disable();
  return { count, tookMs, delayMs: delay.max / 1e6 };
}

server.app.post("/control/replay-dead", async (context) => {
  fails = false;
  return context.json(await measure(() => server.inbox.replayDead("failing")));
});

server.app.post("/control/counts", async (context) => context.json(await server.inbox.counts()));
server.app.post("/control/prune", async (context) => context.json(await measure(() => server.inbox.prune())));

await server.launch();
