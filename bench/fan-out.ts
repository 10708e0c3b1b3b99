import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "./child.ts";
import { pinning } from "./machine.ts";
import { median, pairwise, printHeading, printTable, spread } from "./report.ts";
import type { SendAnswer, SendQuestion } from "./senders/sender.ts";
import type { BenchOptions } from "./trial.ts";

const events = 10_000;
const webhooks = 10;
const warmUpEvents = 400;
/** The maximum time for one sender, several times longer than necessary. */
const patienceMs = 300_000;

const reference = "bare fetch";
const senders = [
  { name: "local Hub", file: "local-hub.ts", keepsFile: false },
  { name: "local Hub, state in a file", file: "local-hub.ts", keepsFile: true },
  { name: reference, file: "bare-fetch.ts", keepsFile: false },
] as const;

/**
 * Compares events of the local Hub, each delivered to ten webhooks, with a loop that posts the same bodies with
 * `fetch`.
 */
export async function measureFanOut({ rounds }: BenchOptions): Promise<void> {
  const trials = new Map<string, SendAnswer[]>(senders.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`  round ${round} of ${rounds}\n`);
    for (const sender of senders) trials.get(sender.name)?.push(await runSender(sender));
  }
  const postsPerSecond = (name: string) =>
    (trials.get(name) ?? []).map((trial) => (events * webhooks * 1_000) / sum(trial));
  const cpuPerPost = (name: string) =>
    (trials.get(name) ?? []).map(({ cpuMicroseconds }) => cpuMicroseconds / events / webhooks);
  const heap = (name: string, quarter: number) =>
    (trials.get(name) ?? []).map(({ quarters }) => (quarters[quarter]?.heapUsed ?? Number.NaN) / 2 ** 20);
  printHeading(`Fan-out: ${events} events to ${webhooks} webhooks (${rounds} rounds)`);
  printTable(
    ["", `/ ${reference}`, "posts/s", "min to max", "CPU us/post", "heap MiB after 1/4", "2/4", "3/4", "4/4"],
    senders.map(({ name }) => [
      name,
      `${median(pairwise(postsPerSecond(name), postsPerSecond(reference), (value, other) => value / other)).toFixed(2)} x`,
      median(postsPerSecond(name)).toFixed(0),
      spread(postsPerSecond(name)),
      median(cpuPerPost(name)).toFixed(0),
      ...[0, 1, 2, 3].map((quarter) => median(heap(name, quarter)).toFixed(1)),
    ]),
  );
}

function sum({ quarters }: SendAnswer): number {
  return quarters.reduce((total, { milliseconds }) => total + milliseconds, 0);
}

async function runSender({ file, keepsFile }: (typeof senders)[number]): Promise<SendAnswer> {
  const folder = mkdtempSync(join(tmpdir(), "fan-out-"));
  const receiver = new Child({ file: "subjects/plain-node-http.js", core: pinning?.load });
  const url = `http://127.0.0.1:${await receiver.next<number>()}/webhooks/bench`;
  const sender = new Child({
    file: `senders/${file}`,
    arguments: [url, String(webhooks), ...(keepsFile ? [join(folder, "state.db")] : [])],
    nodeOptions: ["--expose-gc"],
    core: pinning?.server,
  });
  try {
    await sender.next();
    await send(sender, { events: warmUpEvents });
    return await send(sender, { events });
  } finally {
    await Promise.all([sender.stop(), receiver.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function send(sender: Child, question: SendQuestion): Promise<SendAnswer> {
  return sender.ask<SendAnswer>(question, patienceMs);
}
