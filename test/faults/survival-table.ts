import type { Reporter, TestCase, TestModule } from "vitest/node";
import { type NotedAccount, rows } from "./rows.ts";

/** A vitest reporter that prints the result of each row. Fails the run if a row failed or was skipped. */
export default class SurvivalTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const results = rows.map(({ id, what }) => resultOf({ id, what }, tests));
    const survived = results.filter(({ end }) => end === "survived");
    const lost = results.reduce((sum, { account }) => sum + (account?.lost ?? 0), 0);
    const testsWithoutRow = tests.filter(({ name }) => !rows.some(({ id }) => name.startsWith(`${id}: `)));
    const reasons = new Set(results.flatMap(({ skipReasons }) => skipReasons));

    const head = ["row", "what", "tests", "process", "end", "acknowledged", "succeeded", "dead", "queued", "lost"];
    print([head, ...results.map(cellsOf)]);
    for (const reason of reasons) console.log(`skipped: ${reason}`);
    for (const { name } of testsWithoutRow) console.log(`test without a row: ${name}`);
    console.log("process: own = separate process; test = process of the tests; both = some tests each.");
    console.log(`${survived.length} of ${rows.length} survived, ${lost} acknowledged deliveries lost`);
    if (survived.length < rows.length || lost > 0 || testsWithoutRow.length > 0) process.exitCode = 1;
  }
}

interface RowResult {
  id: string;
  what: string;
  tests: number;
  process: "own" | "test" | "both" | "";
  end: "survived" | "FAILED" | "SKIPPED";
  account: NotedAccount | undefined;
  skipReasons: readonly string[];
}

function resultOf({ id, what }: { id: string; what: string }, all: readonly TestCase[]): RowResult {
  const tests = all.filter(({ name }) => name.startsWith(`${id}: `));
  const tried = tests.filter((test) => test.result().state !== "skipped");
  const failed = tests.some((test) => test.result().state === "failed");
  const accounts = tests.flatMap((test) => test.meta().accounts ?? []);
  const own = tried.filter((test) => test.meta().inOwnProcess).length;
  return {
    id,
    what,
    tests: tried.length,
    process: own === 0 ? (tried.length === 0 ? "" : "test") : own === tried.length ? "own" : "both",
    end: failed ? "FAILED" : tried.length === 0 ? "SKIPPED" : "survived",
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

function cellsOf({ id, what, tests, process, end, account }: RowResult): string[] {
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
