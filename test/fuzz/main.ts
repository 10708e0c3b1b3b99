import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Findings, MonitoredReceiver } from "../support/monitored-receiver.ts";
import { ExchangeFuzz } from "./exchange-fuzz.ts";
import { HttpFuzz } from "./http-fuzz.ts";

/*
 * Fuzz test of the HTTP server of a receiver with generated requests and damaged valid requests. The process must keep running, send complete HTTP answers, answer 5xx only when a handler failed, log no raw control
 * characters, and keep its secrets. In other processes, clients, routes, and other code of the servers break off exchanges at every
 * step. Options:
 * --minutes (10), --seed (1), --case (run and print this HTTP case only), --exchange (run this exchange only).
 */

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    case: { type: "string" },
    exchange: { type: "string" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0 && Number.isInteger(seed)))
  throw new Error("Set --minutes to a number above 0, and --seed to an integer.");

/** How much the memory of the receiver may grow after its first seconds, in MiB. */
const maxGrowth = { heapUsed: 16, rss: 150 };

const findings = new Findings();
process.on("unhandledRejection", (error) => findings.note(`unhandled rejection: ${error}`, http.reproduction));
const secret = "Planted-5ecret-b81f0c27";
const consoleToken = "Planted-pa55word-5d0e";
const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-fuzz-"));

const http: HttpFuzz = new HttpFuzz({ receiver: () => receiver, findings, seed, secret, consoleToken });
const receiver = await MonitoredReceiver.start({
  script: new URL("receiver.ts", import.meta.url),
  inboxUrl: `sqlite:${join(folder, "inbox.db")}`,
  secret,
  consoleToken,
  findings,
  expectedErrors: ["HANDLER_FAILED"],
  reproduction: () => http.reproduction,
});
const exchanges = await ExchangeFuzz.start({ findings, seed, folder });

/** Returns the memory use in MiB after a garbage collection. */
async function measureMemory(): Promise<{ heapUsed: number; rss: number } | undefined> {
  const memory = await receiver.measure();
  return memory && { heapUsed: memory.heapUsed / 2 ** 20, rss: memory.rss / 2 ** 20 };
}

async function watchMemory(isOver: () => boolean): Promise<void> {
  await pause(Math.min(20_000, minutes * 15_000));
  const first = await measureMemory();
  let last = first;
  while (!isOver() && !receiver.hasEnded) {
    await pause(Math.min(5_000, minutes * 6_000));
    last = (await measureMemory()) ?? last;
  }
  if (!first || !last) return findings.note("the memory of the receiver was not measured", http.reproduction);
  console.log(
    `Memory of the receiver, MiB: heap ${first.heapUsed.toFixed(1)}, then ${last.heapUsed.toFixed(1)}; RSS ${first.rss.toFixed(0)}, then ${last.rss.toFixed(0)}`,
  );
  for (const figure of ["heapUsed", "rss"] as const) {
    if (last[figure] - first[figure] > maxGrowth[figure])
      findings.note(`the receiver grows: ${figure}`, http.reproduction);
  }
}

try {
  if (values.case !== undefined) await http.show(Number(values.case));
  else if (values.exchange !== undefined) await exchanges.try(Number(values.exchange));
  else {
    const endsAt = performance.now() + minutes * 60_000;
    const isOver = () => performance.now() >= endsAt || receiver.hasEnded;
    await Promise.all([http.run(isOver), exchanges.run(isOver), watchMemory(isOver)]);
  }
} finally {
  const exit = await receiver.stop();
  await exchanges.stop();
  if (exit !== 0) findings.note(`the receiver exits with ${exit} after SIGTERM`);
  rmSync(folder, { recursive: true, force: true });
}
const statuses = [...http.statuses]
  .toSorted(([left], [right]) => left - right)
  .map(([status, count]) => `${count} x ${status}`);
console.log(`HTTP: ${http.cases} connections, ${receiver.lineCount()} lines of log, answers: ${statuses.join(", ")}`);
exchanges.print();
for (const { what, count, shownBy } of findings.all) console.log(`${count} x ${what}\n  ${shownBy}`);
console.log(`${findings.all.length} findings`);
process.exit(findings.all.length === 0 ? 0 : 1);
