import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Child } from "./child.ts";
import { body, hubHeaders } from "./delivery.ts";
import type { LoadOptions, LoadResult, LoadRun } from "./load.ts";
import { pinning } from "./machine.ts";

/** A server to measure. */
export interface Subject {
  name: string;
  /** A file of the folder `subjects`. */
  file: string;
  /** The checkout whose `bench/subjects` has the file, built and installed. Default: this one. */
  checkout?: string;
  arguments: readonly string[];
  /** What differs from a delivery of the Hub to one endpoint. */
  load?: Partial<LoadOptions>;
  /** Makes what it keeps deliveries in for one trial; its address is told to it as `INBOX_URL`. */
  store?: () => Promise<Store>;
  /** Requests a second; left out: as many as are answered. */
  perSecond?: number;
}

/** What a server keeps deliveries in. */
export interface Store {
  url: string;
  /** Ends what was started for it, so that the next trial has the machine for itself. */
  close?: () => Promise<void>;
}

/** How long to measure. */
export interface BenchOptions {
  rounds: number;
  /** Of one measurement, after the warm-up. */
  seconds: number;
  /** Another checkout of this package, such as the commit before a change, measured in the same rounds. */
  baseline?: string;
}

/** What one measurement of one server gave. */
export interface Trial {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** 99th percentile, in the server. */
  loopDelayMs: number;
  /** Microseconds of the server's CPU time for one request; a busy load generator does not change it. */
  cpuPerRequest: number;
  /** Shares of one core, from 0 to 1. */
  serverCore: number;
  loadCore: number;
}

const connections = 64;
/** Until then V8 compiles: after one second a request of the slower servers takes up to twice what it takes later on. */
const warmUpSeconds = 3;
/** A bound beside the time: no server here comes near it. */
const mostRequests = 1_000_000;

/** Starts a server and a load generator, warms both up, measures and stops them. */
export async function runTrial(subject: Subject, seconds: number): Promise<Trial> {
  const { file, checkout, arguments: subjectArguments, load, perSecond } = subject;
  const store = await subject.store?.();
  process.env.INBOX_URL = store?.url ?? "";
  // What the trial before has left to be written must not delay the syncs of this one.
  if (store) execFileSync("sync");
  const subjectFile = checkout === undefined ? `subjects/${file}` : join(checkout, "bench/subjects", file);
  const server = new Child({ file: subjectFile, arguments: subjectArguments, core: pinning?.server });
  const generator = new Child({ file: "load.ts", core: pinning?.load });
  try {
    const [port] = await Promise.all([server.next<number>(), generator.next()]);
    const defaults = { headers: hubHeaders, body, idHeader: "Webhook-Id", endpoints: 0 };
    const options: LoadOptions = { port, connections, ...defaults, ...load };
    await generator.ask(options);
    await generate(generator, { seconds: warmUpSeconds, perSecond: undefined });
    await server.ask("begin");
    const result = await generate(generator, { seconds, perSecond });
    const sample = await server.ask<{ cpuMicroseconds: number; loopDelayMs: number }>("end");
    return {
      requestsPerSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      loopDelayMs: sample.loopDelayMs,
      cpuPerRequest: sample.cpuMicroseconds / result.requests,
      serverCore: sample.cpuMicroseconds / 1e6 / result.seconds,
      loadCore: result.cpuMicroseconds / 1e6 / result.seconds,
    };
  } finally {
    await Promise.all([server.stop(), generator.stop()]);
    await store?.close?.();
  }
}

function generate(
  generator: Child,
  { seconds, perSecond }: { seconds: number; perSecond: number | undefined },
): Promise<LoadResult> {
  const run: LoadRun = { seconds, requests: mostRequests, ...(perSecond && { perSecond }) };
  return generator.ask<LoadResult>(run, seconds * 1_000);
}

/** The trials of every subject, by name: the n-th of each was made in round n. */
export type Rounds = ReadonlyMap<string, readonly Trial[]>;

/** Measures all subjects in turn, over and over, so that whatever else goes on in the machine meets all of them. */
export async function runRounds(subjects: readonly Subject[], { rounds, seconds }: BenchOptions): Promise<Rounds> {
  const trials = new Map<string, Trial[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`  round ${round} of ${rounds}\n`);
    for (const subject of subjects) trials.get(subject.name)?.push(await runTrial(subject, seconds));
  }
  return trials;
}

/** The same subjects of the baseline, named so; none without a baseline. */
export function baselineOf(subjects: readonly Subject[], { baseline }: BenchOptions): readonly Subject[] {
  if (baseline === undefined) return [];
  return subjects.map((subject) => ({ ...subject, name: `${subject.name}, baseline`, checkout: baseline }));
}
