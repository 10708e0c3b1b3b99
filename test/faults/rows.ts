import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, type RunnerTask } from "vitest";

/** The rows of what a receiver must survive that are tried in this folder, by the file that tries them. */
const rowsOf = {
  http: ["H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10"],
  secret: ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"],
  body: ["P1", "P2", "P3", "P4"],
  payload: ["P5", "P6", "P7", "P8", "P9"],
  handler: ["R1", "R2", "R3", "R4", "R6"],
  process: ["X1", "X2", "X3"],
  pages: ["U1", "U4"],
} as const;

/**
 * Counts the rows of a file when its tests are over. A row has survived when every test whose title begins with its id
 * has passed; one that no test tries fails the run. The file that ends last prints the sum.
 */
export function countRows(group: keyof typeof rowsOf): void {
  let tests: readonly RunnerTask[] = [];
  beforeEach(({ task }) => {
    tests = testsIn(task.file);
  });
  afterAll(() => {
    // Some of the rows say nothing of all.
    if (tests.some(({ mode }) => mode === "skip")) return;
    const tried = (id: string) => tests.filter(({ name }) => name.startsWith(`${id}: `));
    const untried = rowsOf[group].filter((id) => tried(id).length === 0);
    if (untried.length > 0) throw new Error(`No test tries ${untried.join(", ")}.`);
    const survived = rowsOf[group].filter((id) => tried(id).every(({ result }) => result?.state === "pass"));
    const lost = rowsOf[group].filter((id) => !survived.some((survivor) => survivor === id));
    printSum(group, survived.length, lost);
  });
}

function testsIn(task: RunnerTask): readonly RunnerTask[] {
  return task.type === "suite" ? task.tasks.flatMap(testsIn) : [task];
}

/** Each file runs in a process of its own, but all of one run have the same parent. */
function printSum(group: string, survived: number, lost: readonly string[]): void {
  const folder = join(tmpdir(), `hub-webhooks-faults-${process.ppid}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, group), String(survived));
  const groups = Object.entries(rowsOf);
  const all = groups.reduce((sum, [, rows]) => sum + rows.length, 0);
  if (lost.length > 0) console.log(`${group}: ${lost.join(", ")} did not survive`);
  if (readdirSync(folder).length < groups.length) return;
  const sum = groups.reduce((total, [name]) => total + Number(readFileSync(join(folder, name), "utf8")), 0);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${sum} of ${all} rows survived`);
}
