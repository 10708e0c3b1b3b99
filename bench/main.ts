import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureBucket, measureWaking } from "./bucket.ts";
import { measureColdStart } from "./cold-start.ts";
import { measureConsole } from "./console.ts";
import { measureDrain } from "./drain.ts";
import { measureEndpoints } from "./endpoints.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureFeatures } from "./features.ts";
import { measureInbox } from "./inbox.ts";
import { measureInstallSize } from "./install-size.ts";
import { describeMachine } from "./machine.ts";
import { measureMemory } from "./memory.ts";
import { plot } from "./plot.ts";
import { measureReceive } from "./receive.ts";
import { printLines, printNote, written } from "./report.ts";
import type { BenchOptions } from "./trial.ts";

/** The parts with the defaults that stable medians require. All parts together take more than half an hour. */
const parts: Readonly<Record<string, { measure: (options: BenchOptions) => Promise<void>; defaults: BenchOptions }>> = {
  receive: { measure: measureReceive, defaults: { rounds: 5, seconds: 2.2 } },
  cold: { measure: measureColdStart, defaults: { rounds: 15, seconds: 0 } },
  install: { measure: measureInstallSize, defaults: { rounds: 1, seconds: 0 } },
  memory: { measure: measureMemory, defaults: { rounds: 5, seconds: 1 } },
  endpoints: { measure: measureEndpoints, defaults: { rounds: 5, seconds: 2.2 } },
  fanout: { measure: measureFanOut, defaults: { rounds: 3, seconds: 0 } },
  inbox: { measure: measureInbox, defaults: { rounds: 5, seconds: 2.2 } },
  bucket: { measure: measureBucket, defaults: { rounds: 3, seconds: 3 } },
  wake: { measure: measureWaking, defaults: { rounds: 5, seconds: 0 } },
  drain: { measure: measureDrain, defaults: { rounds: 2, seconds: 0 } },
  console: { measure: measureConsole, defaults: { rounds: 3, seconds: 60 } },
  features: { measure: measureFeatures, defaults: { rounds: 5, seconds: 0.8 } },
};

const usage = `Usage: node bench/main.ts [${Object.keys(parts).join(" | ")}] [--rounds N] [--seconds S] [--baseline CHECKOUT] [--report FOLDER]`;

interface Arguments {
  names: string[];
  options: Partial<BenchOptions>;
  /** The folder for the report. By default, no report is written. */
  report: string | undefined;
}

function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      report: { type: "string" },
      baseline: { type: "string" },
    },
  });
  const options: Partial<BenchOptions> = {};
  if (values.rounds !== undefined) options.rounds = readNumber("--rounds", values.rounds, Number.isInteger);
  if (values.seconds !== undefined) options.seconds = readNumber("--seconds", values.seconds, Number.isFinite);
  if (values.baseline !== undefined) options.baseline = resolve(values.baseline);
  for (const name of positionals)
    if (!Object.hasOwn(parts, name))
      throw new Error(`Unknown part "${name}". Valid parts: ${Object.keys(parts).join(", ")}.`);
  return { names: positionals.length > 0 ? positionals : Object.keys(parts), options, report: values.report };
}

function readNumber(option: string, text: string, isValid: (value: number) => boolean): number {
  const value = Number(text);
  if (value > 0 && isValid(value)) return value;
  throw new Error(`Option ${option} is "${text}". Use a number above zero.`);
}

async function main(): Promise<void> {
  const startedAt = performance.now();
  const { names, options, report } = readArguments();
  printLines(describeMachine());
  for (const name of names) {
    const part = parts[name];
    if (!part) continue;
    process.stderr.write(`\n${name}\n`);
    await part.measure({ ...part.defaults, ...options });
  }
  printNote(`${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes in all.`);
  if (report !== undefined) writeReport(report);
}

/** Writes the report as Markdown, with a plot of the ratios. */
function writeReport(folder: string): void {
  const { markdown, charts } = written();
  const head = [
    "<!-- Written by `npm run bench`. -->",
    "",
    "# Benchmark report",
    "",
    "[README.md](README.md) describes the measurements and how to read them.",
    "",
    "![Bar charts of the ratios](REPORT.svg)",
  ];
  writeFileSync(join(folder, "REPORT.md"), `${[...head, markdown].join("\n")}\n`);
  writeFileSync(join(folder, "REPORT.svg"), plot(charts));
}

try {
  await main();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
  process.exit(1);
}
