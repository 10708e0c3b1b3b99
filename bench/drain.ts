import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres-server.ts";
import { hasRedis, startRedis } from "../test/support/redis-server.ts";
import { Child } from "./child.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { median, printHeading, printTable, spread } from "./report.ts";
import { serverTimeMs } from "./server-time.ts";
import type { DrainAnswer, DrainQuestion } from "./subjects/drain-receiver.ts";
import type { BenchOptions } from "./trial.ts";

/** The maximum time that an engine may take to run its deliveries. */
const patienceMs = 180_000;

interface Engine {
  name: string;
  deliveries: number;
  receivers: number;
  emptyStore: () => Promise<string>;
}

interface Drained {
  acceptedPerSecond: number;
  workedPerSecond: number;
  mebibytes: readonly number[];
  /** Microseconds of CPU time of the inbox server per delivery. `NaN` without a server. */
  serverAccept: number;
  serverWork: number;
  lost: number;
  twice: number;
}

/** Measures how fast one and two receivers store and run a backlog, and checks that each delivery runs once. */
export async function measureDrain({ rounds }: BenchOptions): Promise<void> {
  await using postgres = await startPostgres({ isSafe: true });
  await using redis = hasRedis ? await startRedis() : undefined;
  const stores = [
    { name: "SQLite", deliveries: 100_000, emptyStore: emptyFile },
    ...(redis ? [{ name: "Redis", deliveries: 20_000, emptyStore: () => redis.emptyDatabase() }] : []),
    { name: "PostgreSQL", deliveries: 20_000, emptyStore: () => postgres.emptyDatabase() },
  ];
  const engines = stores.flatMap((store) => [1, 2].map((receivers): Engine => ({ ...store, receivers })));
  const results = new Map<Engine, Drained[]>(engines.map((engine) => [engine, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const engine of engines) {
      process.stderr.write(`  round ${round} of ${rounds}: ${engine.name}, ${engine.receivers}\n`);
      results.get(engine)?.push(await drain(engine));
    }
  }
  rmSync(inboxFolder, { recursive: true, force: true });
  printHeading(`Store and run a backlog, without HTTP (${rounds} rounds)`);
  printTable(
    [
      "",
      "deliveries",
      "accepted/s",
      "min to max",
      "worked/s",
      "min to max",
      "lost",
      "run twice",
      "server us/accept",
      "server us/work",
      "RSS MiB after 1/4",
      "2/4",
      "3/4",
      "4/4",
    ],
    engines.map((engine) => {
      const drained = results.get(engine) ?? [];
      const of = (figure: "acceptedPerSecond" | "workedPerSecond") => drained.map((one) => one[figure]);
      const quarters = [0, 1, 2, 3].map((quarter) =>
        median(drained.map(({ mebibytes }) => mebibytes[quarter] ?? Number.NaN)),
      );
      return [
        `${engine.name}, ${engine.receivers} ${engine.receivers === 1 ? "receiver" : "receivers"}`,
        `${engine.deliveries}`,
        median(of("acceptedPerSecond")).toFixed(0),
        spread(of("acceptedPerSecond")),
        median(of("workedPerSecond")).toFixed(0),
        spread(of("workedPerSecond")),
        `${drained.reduce((sum, { lost }) => sum + lost, 0)}`,
        `${drained.reduce((sum, { twice }) => sum + twice, 0)}`,
        ...(["serverAccept", "serverWork"] as const).map((figure) => {
          const microseconds = median(drained.map((one) => one[figure]));
          return Number.isNaN(microseconds) ? "" : microseconds.toFixed(0);
        }),
        ...quarters.map((mebibytes) => mebibytes.toFixed(0)),
      ];
    }),
  );
}

async function drain({ deliveries, receivers: count, emptyStore }: Engine): Promise<Drained> {
  const url = await emptyStore();
  process.env.INBOX_URL = url;
  const receivers = Array.from({ length: count }, () => new Child({ file: "subjects/drain-receiver.ts" }));
  const ask = (questions: readonly DrainQuestion[]) =>
    Promise.all(questions.map((question, index) => receivers[index]?.ask<DrainAnswer>(question, patienceMs)));
  try {
    await Promise.all(receivers.map((receiver) => receiver.next()));
    const share = deliveries / count;
    const atFirst = await serverTimeMs(url);
    const accepted = await ask(receivers.map((_, index) => ({ accept: { from: index * share, count: share } })));
    const between = await serverTimeMs(url);
    const worked = await ask(receivers.map(() => ({ work: { until: deliveries } })));
    const atLast = await serverTimeMs(url);
    const eachTook = (from = Number.NaN, to = Number.NaN) => ((to - from) * 1_000) / deliveries;
    const ids = worked.flatMap((answer) => (answer && "ids" in answer ? answer.ids : []));
    const different = new Set(ids).size;
    return {
      acceptedPerSecond: deliveries / Math.max(...accepted.map((answer) => answer?.seconds ?? Number.NaN)),
      workedPerSecond: deliveries / Math.max(...worked.map((answer) => answer?.seconds ?? Number.NaN)),
      mebibytes: accepted.flatMap((answer) => (answer && "mebibytes" in answer ? [answer.mebibytes] : []))[0] ?? [],
      serverAccept: eachTook(atFirst, between),
      serverWork: eachTook(between, atLast),
      lost: deliveries - different,
      twice: ids.length - different,
    };
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
}

async function emptyFile(): Promise<string> {
  rmSync(inboxFolder, { recursive: true, force: true });
  mkdirSync(inboxFolder, { recursive: true });
  return `sqlite:${join(inboxFolder, "inbox.db")}`;
}
