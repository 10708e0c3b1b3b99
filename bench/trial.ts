import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Child } from "./child.ts";
import { body, hubHeaders } from "./delivery.ts";
import type { LoadOptions, LoadResult, LoadRun } from "./load.ts";
import { pinning } from "./machine.ts";

/** A server to measure. */
export interface Subject {
  name: string;
  /** A file in the folder `subjects`. */
  file: string;
  /** The built checkout whose `bench/subjects` contains the file. */
  checkout?: string;
  arguments: readonly string[];
  /** Differences from a delivery of the Hub to one endpoint. */
  load?: Partial<LoadOptions>;
  /** Creates the store for the deliveries of one trial. The subject receives its URL as `INBOX_URL`. */
  store?: () => Promise<Store>;
  /** Requests per second. Default: as many as the server answers. */
  perSecond?: number;
}

/** A store for deliveries. */
export interface Store {
  url: string;
  /** Returns the number of requests that the store has received. */
  countRequests?: () => Promise<number>;
  /** Stops and deletes everything that was created for the store. */
  close?: () => Promise<void>;
}

/** How long to measure. */
export interface BenchOptions {
  rounds: number;
  /** The duration of one measurement, after the warm-up. */
  seconds: number;
  /** Another checkout of this package to measure in the same rounds, such as the commit before a change. */
  baseline?: string;
}

/** The results of one measurement of one server. */
export interface Trial {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The 99th percentile, measured in the server. */
  loopDelayMs: number;
  /** Microseconds of the server's CPU time per request, which a saturated load generator does not affect. */
  cpuPerRequest: number;
  /** Deliveries that ran during the measurement, as a share of the requests. Missing if the server only stores deliveries, or none. */
  workedShare?: number;
  /** Requests to the store per delivery. Missing if the store does not count them. */
  storeRequests?: number;
  /** Shares of one core, from 0 to 1. */
  serverCore: number;
  loadCore: number;
}

const connections = 64;
/**
 * V8 optimizes during this time. On a slow machine, it still optimizes about 80 functions of a server with an inbox after 3 seconds, which
 * takes up to 35 µs of CPU time per request.
 */
const warmUpSeconds = 6;
/** Ends the warm-up on a fast machine. An endpoint of an inbox refuses deliveries while 100,000 are queued. */
const warmUpRequests = 50_000;
/** A limit in addition to the time, which no server here reaches. */
const mostRequests = 1_000_000;

/** Starts a server and a load generator, warms up both, measures them, and stops them. */
export async function runTrial(subject: Subject, seconds: number): Promise<Trial> {
  const { file, checkout, arguments: subjectArguments, load, perSecond } = subject;
  const store = await subject.store?.();
  process.env.INBOX_URL = store?.url ?? "";
  // Syncs the disk, so that writes of the previous trial do not delay this one.
  if (store) execFileSync("sync");
  const subjectFile = checkout === undefined ? `subjects/${file}` : join(checkout, "bench/subjects", file);
  const server = new Child({ file: subjectFile, arguments: subjectArguments, core: pinning?.server });
  const generator = new Child({ file: "load.ts", core: pinning?.load });
  try {
    const [port] = await Promise.all([server.next<number>(), generator.next()]);
    const defaults = { headers: hubHeaders, body, idHeader: "Webhook-Id", endpoints: 0 };
    const options: LoadOptions = { port, connections, ...defaults, ...load };
    await generator.ask(options);
    await generate(generator, { seconds: warmUpSeconds, requests: warmUpRequests });
    const requestsBefore = await store?.countRequests?.();
    await server.ask("begin");
    const result = await generate(generator, { seconds, requests: mostRequests, ...(perSecond && { perSecond }) });
    const sample = await server.ask<{ cpuMicroseconds: number; loopDelayMs: number; worked?: number }>("end");
    const requests = await store?.countRequests?.();
    return {
      requestsPerSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      loopDelayMs: sample.loopDelayMs,
      ...(sample.worked !== undefined && { workedShare: sample.worked / result.requests }),
      ...(requests !== undefined && { storeRequests: (requests - (requestsBefore ?? 0)) / result.requests }),
      cpuPerRequest: sample.cpuMicroseconds / result.requests,
      serverCore: sample.cpuMicroseconds / 1e6 / result.seconds,
      loadCore: result.cpuMicroseconds / 1e6 / result.seconds,
    };
  } finally {
    await Promise.all([server.stop(), generator.stop()]);
    await store?.close?.();
  }
}

function generate(generator: Child, run: LoadRun): Promise<LoadResult> {
  return generator.ask<LoadResult>(run, run.seconds * 1_000);
}

/** The trials of every subject by name. The nth trial of each subject belongs to round n. */
export type Rounds = ReadonlyMap<string, readonly Trial[]>;

/** Measures all subjects in turn in each round, so that other activity on the machine affects all of them. */
export async function runRounds(subjects: readonly Subject[], { rounds, seconds }: BenchOptions): Promise<Rounds> {
  const trials = new Map<string, Trial[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`  round ${round} of ${rounds}\n`);
    for (const subject of subjects) trials.get(subject.name)?.push(await runTrial(subject, seconds));
  }
  return trials;
}

/** Returns the same subjects in the baseline, or an empty list without a baseline. */
export function baselineOf(subjects: readonly Subject[], { baseline }: BenchOptions): readonly Subject[] {
  if (baseline === undefined) return [];
  return subjects.map((subject) => ({ ...subject, name: `${subject.name}, baseline`, checkout: baseline }));
}
