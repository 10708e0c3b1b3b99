import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { Findings } from "../support/findings.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { Audit } from "./audit.ts";
import { coursesOf } from "./flatness.ts";
import { Life } from "./life.ts";
import { Load } from "./load.ts";
import { type PastLife, reportOf } from "./report.ts";

/*
 * An hour of everything at once: two receivers of the built package on one inbox, good and bad requests, handlers that
 * fail, and ends of one of the two. In the end nothing that was acknowledged may be lost, and the other one may not have
 * grown. Options: --minutes (60), --seed (1), --rate (requests a second, 60), --report (a file).
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
  throw new Error("Give --minutes and --rate as numbers above zero, and --seed as a whole number.");
}

/** More than this under way: the machine does not keep up, and the rest is held back. */
const mostUnderWay = 300;
const stepMs = 50;

const random = new SeededRandom(seed);
const findings = new Findings();
const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-soak-"));
const file = join(folder, "inbox.db");
const secret = "Planted-5ecret-b81f0c27";
const dashboardToken = "Planted-pa55word-5d0e";
const lifeOptions = { inboxUrl: `sqlite:${file}`, secret, dashboardToken, findings };

const steady = await Life.begin(lifeOptions);
let mortal: Life | undefined = await Life.begin(lifeOptions);
const reader = await openInbox({ url: lifeOptions.inboxUrl, now: Date.now, log: createMemoryLogger, mustExist: true });
const audit = new Audit({ inbox: reader, findings });
const load = new Load({
  random,
  audit,
  findings,
  secret,
  dashboardToken,
  lives: () => (mortal && !mortal.isEnding ? [steady, mortal] : [steady]),
});

const endsAt = performance.now() + minutes * 60_000;
const isOver = () => performance.now() >= endsAt;
const past: PastLife[] = [];
const storeSizes: number[] = [];
let heldBack = 0;

async function sendMix(): Promise<void> {
  const startedAt = performance.now();
  for (let sent = 0; !isOver(); await pause(stepMs)) {
    const due = ((performance.now() - startedAt) / 1_000) * rate;
    for (; sent < due; sent += 1) {
      if (load.underWay < mostUnderWay) load.sendOne();
      else heldBack += 1;
    }
  }
}

/** A life of the second receiver is a twentieth of the whole on average, and ends in one way or the other. */
async function endAndStart(): Promise<void> {
  while (!isOver()) {
    const lifeMs = Math.min(180_000, (minutes * 60_000) / 20) * (0.5 + random.next());
    await pause(Math.min(lifeMs, Math.max(0, endsAt - performance.now())));
    if (isOver() || !mortal) return;
    const life = mortal;
    const lastSample = (await life.sample()) ?? life.samples.at(-1);
    const signal = random.chance(0.5) ? "SIGKILL" : "SIGTERM";
    const seconds = life.age;
    const ended = await life.end(signal);
    if (ended !== (signal === "SIGTERM" ? 0 : "SIGKILL")) findings.note(`told ${signal}, it ended with ${ended}`);
    past.push({ seconds, by: signal, ended, lastSample });
    mortal = await Life.begin(lifeOptions);
  }
}

async function sample(): Promise<void> {
  const everyMs = Math.min(10_000, (minutes * 60_000) / 60);
  for (; !isOver(); await pause(everyMs)) {
    if (await steady.sample()) storeSizes.push(storeSize());
    await mortal?.sample();
    if (steady.hasEnded) findings.note("the receiver that nobody ended has ended");
  }
}

async function lookAfterAcknowledged(): Promise<void> {
  for (; !isOver(); await pause(1_000)) await audit.look();
}

async function tell(): Promise<void> {
  const everyMs = Math.max(10_000, (minutes * 60_000) / 30);
  for (; !isOver(); await pause(Math.min(everyMs, Math.max(0, endsAt - performance.now())))) {
    const { acknowledged, succeeded, dead, open, lost } = audit.account;
    const { rss = Number.NaN, heapUsed = Number.NaN, handles = Number.NaN } = steady.samples.at(-1) ?? {};
    console.log(
      `${(steady.age / 60).toFixed(1)} min: ${acknowledged} acknowledged, ${succeeded} succeeded, ${dead} dead, ${open} open, ${lost} lost; ` +
        `${(rss / 2 ** 20).toFixed(0)} MiB RSS, ${(heapUsed / 2 ** 20).toFixed(1)} MiB heap, ${handles} handles; ${past.length} ends`,
    );
  }
}

/** The file and its log. */
function storeSize(): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}

try {
  await Promise.all([sendMix(), endAndStart(), sample(), lookAfterAcknowledged(), tell()]);
  await load.settle();
  // The lease of what was in work in a killed process is half a minute, and then come its further attempts.
  for (const until = performance.now() + 120_000; audit.account.open > 0 && performance.now() < until; ) {
    await audit.look({ most: Number.POSITIVE_INFINITY, youngToo: true });
    await pause(250);
  }
  if (audit.account.open > 0) findings.note(`${audit.account.open} acknowledged deliveries are not done in the end`);
  for (const { name, isFlat } of coursesOf(steady.samples)) if (isFlat === false) findings.note(`it grows: ${name}`);
  const result = { minutes, seed, rate, steady, past, tallies: load.tallies, heldBack, account: audit.account };
  const report = reportOf({ ...result, storeSizes, findings: findings.all });
  for (const life of [steady, mortal]) {
    const ended = await life?.end("SIGTERM");
    if (ended !== 0) findings.note(`in the end it ended with ${ended}`);
  }
  console.log(`\n${report}`);
  writeFileSync(values.report, report);
} finally {
  await reader.close(0);
  rmSync(folder, { recursive: true, force: true });
}
const { acknowledged, lost } = audit.account;
console.log(`${findings.all.length} findings, ${lost} of ${acknowledged} acknowledged deliveries lost`);
process.exit(findings.all.length === 0 && lost === 0 ? 0 : 1);
