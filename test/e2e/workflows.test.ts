import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../support/project-folder.ts";

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; steps: { uses?: string; run?: string }[] }>;
}

const files = globSync(["**/.github/workflows/*.{yml,yaml}", "templates/*.yml"], {
  cwd: root,
  exclude: ["**/node_modules"],
});

describe.each(files)("%s", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  const workflow: Workflow = parse(text);

  test("pins each action by commit, with its version in a comment", () => {
    const uses = text.split("\n").filter((line) => /\buses:/.test(line));
    expect(uses).not.toEqual([]);
    for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("runs code of the repository and of dependencies only without the permission to publish", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const { permissions, steps } of Object.values(workflow.jobs)) {
      if (permissions === undefined) continue;
      expect(permissions).toEqual({ "id-token": "write" });
      expect(steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))).toEqual([]);
      expect(steps.filter(({ run = "" }) => /npm (?:ci|install|run)|npx/.test(run))).toEqual([]);
    }
  });
});
