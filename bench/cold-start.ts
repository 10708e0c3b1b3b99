import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { body, hubHeaders } from "./delivery.ts";
import { plainSubjects, plainYardstick, startPlain } from "./plain-subjects.ts";
import { chart, median, pairwise, printHeading, printTable, spread } from "./report.ts";
import type { BenchOptions } from "./trial.ts";

/** From the start of the process to the first delivery that is answered with success. */
export async function measureColdStart({ rounds }: BenchOptions): Promise<void> {
  const times = new Map<string, number[]>(plainSubjects.map(({ name }) => [name, []]));
  // The first start of each reads its files from the disk, which says nothing about the code.
  for (const { file } of plainSubjects) await timeStart(file);
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, file } of plainSubjects) times.get(name)?.push(await timeStart(file));
  }
  const reference = times.get(plainYardstick) ?? [];
  printHeading(`Cold start: process start to first 2xx (${rounds} x each, in turn)`);
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
  chart("Milliseconds to the first 2xx, beside Hono with zod and pino", "less", new Map(ratios));
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

async function deliver(port: number): Promise<void> {
  const headers = { ...hubHeaders, "Webhook-Id": crypto.randomUUID() };
  const sending = request({ host: "127.0.0.1", port, path: "/webhooks/bench", method: "POST", headers, agent: false });
  sending.end(body);
  const [answer]: IncomingMessage[] = await once(sending, "response");
  answer?.resume();
  if (answer?.statusCode !== 200) throw new Error(`The server answered ${answer?.statusCode}.`);
}
