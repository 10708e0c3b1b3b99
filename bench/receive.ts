import { githubHeaders } from "./delivery.ts";
import { chart, median, pairwise, printHeading, printNote, printTable, spread } from "./report.ts";
import { type BenchOptions, baselineOf, type Rounds, runRounds, type Subject, type Trial } from "./trial.ts";

const reference = "Hono";

const subjects: readonly Omit<Subject, "arguments">[] = [
  { name: "hub-webhooks", file: "ours.ts" },
  { name: "node:http", file: "node-http.ts" },
  { name: reference, file: "hono.ts" },
  { name: "Fastify", file: "fastify.ts" },
  { name: "h3", file: "h3.ts" },
  { name: "probot", file: "probot.ts", load: { headers: githubHeaders, idHeader: "X-GitHub-Delivery" } },
  { name: "@octokit/webhooks", file: "octokit.ts", load: { headers: githubHeaders, idHeader: "X-GitHub-Delivery" } },
];

/** Measures one endpoint under full load, and compares it with other ways to write a receiver. */
export async function measureReceive(options: BenchOptions): Promise<void> {
  const logging = withBaseline(
    subjects.map((subject) => ({ ...subject, arguments: ["log"] })),
    options,
  );
  const silent = withBaseline(
    subjects.map((subject) => ({ ...subject, name: `${subject.name}, silent`, arguments: ["silent"] })),
    options,
  );
  const rounds = await runRounds([...logging, ...silent], options);
  printHeading(`Receive, with one log line per delivery (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, logging, reference);
  chartThroughput("Deliveries per second with one log line each, compared with Hono", rounds, logging, reference);
  printHeading("Receive, without log lines");
  printTrials(rounds, silent, `${reference}, silent`);
  printDoubts(rounds);
}

function withBaseline(all: readonly Subject[], options: BenchOptions): readonly Subject[] {
  return [...baselineOf(all.slice(0, 1), options), ...all];
}

/** Plots the throughput of several subjects as multiples of the reference. */
export function chartThroughput(
  title: string,
  rounds: Rounds,
  subjects: readonly { name: string }[],
  reference: string,
): void {
  const throughput = (name: string) => (rounds.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  const base = throughput(reference);
  const ratios = subjects.map(
    ({ name }) => [name, pairwise(throughput(name), base, (value, other) => value / other)] as const,
  );
  chart(title, "more", new Map(ratios));
}

/** The figures that every trial has. */
type Figure = Exclude<keyof Trial, "workedShare" | "storeRequests">;

/** Prints the figures of several subjects as multiples of the reference. */
export function printTrials(rounds: Rounds, subjects: readonly { name: string }[], referenceName: string): void {
  const reference = rounds.get(referenceName) ?? [];
  const workedOf = (name: string) => (rounds.get(name) ?? []).flatMap(({ workedShare }) => workedShare ?? []);
  const hasWorked = subjects.some(({ name }) => workedOf(name).length > 0);
  const storeRequestsOf = (name: string) =>
    (rounds.get(name) ?? []).flatMap(({ storeRequests }) => storeRequests ?? []);
  const hasStoreRequests = subjects.some(({ name }) => storeRequestsOf(name).length > 0);
  printTable(
    [
      "",
      `throughput / ${referenceName}`,
      `CPU / ${referenceName}`,
      "requests/s",
      ...(hasWorked ? ["worked meanwhile"] : []),
      ...(hasStoreRequests ? ["store requests per delivery"] : []),
      "min to max",
      "CPU us/request",
      "lowest",
      "p50 ms",
      "p99 ms",
      "loop delay p99 ms",
      "server core",
      "generator core",
    ],
    subjects.map(({ name }) => {
      const trials = rounds.get(name) ?? [];
      const of = (figure: Figure) => trials.map((trial) => trial[figure]);
      const ratio = (figure: Figure) => {
        const base = reference.map((trial) => trial[figure]);
        return `${median(pairwise(of(figure), base, (value, other) => value / other)).toFixed(2)} x`;
      };
      return [
        name,
        ratio("requestsPerSecond"),
        ratio("cpuPerRequest"),
        median(of("requestsPerSecond")).toFixed(0),
        ...(hasWorked ? [workedOf(name).length > 0 ? percent(median(workedOf(name))) : ""] : []),
        ...(hasStoreRequests ? [storeRequestsOf(name).length > 0 ? median(storeRequestsOf(name)).toFixed(3) : ""] : []),
        spread(of("requestsPerSecond")),
        median(of("cpuPerRequest")).toFixed(1),
        Math.min(...of("cpuPerRequest")).toFixed(1),
        median(of("p50Ms")).toFixed(2),
        median(of("p99Ms")).toFixed(2),
        median(of("loopDelayMs")).toFixed(2),
        percent(median(of("serverCore"))),
        percent(median(of("loadCore"))),
      ];
    }),
  );
}

/**
 * Reports figures that do not describe the server alone: if the load generator is saturated, or another process uses
 * its core, all fast servers look alike.
 */
export function printDoubts(rounds: Rounds): void {
  const busy = [...rounds].filter(([, trials]) => median(trials.map((trial) => trial.loadCore)) > 0.95);
  const names = busy.map(([name]) => name).join("; ");
  printNote(
    busy.length === 0
      ? "The load generator's core was never saturated."
      : `The load generator's core was saturated with: ${names}. Their throughput is a lower bound, so compare the CPU time.`,
  );
  const trials = [...rounds.values()].flat();
  const starved = trials.filter(({ serverCore, loadCore }) => serverCore < 0.85 && loadCore < 0.95).length;
  if (starved === 0) return;
  printNote(
    `In ${starved} of ${trials.length} measurements the server got less than 85 % of its core, because another program was running. Repeat the measurement on a quiet machine.`,
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
