import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Findings } from "../support/findings.ts";
import { FuzzedReceiver } from "./fuzzed-receiver.ts";
import { HttpFuzz } from "./http-fuzz.ts";
import { PayloadFuzz } from "./payload-fuzz.ts";

/*
 * Nonsense for the HTTP face of a receiver and for the parser of payloads, generated and made from what is valid. The
 * process must live, answer in whole answers of HTTP, never with 5xx but for a handler that failed, log no raw control
 * character, and keep the secret. Options: --minutes (10), --seed (1), --case (that one of HTTP alone, shown).
 */

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    case: { type: "string" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0 && Number.isInteger(seed)))
  throw new Error("Give --minutes above zero, and --seed as a whole number.");

/** What the receiver may hold more than after its first seconds, in MiB: its inbox and its log are on the disk. */
const mostGrowth = { heapUsed: 16, rss: 150 };

const findings = new Findings();
process.on("unhandledRejection", (error) => findings.note(`nobody handled ${error}`, http.latest));
const secret = "Planted-5ecret-b81f0c27";
const dashboardToken = "Planted-pa55word-5d0e";
const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-fuzz-"));

const http: HttpFuzz = new HttpFuzz({ receiver: () => receiver, findings, seed, secret, dashboardToken });
const receiver = await FuzzedReceiver.start({
  secrets: [secret, dashboardToken],
  inboxUrl: `sqlite:${join(folder, "inbox.db")}`,
  findings,
  latest: () => http.latest,
});
const payloads = new PayloadFuzz({ findings, seed });

async function watchMemory(isOver: () => boolean): Promise<void> {
  await pause(Math.min(20_000, minutes * 15_000));
  const first = await receiver.memory();
  let last = first;
  while (!isOver() && !receiver.hasEnded) {
    await pause(Math.min(5_000, minutes * 6_000));
    if (!receiver.hasEnded) last = await receiver.memory();
  }
  console.log(
    `Memory of the receiver, MiB: heap ${first.heapUsed.toFixed(1)}, then ${last.heapUsed.toFixed(1)}; RSS ${first.rss.toFixed(0)}, then ${last.rss.toFixed(0)}`,
  );
  for (const figure of ["heapUsed", "rss"] as const) {
    if (last[figure] - first[figure] > mostGrowth[figure]) findings.note(`it grows: ${figure}`, http.latest);
  }
}

try {
  if (values.case !== undefined) await http.show(Number(values.case));
  else {
    const endsAt = performance.now() + minutes * 60_000;
    const isOver = () => performance.now() >= endsAt || receiver.hasEnded;
    await Promise.all([http.run(isOver), payloads.run(isOver), watchMemory(isOver)]);
  }
} finally {
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}
const statuses = [...http.statuses]
  .toSorted(([left], [right]) => left - right)
  .map(([status, count]) => `${count} x ${status}`);
console.log(`HTTP: ${http.cases} connections, ${receiver.lines} lines of log, answers: ${statuses.join(", ")}`);
console.log(`Payloads: ${payloads.cases} cases`);
for (const { what, count, shownBy } of findings.all) console.log(`${count} x ${what}\n  ${shownBy}`);
console.log(`${findings.all.length} findings`);
process.exit(findings.all.length === 0 ? 0 : 1);
