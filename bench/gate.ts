import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Child } from "./child.ts";
import type { MemoryLoad, MemoryResult } from "./memory-sockets.ts";
import { median, printTable } from "./report.ts";

/**
 * The commit to compare with: the first one that reads deliveries from their socket and finds IDs in memory. Replace it only with a faster
 * commit, or explain in the commit message why it may be slower.
 */
const baseCommit = "b0c78ce2c2285b4a1b74724f7e65401bd385ed99";
/** Above this ratio of the CPU times, a gated row fails. README.md shows what it detects. */
const threshold = 1.04;
/** A row above the threshold is measured until it falls below, or has this many times the rounds. */
const maxRepetitions = 4;
const warmUpWindows = 250;
/** Both sides take turns this often, because the speed of a shared machine can double within a second. */
const turns = 40;

interface Row {
  name: string;
  /** An argument of `subjects/gate.ts`. */
  kind: string;
  logLevel: "info" | "silent";
  isGated: boolean;
  windowsPerTurn: number;
}

const rows: readonly Row[] = [
  { name: "inline", kind: "inline", logLevel: "silent", isGated: true, windowsPerTurn: 10 },
  { name: "inline, log line", kind: "inline", logLevel: "info", isGated: true, windowsPerTurn: 10 },
  { name: "accepted", kind: "accept", logLevel: "silent", isGated: true, windowsPerTurn: 6 },
  { name: "accepted, log line", kind: "accept", logLevel: "info", isGated: true, windowsPerTurn: 6 },
  { name: "accepted and worked, log line", kind: "work", logLevel: "info", isGated: false, windowsPerTurn: 2 },
  { name: "the same, 64 at a time", kind: "work-64", logLevel: "info", isGated: false, windowsPerTurn: 4 },
];

/** For `--peers`: the same load for other servers, which log with the logger of `subject-log.ts`. */
const peers = [
  { name: "hub-webhooks", file: "ours.ts" },
  { name: "node:http", file: "node-http.ts" },
  { name: "Fastify", file: "fastify.ts" },
  { name: "h3", file: "h3.ts" },
  { name: "Hono", file: "hono.ts" },
].flatMap(({ name, file }) => [
  { name, file, arguments: ["silent"] },
  { name: `${name}, log line`, file, arguments: ["log"] },
]);

/** Windows of each process of another server. */
const peerWindows = 400;

const root = fileURLToPath(new URL("..", import.meta.url));
/** In memory where possible, because the CPU time of a write to a disk varies. */
const inboxes = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "hub-webhooks-gate-"));

/** The measured windows of one server, over all of its processes. */
class Windows {
  readonly cpu: number[] = [];
  readonly #workedShares: number[] = [];

  add({ cpuPerRequest, workedShare }: MemoryResult): void {
    this.cpu.push(...cpuPerRequest);
    this.#workedShares.push(workedShare);
  }

  get lowest(): number {
    return Math.min(...this.cpu);
  }

  get workedShare(): number {
    return median(this.#workedShares);
  }
}

/** The processes of both sides that were measured for a row. */
class Comparison {
  readonly base = new Windows();
  readonly head = new Windows();
  /** One ratio per pair of processes. */
  readonly ratios: number[] = [];
  readonly row: Row;

  constructor(row: Row) {
    this.row = row;
  }

  get ratio(): number {
    return median(this.ratios);
  }

  get isSlower(): boolean {
    return this.row.isGated && this.ratio > threshold;
  }
}

/** Starts a subject with its sockets in memory, and warms it up, so that V8 compiles the hot code. */
async function start(subject: {
  file: string;
  arguments: readonly string[];
  logLevel: Row["logLevel"];
}): Promise<Child> {
  process.env.LOG_LEVEL = subject.logLevel;
  process.env.INBOX_URL = `sqlite:${mkdtempSync(join(inboxes, "inbox-"))}/inbox.db`;
  const child = new Child({
    file: `subjects/${subject.file}`,
    arguments: subject.arguments,
    nodeOptions: ["--import", new URL("memory-sockets.ts", import.meta.url).href],
  });
  await child.next(maxMs);
  await send(child, warmUpWindows);
  return child;
}

/** The maximum time for one answer on a busy machine, in addition to the limit of `Child`. */
const maxMs = 60_000;

function send(child: Child, windows: number): Promise<MemoryResult> {
  const load: MemoryLoad = { windows };
  return child.ask<MemoryResult>(load, maxMs);
}

/** What to compare. */
interface Sides {
  base: string;
  head: string;
  /** Processes of each side. */
  rounds: number;
}

/** Measures further processes of both sides. */
async function measure(
  comparison: Comparison,
  { base: baseCheckout, head: headCheckout, rounds }: Sides,
): Promise<void> {
  const { row, base, head, ratios } = comparison;
  for (let round = 0; round < rounds; round += 1) {
    const startSide = (checkout: string) => start({ file: "gate.ts", arguments: [checkout, row.kind], ...row });
    const processes = await Promise.all([startSide(baseCheckout), startSide(headCheckout)]);
    const takeTurn = async (child: Child) => {
      const result = await send(child, row.windowsPerTurn);
      (child === processes[0] ? base : head).add(result);
      return Math.min(...result.cpuPerRequest);
    };
    const turnRatios: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      // Each side goes first every other time, so that neither profits from a machine that becomes faster or slower.
      const isReversed = turn % 2 === 1;
      const lowest = [];
      for (const child of isReversed ? processes.toReversed() : processes) lowest.push(await takeTurn(child));
      const [ofBase = 0, ofHead = 0] = isReversed ? lowest.reverse() : lowest;
      turnRatios.push(ofHead / ofBase);
    }
    ratios.push(median(turnRatios));
    await Promise.all(processes.map((child) => child.stop()));
  }
}

