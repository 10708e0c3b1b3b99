import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { applyFault, type ListedFault, loadFaults } from "./fault.ts";

/*
 * Applies each deliberate fault of the lists in `faults/` to a copy of the checkout, and runs its tests, of which one must fail.
 *
 *     npm run mutations -- [--area NAME] [--only "part of a name"] [--format json]
 *
 * Exit code 0: the tests noticed all faults. 1: a fault survived, is stale, or its tests fail without it. 2: wrong usage.
 */

type Outcome = "seen" | "survived" | "stale" | "tests fail without it";

interface Result {
  area: string;
  name: string;
  outcome: Outcome;
  /** The first test that failed, or why the fault is stale. */
  detail: string;
  seconds: number;
}

interface TestReport {
  success: boolean;
  testResults: readonly {
    name: string;
    status: string;
    message: string;
    assertionResults: readonly { status: string; fullName: string }[];
  }[];
}

/** Two faults at a time, because most tests wait more than they compute. */
const maxConcurrentFaults = 2;
/** A fault can prevent a test from ending. */
const maxRunMs = 300_000;

const root = fileURLToPath(new URL("../../", import.meta.url));
const { area, only, format } = readOptions();
const all = await loadFaults();
const selected = all.filter(
  (fault) => (area === undefined || fault.area === area) && fault.name.toLowerCase().includes(only),
);
if (selected.length === 0) {
  fail(
    `No fault matches these options. Valid areas: ${[...new Set(all.map((fault) => fault.area))].sort().join(", ")}.`,
  );
}

const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-mutations-"));
const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) stop(child);
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const results: Result[] = [];
const clean = copyCheckout(root, "clean");
// With declarations, which tests of the packed package need.
if ((await run(clean, "npm", ["run", "--silent", "build"])) !== 0) fail("The package cannot be built.");
const applicable = selected.filter((fault) => {
  const applied = applyFault(fault, pathToFileURL(root));
  if ("problem" in applied) note(fault, "stale", applied.problem, 0);
  return !("problem" in applied);
});
const failing = new Map<string, string>();
if (applicable.length > 0) {
  const { report } = await runTests(clean, [...new Set(applicable.flatMap(({ tests }) => tests))]);
  for (const file of report?.testResults ?? []) {
    if (file.status !== "passed") failing.set(relative(clean, file.name), firstFailure([file]));
  }
  if (!report) fail(`The tests did not end in ${maxRunMs / 1000} s without a fault. Select an area.`);
}

const remaining = [...applicable];
await Promise.all(
  Array.from({ length: maxConcurrentFaults }, async () => {
    for (let fault = remaining.shift(); fault; fault = remaining.shift()) await examine(fault);
  }),
);

const missed = results.filter(({ outcome }) => outcome !== "seen");
if (format === "json") console.log(JSON.stringify({ faults: results.length, missed: missed.length, results }, null, 2));
else {
  console.log(`\n${results.length - missed.length} of ${results.length} faults seen.`);
  for (const { name, outcome, detail } of missed) console.log(`${outcome}: ${name}\n  ${detail}`);
}
process.exitCode = missed.length === 0 ? 0 : 1;

async function examine(fault: ListedFault): Promise<void> {
  const broken = fault.tests.find((test) => failing.has(test));
  if (broken !== undefined) return note(fault, "tests fail without it", `${broken}: ${failing.get(broken)}`, 0);
  const started = performance.now();
  const copy = copyCheckout(clean, mkdtempSync(join(folder, "fault-")));
  const applied = applyFault(fault, pathToFileURL(`${copy}/`));
  if ("problem" in applied) throw new Error(applied.problem);
  writeFileSync(join(copy, fault.file), applied.source);
  const { survived, report } =
    fault.needsBuild && (await run(copy, "npm", ["run", "--silent", "build:js"])) !== 0
      ? { survived: true, report: undefined }
      : await runTests(copy, fault.tests);
  rmSync(copy, { recursive: true, force: true });
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  if (survived) note(fault, "survived", `${fault.file}; run: ${fault.tests.join(" ")}`, seconds);
  else note(fault, "seen", report ? firstFailure(report.testResults) : `no end in ${maxRunMs / 1000} s`, seconds);
}

function note({ area, name }: ListedFault, outcome: Outcome, detail: string, seconds: number): void {
  results.push({ area, name, outcome, detail, seconds });
  if (format === "text") console.log(`${outcome.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s  ${area}: ${name}`);
}

/** Copies the files of a checkout, and links its `node_modules`. The working tree stays as it is, even if the run is killed. */
function copyCheckout(from: string, name: string): string {
  const to = join(folder, basename(name));
  const withoutDist = from === root ? ["dist"] : [];
  const skipped = new Set(["node_modules", ".git", ...withoutDist]);
  cpSync(from, to, { recursive: true, filter: (path) => !skipped.has(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
  return to;
}

/** Runs test files up to the first failure. The report is missing if the run does not end. */
async function runTests(
  checkout: string,
  tests: readonly string[],
): Promise<{ survived: boolean; report: TestReport | undefined }> {
  const output = join(checkout, "mutations-report.json");
  const bail = checkout === clean ? [] : ["--bail=1"];
  const options = ["run", ...bail, "--reporter=json", `--outputFile=${output}`, ...tests];
  const exitCode = await run(checkout, process.execPath, ["node_modules/vitest/vitest.mjs", ...options]);
  if (exitCode === undefined) return { survived: false, report: undefined };
  const report: TestReport = JSON.parse(readFileSync(output, "utf8"));
  return { survived: exitCode === 0, report };
}

/** Returns the exit code, or `undefined` if the program was stopped because it did not end. */
function run(cwd: string, command: string, args: readonly string[]): Promise<number | undefined> {
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  // A process group of its own, so that the processes of its tests end with it.
  const child = spawn(command, args, {
    ...{ cwd, detached: true, stdio: ["ignore", "ignore", "inherit"] },
    env: { ...process.env, PATH: path, SLOW_TESTS: "1" },
  });
  children.add(child);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      resolve(undefined);
      stop(child);
    }, maxRunMs);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      children.delete(child);
      resolve(code ?? 1);
    });
  });
}

function stop({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function firstFailure(files: TestReport["testResults"]): string {
  for (const { message, assertionResults } of files) {
    const test = assertionResults.find(({ status }) => status === "failed");
    if (test) return test.fullName;
    if (message !== "") return message.split("\n", 1)[0] ?? message;
  }
  return "an error outside the tests";
}

function readOptions(): { area: string | undefined; only: string; format: string } {
  try {
    const { values } = parseArgs({
      options: { area: { type: "string" }, only: { type: "string" }, format: { type: "string", default: "text" } },
    });
    if (!["text", "json"].includes(values.format)) fail('Set --format to "text" or "json".');
    return { area: values.area, only: (values.only ?? "").toLowerCase(), format: values.format };
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  console.error(`error: ${message}`);
  process.exit(2);
}
