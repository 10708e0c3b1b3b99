import { monitorEventLoopDelay } from "node:perf_hooks";
import { WebhooksServer } from "../../src/index.ts";
import { createNodeLogger } from "../../src/server/node/logger.ts";
import { openFaultInbox } from "./inbox-opener.ts";

/*
 * A receiver whose handlers block the event loop, end the process, or fail for good. What is below /control is for the
 * test that it is part of.
 */

const { INBOX_URL: url = "", LEASE_MS, CLOCK_BY = "0", ENDPOINTS = "0", NO_BRIEF } = process.env;
const logger = createNodeLogger();
const now = () => Date.now() + Number(CLOCK_BY);
const leaseMs = LEASE_MS === undefined ? {} : { leaseMs: Number(LEASE_MS) };
const server = new WebhooksServer({
  logger,
  now,
  inbox: await openFaultInbox(url, { ...leaseMs, now, log: () => logger }),
});

const atOnce = { first: 1, max: 1 };

server.webhook("target", { background: true }, (_payload, { delivery, log }) => {
  log.info({ id: delivery.id }, "target ran");
});

server.webhook("blocking", { background: true, timeout: "10m" }, (_payload, { delivery, log }) => {
  log.info("work started");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(delivery.id.split("-").at(-1)));
});

// The poison ends the process as soon as the others run beside it, and at once when it is tried again.
let besides = 0;
server.webhook("crashing", { background: true, attempts: 2, backoff: atOnce }, async (_payload, { delivery, log }) => {
  log.info({ id: delivery.id }, "work started");
  besides += 1;
  if (delivery.id === "poison") {
    while (delivery.attempt === 1 && besides < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(process.pid, "SIGKILL");
  }
  if (delivery.attempt === 1) await new Promise(() => {});
  besides -= 1;
});

let fails = true;
server.webhook("failing", { background: true, attempts: 1, concurrency: 50 }, () => {
  if (fails) throw new Error("It fails.");
});

if (NO_BRIEF === undefined) server.webhook("brief", { background: true, retention: "1h" }, () => {});

for (let index = 0; index < Number(ENDPOINTS); index += 1) {
  server.webhook(`numbered-${index}`, { background: true }, (_payload, { log }) => {
    log.info("numbered ran");
  });
}

server.app.post("/control/prune", async (context) => context.json({ pruned: await server.inbox.prune() }));

// Replays all that is dead, and measures for how long the event loop was kept from anything else.
server.app.post("/control/replay-dead", async (context) => {
  fails = false;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const startedAt = performance.now();
  const replayed = await server.inbox.replayDead("failing");
  const tookMs = performance.now() - startedAt;
  delay.disable();
  return context.json({ replayed, tookMs, delayMs: delay.max / 1e6 });
});

await server.launch();
