import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { body, hubHeaders } from "./delivery.ts";
import { plainSubjects, plainYardstick, startPlain } from "./plain-subjects.ts";
import { chart, median, pairwise, printHeading, printTable, spread } from "./report.ts";
import type { BenchOptions } from "./trial.ts";

/** Measures the time from the start of the process to its first successful response to a delivery. */
export async function measureColdStart({ rounds }: BenchOptions): Promise<void> {
  const times = new Map<string, number[]>(plainSubjects.map(({ name }) => [name, []]));
  // Starts each server once before the measurement, so that its files are in the disk cache.
  for (const { file } of plainSubjects) await timeStart(file);
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, file } of plainSubjects) times.get(name)?.push(await timeStart(file));
  }
  const reference = times.get(plainYardstick) ?? [];
  printHeading(`Cold start: process start to first 2xx (${rounds} rounds)`);
  printTable(
    ["", `/ ${plainYardstick}`, "ms", "min to max", `ms more than ${plainYardstick}`],
    [...times].map(([name, own]) => [
      name,
      `${median(pairwise(own, reference, (value, other) => value / other)).toFixed(2)} x`,
      median(own).toFixed(0),
      spread(own),
      median(pairwise(own, reference, (value, other) => value - other)).toFixed(0),
    ]),
  );
  const ratios = [...times].map(
    ([name, own]) => [name, pairwise(own, reference, (value, other) => value / other)] as const,
  );
  chart("Milliseconds to the first 2xx, compared with Hono, zod and pino", "less", new Map(ratios));
}

async function timeStart(file: string): Promise<number> {
  const startedAt = performance.now();
  const server = startPlain(file);
  try {
    await deliver(await server.next<number>());
    return performance.now() - startedAt;
  } finally {
    await server.stop();
  }
}

export async function deliver(port: number, status = 200): Promise<void> {
  const headers = { ...hubHeaders, "Webhook-Id": crypto.randomUUID() };
  const sending = request({ host: "127.0.0.1", port, path: "/webhooks/bench", method: "POST", headers, agent: false });
  sending.end(body);
  const [answer]: IncomingMessage[] = await once(sending, "response");
  answer?.resume();
  if (answer?.statusCode !== status) throw new Error(`The server answered ${answer?.statusCode}.`);
}
