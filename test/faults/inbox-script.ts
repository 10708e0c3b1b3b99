import fs from "node:fs";
import { flushCompileCache, syncBuiltinESMExports } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { NonRetriableError, RetryAfterError, WebhooksServer } from "../../src/index.ts";
import { createNodeLogger } from "../../src/receiver/node/node-logger.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { openFaultInbox } from "./inbox-opener.ts";

/*
 * Runs a receiver whose endpoints run in the background. The routes below /control let the test change its clock, use
 * its inbox, and release waiting handlers.
 */

const {
  INBOX_URL: url = "",
  LEASE_MS,
  MAX_QUEUED,
  SNAPSHOT_RECORDS,
  MAX_WAIT_MS,
  HEARTBEAT_MS,
  CLOCK,
  FILE_SYSTEM,
  RUN_AS,
  GRACE_MS = "30000",
  BLOCKED_MS = "0",
  // The name of an endpoint that this server does not register.
  WITHOUT = "",
} = process.env;

if (FILE_SYSTEM !== undefined) {
  const found = Object.assign(fs.statfsSync("/"), { type: Number(FILE_SYSTEM) });
  Object.assign(fs, { statfsSync: () => found });
  syncBuiltinESMExports();
}

let clockBy = 0;
const now = () => Date.now() + clockBy;
const logger = createNodeLogger();

const limits = {
  ...(LEASE_MS !== undefined && { leaseMs: Number(LEASE_MS) }),
  ...(MAX_QUEUED !== undefined && { maxQueued: Number(MAX_QUEUED) }),
  ...(SNAPSHOT_RECORDS !== undefined && { minSnapshotRecords: Number(SNAPSHOT_RECORDS) }),
  ...(MAX_WAIT_MS !== undefined && { maxWaitMs: Number(MAX_WAIT_MS) }),
  ...(HEARTBEAT_MS !== undefined && { heartbeatMs: Number(HEARTBEAT_MS) }),
};
const isOwnInbox = CLOCK !== undefined || Object.keys(limits).length > 0;
const server = new WebhooksServer({
  logger,
  now,
  ...(isOwnInbox && { inbox: await openFaultInbox(url, { ...limits, now, log: logger }) }),
});

const released = { held: Promise.withResolvers<void>(), deaf: Promise.withResolvers<void>() };
if (process.env.HELD === "no") for (const { resolve } of Object.values(released)) resolve();

/** A backoff short enough for tests. */
const shortBackoff = { first: 1, max: 1 };

function declareEndpoints(): void {
  server.webhook("target", { background: true, backoff: shortBackoff }, (_payload, { delivery, log }) => {
    log.info({ id: delivery.id }, "target ran");
  });

  // Runs until it is released or its signal aborts.
  server.webhook("held", { background: true, backoff: shortBackoff }, async (_payload, { signal, log }) => {
    log.info("work started");
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason));
    await Promise.race([released.held.promise, aborted.promise]);
    log.info("work finished");
  });

  // Retries after one hour.
  server.webhook("later", { background: true }, () => {
    throw new RetryAfterError("1h");
  });

  // Like "held", but ignores its signal.
  server.webhook("deaf", { background: true, backoff: shortBackoff }, async (_payload, { log }) => {
    log.info("work started");
    await released.deaf.promise;
  });

  server.webhook(
    "stuck",
    { background: true, timeout: 150, attempts: 2, backoff: shortBackoff },
    (_payload, context) => {
      context.signal.addEventListener("abort", () => context.log.info("interrupted"));
      return new Promise(() => {});
    },
  );

  server.webhook(
    "picky",
    { background: true, attempts: 3, backoff: shortBackoff, concurrency: 1 },
    (_payload, context) => {
      if (context.delivery.id.startsWith("poison")) throw new Error("This one never works.");
    },
  );

  server.webhook("second-try", { background: true }, (_payload, { delivery }) => {
    if (delivery.attempt === 1) throw new RetryAfterError("1m");
  });

  // Blocks the event loop.
  server.webhook("blocking", { background: true, attempts: 2, backoff: shortBackoff }, (_payload, { log }) => {
    log.info("work started");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(BLOCKED_MS));
  });

  // Some deliveries end the process as soon as other deliveries are running.
  server.webhook(
    "deadly",
    { background: true, attempts: 2, backoff: shortBackoff },
    async (_payload, { delivery, log }) => {
      log.info({ id: delivery.id }, "work started");
      const isFirst = delivery.attempt === 1;
      if (delivery.id.startsWith("poison")) {
        if (isFirst) await released.held.promise;
        process.kill(process.pid, "SIGKILL");
      }
      if (isFirst && delivery.id.startsWith("beside")) await released.deaf.promise;
    },
  );

  server.webhook("hopeless", { background: true, concurrency: 50 }, () => {
    throw new NonRetriableError("There is no use in it.");
  });

  if (WITHOUT === "brief") return;
  server.webhook("brief", { background: true, retention: "1h", backoff: ["20d"] }, (_payload, { delivery }) => {
    if (delivery.id.startsWith("later")) throw new Error("It is retried long after the retention of others.");
  });
}

server.app.post("/control/clock", (context) => {
  clockBy += Number(context.req.query("by"));
  return context.json({ now: now() });
});
server.app.post("/control/release", (context) => {
  released[context.req.query("endpoint") === "deaf" ? "deaf" : "held"].resolve();
  return context.json({});
});
server.app.post("/control/replay", async (context) => {
  await server.inbox.replay(context.req.query("id") ?? "");
  return context.json({});
});

/**
 * Measures the turns of the event loop. The returned function returns the longest one, in milliseconds, without the time in which this
 * thread waited for a core: on a busy machine, that takes longer than a turn.
 */
function watchTurns(): () => number {
  const readClock = () => {
    // The second number is this time, in nanoseconds.
    const [, waitedNs] = fs.readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return performance.now() - Number(waitedNs) / 1e6;
  };
  let longest = 0;
  let last = readClock();
  const endTurn = () => {
    const now = readClock();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const turn = () => {
    endTurn();
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  return () => {
    clearImmediate(next);
    endTurn();
    return longest;
  };
}

server.app.post("/control/replay-dead", async (context) => {
  const stop = watchTurns();
  const replayed = await server.inbox.replayDead("hopeless");
  return context.json({ replayed, longestTurnMs: stop() });
});
server.app.post("/control/collect-garbage", (context) => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return context.json({});
});
server.app.post("/control/counts", async (context) => context.json(await server.inbox.counts()));
server.app.post("/control/prune", async (context) => context.json({ pruned: await server.inbox.prune() }));

if (RUN_AS === undefined) {
  declareEndpoints();
  await server.launch({ shutdownGrace: Number(GRACE_MS) });
} else {
  // Load all modules that an inbox needs while their files are still readable, by opening another inbox. The first
  // delivery opens this server's inbox.
  const other = new WebhooksServer({ inbox: "sqlite::memory:", logger: createMemoryLogger() });
  other.webhook("other", { background: true }, () => {});
  await other.ready();
  await other.close();
  server.webhook("inline", () => {});
  await server.launch();
  process.setgid?.(Number(RUN_AS));
  process.setuid?.(Number(RUN_AS));
  declareEndpoints();
}

// A killed process does not write its compile cache.
flushCompileCache();
