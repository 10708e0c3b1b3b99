import type { Fault } from "../fault.ts";

const catchUp = "test/catch-up/catch-up.test.ts";
const ranges = "test/catch-up/ranges.test.ts";

export const faults: readonly Fault[] = [
  {
    name: "accepted pushes are derived again",
    file: "src/catch-up/accepted.ts",
    find: "else this.refs.set(ref, [change]);",
    replace: "",
    tests: [catchUp],
  },
  {
    name: "what came after the last accepted push is not derived",
    file: "src/catch-up/changes.ts",
    find: "  moveTo(end);\n",
    replace: "",
    tests: [ranges],
  },
  {
    name: "a force push whose reversal was lost is not connected",
    file: "src/catch-up/changes.ts",
    find: "if (first === last) continue;",
    replace: "continue;",
    tests: [ranges],
  },
  {
    name: "late deliveries of derived changes run again",
    file: "src/receiver/conditions.ts",
    find: 'if (part === "nothing") return { ignored: coveredReason };',
    replace: "",
    tests: [catchUp],
  },
  {
    name: "a late delivery of another change is ignored",
    file: "src/catch-up/covered.ts",
    find: "if (end === -1 || newSha === from) continue;",
    replace: "",
    tests: [ranges],
  },
  {
    name: "the same change is not derived again after it was undone",
    file: "src/catch-up/endpoint-run.ts",
    find: "first + index + 1",
    replace: "1",
    tests: [catchUp],
  },
  {
    name: "a dry run accepts deliveries",
    file: "src/receiver/deliver.ts",
    find: '    if (dryRun) return "accepted";\n',
    replace: "",
    tests: [catchUp],
  },
  {
    name: "two processes derive at the same time",
    file: "src/catch-up/catch-up.ts",
    find: "if (!hasClaim) return { ...report, isElsewhere: true };\n    // Renewed",
    replace: "// Renewed",
    tests: [catchUp],
  },
  {
    name: "a claim is kept after the run",
    file: "src/catch-up/catch-up.ts",
    find: "await claim(0)",
    replace: "await claim(claimMs)",
    tests: [catchUp],
  },
  {
    name: "senders choose IDs of derived deliveries",
    file: "src/receiver/deliver.ts",
    find: " && !id.startsWith(derivedIdPrefix)",
    replace: "",
    tests: [catchUp],
  },
  {
    name: "a Space forgets what catch-up has seen",
    file: "src/receiver/catch-up.ts",
    find: "    this.#assertDurable();\n",
    replace: "",
    tests: [catchUp],
  },
  {
    name: "polling ignores the rate limit",
    file: "src/receiver/catch-up.ts",
    find: "if (everyMs >= shortest) return;",
    replace: "return;",
    tests: [catchUp],
  },
  {
    name: "calls exceed the budget of a window",
    file: "src/catch-up/call-budget.ts",
    find: "this.#used < this.perWindow",
    replace: "this.#used <= this.perWindow",
    tests: [ranges],
  },
  {
    name: "a claim ends while a run waits for the rate limit",
    file: "src/catch-up/catch-up.ts",
    find: "hasClaim = await claim(claimMs).catch(() => false);",
    replace: "",
    tests: [catchUp],
  },
  {
    name: "the first refs that an endpoint receives are never read",
    file: "src/catch-up/endpoint-run.ts",
    find: "      known?.refs !== undefined &&\n",
    replace: "",
    tests: [catchUp],
  },
];
