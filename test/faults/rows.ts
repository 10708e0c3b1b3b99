import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, type RunnerTask } from "vitest";

/** The rows of what this package must survive that are tried in this folder, by the file that tries them. */
const rowsOf = {
  http: ["H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10"],
  secret: ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"],
  body: ["P1", "P2", "P3", "P4"],
  payload: ["P5", "P6", "P7", "P8", "P9"],
  handler: ["R1", "R2", "R3", "R4", "R6"],
  process: ["X1", "X2", "X3"],
  inbox: ["I4", "I5", "I6", "I7", "I8", "I9", "I10", "R5"],
  "inbox-crash": ["I1", "I2", "I11"],
  "inbox-sqlite": ["I3", "I12"],
  pages: ["U1", "U3", "U4"],
  hub: ["T4", "T5"],
  "local-hub": ["L1", "L2", "L3", "L4"],
  tunnel: ["T1", "T2", "T3"],
  // What T2 asks of the registration is tried there too; it counts once.
  registration: ["T6"],
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

const resultsFolder = new URL("../../node_modules/.faults/", import.meta.url);

/** Each file runs in a process of its own, but all of one run have the same parent: the last one finds all results. */
function printSum(group: string, survived: number, lost: readonly string[]): void {
  if (lost.length > 0) console.log(`${group}: ${lost.join(", ")} did not survive`);
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(new URL(group, resultsFolder), `${process.ppid} ${survived}`);
  const results = Object.keys(rowsOf).map((name) => readResult(new URL(name, resultsFolder)));
  if (results.some(({ run }) => run !== process.ppid)) return;
  const sum = results.reduce((total, result) => total + result.survived, 0);
  console.log(`${sum} of ${Object.values(rowsOf).flat().length} rows survived`);
}

function readResult(file: URL): { run: number; survived: number } {
  const [run, survived] = existsSync(file) ? readFileSync(file, "utf8").split(" ") : [];
  return { run: Number(run), survived: Number(survived) };
}
