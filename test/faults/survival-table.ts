import type { Reporter, TestCase, TestModule } from "vitest/node";
import { type NotedAccount, rows } from "./rows.ts";

/** Prints, when all tests are over, what became of each row, and fails the run when one has not survived. */
export default class SurvivalTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const judged = rows.map(({ id, what }) => judge({ id, what }, tests));
    const survived = judged.filter(({ end }) => end === "survived");
    const lost = judged.reduce((sum, { account }) => sum + (account?.lost ?? 0), 0);
    const strays = tests.filter(({ name }) => !rows.some(({ id }) => name.startsWith(`${id}: `)));
    const reasons = new Set(judged.flatMap(({ skipReasons }) => skipReasons));

    const head = ["row", "what", "tests", "process", "end", "acknowledged", "succeeded", "dead", "queued", "lost"];
    print([head, ...judged.map(cellsOf)]);
    for (const reason of reasons) console.log(`skipped: ${reason}`);
    for (const { name } of strays) console.log(`of no row: ${name}`);
    console.log("process: own, of the built package alone; test, that of the file of tests; both, some of each.");
    console.log(`${survived.length} of ${rows.length} survived, ${lost} acknowledged deliveries lost`);
    if (survived.length < rows.length || lost > 0 || strays.length > 0) process.exitCode = 1;
  }
}

interface Judged {
  id: string;
  what: string;
  tests: number;
  process: "own" | "test" | "both" | "";
  end: "survived" | "DID NOT SURVIVE" | "SKIPPED";
  account: NotedAccount | undefined;
  skipReasons: readonly string[];
}

function judge({ id, what }: { id: string; what: string }, all: readonly TestCase[]): Judged {
  const tests = all.filter(({ name }) => name.startsWith(`${id}: `));
  const tried = tests.filter((test) => test.result().state !== "skipped");
  const failed = tests.some((test) => test.result().state === "failed");
  const accounts = tests.flatMap((test) => test.meta().accounts ?? []);
  const own = tried.filter((test) => test.meta().handleSignals).length;
  return {
    id,
    what,
    tests: tried.length,
    process: own === 0 ? (tried.length === 0 ? "" : "test") : own === tried.length ? "own" : "both",
    end: failed ? "DID NOT SURVIVE" : tried.length === 0 ? "SKIPPED" : "survived",
    account: accounts.length === 0 ? undefined : accounts.reduce(sum),
    skipReasons: tests.flatMap((test) => test.meta().skipReason ?? []),
  };
}

function sum(left: NotedAccount, right: NotedAccount): NotedAccount {
  return {
    acknowledged: left.acknowledged + right.acknowledged,
    succeeded: left.succeeded + right.succeeded,
    dead: left.dead + right.dead,
    queued: left.queued + right.queued,
    lost: left.lost + right.lost,
  };
}

function cellsOf({ id, what, tests, process, end, account }: Judged): string[] {
  const figures = account && [account.acknowledged, account.succeeded, account.dead, account.queued, account.lost];
  return [id, what, String(tests), process, end, ...(figures ?? []).map(String)];
}

function print(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  console.log("");
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log("");
}
