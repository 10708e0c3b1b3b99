import { setTimeout as pause } from "node:timers/promises";
import { Child } from "./child.ts";
import { body, hubHeaders } from "./delivery.ts";
import type { LoadOptions, LoadRun } from "./load.ts";
import { plainSubjects, plainYardstick, startPlain } from "./plain-subjects.ts";
import { median, pairwise, printHeading, printTable, spread } from "./report.ts";
import type { BenchOptions } from "./trial.ts";

const requests = 500;

/** Measures the memory of an idle server after several hundred deliveries and a garbage collection. */
export async function measureMemory({ rounds, seconds }: BenchOptions): Promise<void> {
  const measured = new Map<string, NodeJS.MemoryUsage[]>(plainSubjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, file } of plainSubjects) measured.get(name)?.push(await measureIdle(file, seconds));
  }
  const megabytes = (name: string, figure: keyof NodeJS.MemoryUsage) =>
    (measured.get(name) ?? []).map((usage) => usage[figure] / 2 ** 20);
  const reference = megabytes(plainYardstick, "rss");
  printHeading(`Idle memory after ${requests} deliveries (${rounds} rounds)`);
  printTable(
    ["", `/ ${plainYardstick}`, "RSS MiB", "min to max", "heap used MiB", "outside the heap MiB"],
    [...measured.keys()].map((name) => [
      name,
      `${median(pairwise(megabytes(name, "rss"), reference, (value, other) => value / other)).toFixed(2)} x`,
      median(megabytes(name, "rss")).toFixed(1),
      spread(megabytes(name, "rss"), 1),
      median(megabytes(name, "heapUsed")).toFixed(1),
      median(megabytes(name, "external")).toFixed(1),
    ]),
  );
}

/** Measures the memory `settleSeconds` after the last delivery. */
async function measureIdle(file: string, settleSeconds: number): Promise<NodeJS.MemoryUsage> {
  const server = startPlain(file, { exposeCollector: true });
  try {
    await deliverSome(await server.next<number>());
    await server.ask("memory");
    await pause(settleSeconds * 1_000);
    return await server.ask<NodeJS.MemoryUsage>("memory");
  } finally {
    await server.stop();
  }
}

async function deliverSome(port: number): Promise<void> {
  const generator = new Child({ file: "load.ts" });
  try {
    await generator.next();
    const common = { headers: hubHeaders, body, idHeader: "Webhook-Id", endpoints: 0 };
    const options: LoadOptions = { port, connections: 8, ...common };
    await generator.ask(options);
    const run: LoadRun = { seconds: 10, requests };
    await generator.ask(run);
  } finally {
    await generator.stop();
  }
}