function printComparisons(comparisons: readonly Comparison[], rounds: number): void {
  printTable(
    ["CPU us/request", "head / base", "lowest: base", "head", "median: base", "head", "worked: base", "head", ""],
    comparisons.map(({ row, base, head, ratio, ratios, isSlower }) => [
      ratios.length === rounds ? row.name : `${row.name} (${ratios.length} ${ratios.length === 1 ? "pair" : "pairs"})`,
      ratio.toFixed(3),
      base.lowest.toFixed(1),
      head.lowest.toFixed(1),
      median(base.cpu).toFixed(1),
      median(head.cpu).toFixed(1),
      ...[base, head].map(({ workedShare }) =>
        row.kind.startsWith("work") ? `${(workedShare * 100).toFixed(0)} %` : "",
      ),
      row.isGated ? (isSlower ? "slower" : "passed") : "",
    ]),
  );
}

async function printPeers(rounds: number): Promise<void> {
  const measured: (readonly string[])[] = [];
  for (const peer of peers) {
    const windows = new Windows();
    for (let round = 0; round < rounds; round += 1) {
      const child = await start({ ...peer, logLevel: "info" });
      windows.add(await send(child, peerWindows));
      await child.stop();
    }
    measured.push([peer.name, windows.lowest.toFixed(1), median(windows.cpu).toFixed(1)]);
  }
  printTable(["CPU us/request", "lowest", "median"], measured);
}

/** Builds the base commit below `node_modules`, once, and returns its folder. */
function buildBase(): string {
  const folder = join(root, "node_modules/.cache/bench-gate", baseCommit);
  if (existsSync(folder)) return folder;
  const run = (command: string, given: readonly string[], cwd = root) =>
    execFileSync(command, given, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  try {
    run("git", ["cat-file", "-e", `${baseCommit}^{commit}`]);
  } catch {
    console.error(
      `This clone has no commit ${baseCommit}, the base of the comparison. Run "git fetch origin ${baseCommit}" or, in a shallow clone, "git fetch --unshallow".`,
    );
    process.exit(2);
  }
  // Not below `node_modules`, where Node does not load a configuration in TypeScript.
  const checkout = mkdtempSync(join(tmpdir(), "hub-webhooks-gate-base-"));
  try {
    const archive = join(checkout, "base.tar");
    const files = ["src", "package.json", "package-lock.json", "tsconfig.json", "tsdown.config.ts"];
    run("git", ["archive", "--output", archive, baseCommit, ...files]);
    run("tar", ["-xf", archive, "-C", checkout]);
    const lockOf = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8");
    if (lockOf(checkout) === lockOf(root)) symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
    else run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], checkout);
    run(join(checkout, "node_modules/.bin/tsdown"), ["--no-dts"], checkout);
    const partial = `${folder}.partial`;
    rmSync(partial, { recursive: true, force: true });
    cpSync(checkout, partial, { recursive: true, verbatimSymlinks: true });
    renameSync(partial, folder);
    return folder;
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "build-base": { type: "boolean" },
      baseline: { type: "string" },
      peers: { type: "boolean" },
      rounds: { type: "string", default: "3" },
    },
  });
  const base = values.baseline === undefined ? buildBase() : resolve(values.baseline);
  if (values["build-base"]) return 0;
  const busy = loadavg()[0] ?? 0;
  if (busy > 1)
    console.log(`Load average ${busy.toFixed(1)}: other programs are running, so the figures are too high.`);
  const sides: Sides = { base, head: root, rounds: Number(values.rounds) };
  const selected = rows.filter(({ kind }) => positionals.length === 0 || positionals.includes(kind));
  const comparisons = selected.map((row) => new Comparison(row));
  for (const comparison of comparisons) {
    // One pair of processes is enough for a row that is only printed.
    await measure(comparison, comparison.row.isGated ? sides : { ...sides, rounds: 1 });
    while (comparison.isSlower && comparison.ratios.length < maxRepetitions * sides.rounds)
      await measure(comparison, sides);
  }
  printComparisons(comparisons, sides.rounds);
  if (values.peers) await printPeers(sides.rounds);
  const slower = comparisons.filter(({ isSlower }) => isSlower);
  for (const { row, ratio } of slower)
    console.error(`"${row.name}" takes ${ratio.toFixed(3)} times the CPU time of the base. The limit is ${threshold}.`);
  return slower.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} finally {
  rmSync(inboxes, { recursive: true, force: true });
}
