import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inboxFile } from "../inbox-file.ts";
import type { Counts } from "./budget-process.ts";

/*
 * What a group of deliveries takes. The counts are exact, because they do not vary: lower a figure when the inbox needs less, and
 * explain a higher one in the commit message. A group is accepted at once, and in "worked" also runs at once. In "worked by 4", four
 * deliveries run at a time.
 */

/** SQL statements, timers, and messages to threads. */
const budgets: Readonly<Record<string, Counts>> = {
  "accepted, 1": { statements: 7, timers: 0, messages: 0 },
  "accepted, 32": { statements: 38, timers: 0, messages: 0 },
  "worked, 1": { statements: 17, timers: 0, messages: 0 },
  "worked, 32": { statements: 145, timers: 0, messages: 0 },
  "worked by 4, 32": { statements: 188, timers: 0, messages: 0 },
  "accepted, 32 after 3,000": { statements: 38, timers: 0, messages: 0 },
};

/** Writes, their bytes, and syncs of the event loop. Those of the thread do not count: it also adds pages to the WAL. */
const callBudgets: Readonly<Record<string, Calls>> = {
  "accepted, 1": { writes: 10, bytes: 20_600, syncs: 1 },
  "accepted, 32": { writes: 36, bytes: 74_160, syncs: 1 },
  "worked, 1": { writes: 24, bytes: 49_440, syncs: 2 },
  "worked, 32": { writes: 74, bytes: 152_440, syncs: 2 },
  "worked by 4, 32": { writes: 196, bytes: 403_760, syncs: 9 },
  "accepted, 32 after 3,000": { writes: 38, bytes: 78_280, syncs: 1 },
};

interface Calls {
  /** Calls of `pwrite`. */
  writes: number;
  /** The bytes that they write, to the WAL. */
  bytes: number;
  syncs: number;
}

const script = fileURLToPath(new URL("budget-process.ts", import.meta.url));
/** For a busy machine. */
const slowTest = { timeout: 60_000 };

test("accepting and running deliveries stays within the budgets", slowTest, ({ skip }) => {
  const file = inboxFile();
  const trace = join(dirname(file), "trace");
  const probe = spawnSync("strace", ["-e", "trace=none", "true"], { encoding: "utf8" });
  const hasStrace = probe.status === 0;
  const strace = ["strace", "-f", "-q", "-e", "trace=access,pwrite64,fsync,fdatasync", "-o", trace];
  const [program = "", ...options] = [...(hasStrace ? strace : []), process.execPath, script, file];
  expect(JSON.parse(execFileSync(program, options, { encoding: "utf8" }))).toEqual(budgets);
  if (!hasStrace) {
    const reason = `strace does not work here: ${probe.error?.message ?? probe.stderr}`;
    if (process.env.REQUIRE_STRACE) throw new Error(reason);
    console.log(`Skipped: ${reason}`);
    skip(reason);
  }
  expect(countCalls(readFileSync(trace, "latin1").split("\n"))).toEqual(callBudgets);
});

/** Counts the calls of each group by the thread that marks the groups. */
function countCalls(lines: readonly string[]): Record<string, Calls> {
  const marks = lines.filter((line) => line.includes('access("/budget/'));
  const [eventLoop] = marks[0]?.split(" ", 1) ?? [];
  const counted: Record<string, Calls> = {};
  let group: Calls | undefined;
  for (const line of lines) {
    const name = /access\("\/budget\/([^"]+)"/.exec(line)?.[1];
    if (name !== undefined) group = name === "none" ? undefined : { writes: 0, bytes: 0, syncs: 0 };
    if (name !== undefined && group) counted[name] = group;
    const [, thread, call] = /^(\d+) +(pwrite64|fsync|fdatasync)\(/.exec(line) ?? [];
    if (!group || thread !== eventLoop) continue;
    if (call === "pwrite64") {
      group.writes += 1;
      group.bytes += Number(/, (\d+), \d+(?:\)| <unfinished)/.exec(line)?.[1]);
    } else group.syncs += 1;
  }
  return counted;
}
