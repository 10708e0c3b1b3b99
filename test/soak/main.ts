import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { Findings } from "../support/monitored-receiver.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Audit } from "./audit.ts";
import { trendsOf } from "./flatness.ts";
import { Load } from "./load.ts";
import { formatReport } from "./report.ts";
import { SampledReceiver } from "./sampled-receiver.ts";

/*
 * Soak test: two receivers of the built package share one inbox under valid and invalid requests. Handlers fail, and one
 * receiver is stopped or killed from time to time. At the end, no acknowledged delivery may be lost, and the other
 * receiver may not use more memory or handles than at the start. Options: --minutes (60), --seed (1), --rate (requests per
 * second, 60), --report (output file).
 */

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "60" },
    report: { type: "string", default: "bench/SOAK.md" },
  },
});
const [minutes, seed, rate] = [Number(values.minutes), Number(values.seed), Number(values.rate)];
if (!(minutes > 0 && rate > 0 && Number.isInteger(seed))) {
  throw new Error("Set --minutes and --rate to numbers above 0, and --seed to an integer.");
}

/** With more requests in progress, the machine is overloaded and the remaining requests are skipped. */
const maxInProgress = 300;
const stepMs = 50;

const random = new SeededRandom(seed);
const findings = new Findings();
const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-soak-"));
const file = join(folder, "inbox.db");
const secret = "Planted-5ecret-b81f0c27";
const consoleToken = "Planted-pa55word-5d0e";
const receiverOptions = { inboxUrl: `sqlite:${file}`, secret, consoleToken, findings };

const steady = await SampledReceiver.start(receiverOptions);
let restarted = await SampledReceiver.start(receiverOptions);
const reader = await openInbox({
  url: receiverOptions.inboxUrl,
  now: Date.now,
  log: createMemoryLogger(),
  mustExist: true,
});
const audit = new Audit({ inbox: reader, findings });
const load = new Load({
  random,
  audit,
  findings,
  secret,
  consoleToken,
  receivers: () => (restarted.isStopping ? [steady] : [steady, restarted]),
});

const endsAt = performance.now() + minutes * 60_000;
const isOver = () => performance.now() >= endsAt;
const signals: string[] = [];
let heldBack = 0;

async function sendRequests(): Promise<void> {
  const startedAt = performance.now();
  for (let sent = 0; !isOver(); await pause(stepMs)) {
    const due = ((performance.now() - startedAt) / 1_000) * rate;
    for (; sent < due; sent += 1) {
      if (load.inProgress < maxInProgress) load.sendOne();
      else heldBack += 1;
    }
  }
}

/** Stops or kills the second receiver about 20 times. */
async function restart(): Promise<void> {
  while (!isOver()) {
    const uptimeMs = Math.min(180_000, (minutes * 60_000) / 20) * (0.5 + random.next());
    await pause(Math.min(uptimeMs, Math.max(0, endsAt - performance.now())));
    if (isOver()) return;
    const signal = random.chance(0.5) ? "SIGKILL" : "SIGTERM";
    const exit = await restarted.stop(signal);
    if (exit !== (signal === "SIGTERM" ? 0 : "SIGKILL")) findings.note(`after ${signal}, the exit is ${exit}`);
    signals.push(signal);
    restarted = await SampledReceiver.start(receiverOptions);
  }
}

async function sample(): Promise<void> {
  const everyMs = Math.min(10_000, (minutes * 60_000) / 60);
  for (; !isOver(); await pause(everyMs)) {
    await steady.sample();
  }
}

async function checkAcknowledged(): Promise<void> {
  for (; !isOver(); await pause(1_000)) await audit.check();
}

async function printProgress(): Promise<void> {
  const everyMs = Math.max(10_000, (minutes * 60_000) / 30);
  for (; !isOver(); await pause(Math.min(everyMs, Math.max(0, endsAt - performance.now())))) {
    const { acknowledged, succeeded, dead, open, lost } = audit.result;
    const { rss = Number.NaN, heapUsed = Number.NaN, handles = Number.NaN } = steady.samples.at(-1) ?? {};
    console.log(
      `${(steady.age / 60).toFixed(1)} min: ${acknowledged} acknowledged, ${succeeded} succeeded, ${dead} dead, ${open} open, ${lost} lost; ` +
        `${(rss / 2 ** 20).toFixed(0)} MiB RSS, ${(heapUsed / 2 ** 20).toFixed(1)} MiB heap, ${handles} handles; ${signals.length} restarts`,
    );
  }
}

try {
  await Promise.all([sendRequests(), restart(), sample(), checkAcknowledged(), printProgress()]);
  await load.settle();
  // After a kill, a lease of 30 s has to expire before the remaining attempts run.
  for (const until = performance.now() + 120_000; audit.result.open > 0 && performance.now() < until; ) {
    await audit.check({ max: Number.POSITIVE_INFINITY, includeYoung: true });
    await pause(250);
  }
  if (audit.result.open > 0) findings.note(`${audit.result.open} acknowledged deliveries are unfinished at the end`);
  for (const { name, isFlat } of trendsOf(steady.samples))
    if (isFlat === false) findings.note(`the receiver grows: ${name}`);
  const result = { minutes, seed, rate, steady, signals, tallies: load.tallies, heldBack, audited: audit.result };
  const report = formatReport({ ...result, findings: findings.all });
  for (const receiver of [steady, restarted]) {
    const exit = await receiver.stop("SIGTERM");
    if (exit !== 0) findings.note(`at the end, the exit is ${exit}`);
  }
  console.log(`\n${report}`);
  writeFileSync(values.report, report);
} finally {
  await reader.close(0);
  rmSync(folder, { recursive: true, force: true });
}
const { acknowledged, lost } = audit.result;
console.log(`${findings.all.length} findings, ${lost} of ${acknowledged} acknowledged deliveries lost`);
process.exit(findings.all.length === 0 && lost === 0 ? 0 : 1);
