import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { applyFault, loadFaults } from "./fault.ts";

const root = new URL("../../", import.meta.url);

test("each deliberate fault has a name of its own, applies to the current sources, and has tests", async () => {
  const faults = await loadFaults();
  expect(faults.filter(({ name }, index) => faults.findIndex((other) => other.name === name) !== index)).toEqual([]);
  const problems = faults.flatMap((fault) => {
    const applied = applyFault(fault, root);
    return "problem" in applied ? [`${fault.area}: ${fault.name}: ${applied.problem}`] : [];
  });
  expect(problems).toEqual([]);
});

test.each([["--area", "none"], ["--only", "no such fault"], ["--format", "xml"], ["--unknown"]])(
  "wrong usage ends with 2: %s %s",
  (...options) => {
    const script = fileURLToPath(new URL("main.ts", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [script, ...options], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^error: /) });
  },
);
