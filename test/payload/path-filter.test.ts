import { describe, expect, test } from "vitest";
import { createFilter, createPathFilter, lintFilter } from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/testing.ts";

describe("The option paths", () => {
  test.each([
    ["README.md", "README.md", true],
    ["README.md", "docs/README.md", false],
    ["README.md", "READMEXmd", false],
    ["*.md", "docs/README.md", false],
    ["**.md", "docs/README.md", true],
    ["data/**", "data/a/b.parquet", true],
    ["data/**", "data.txt", false],
    ["data/*", "data/a/b.parquet", false],
    ["**/a*/c", "x/ab/c/ab/c", true],
    ["**/a*/c", "x/ab/b/c", false],
    ["*/*.md", "docs/.md", true],
    ["data/**", "data/", true],
    ["data/**", `data/${"x".repeat(2_000)}`, true],
    ["README.md", `data/${"x".repeat(2_000)}`, true],
  ])("%j on %.20j: %s", (paths, path, matches) => {
    expect(createPathFilter({ paths })?.matches(path)).toBe(matches);
  });

  test("matches in a short time, whatever the path is", { timeout: 500 }, () => {
    // With a regular expression, this path takes 10 seconds.
    expect(createPathFilter({ paths: "*-*-*-*-*.json" })?.matches("-".repeat(200))).toBe(false);
    expect(createPathFilter({ paths: "*-*-*-*-*.json" })?.matches(`${"-".repeat(200)}.json`)).toBe(true);
  });

  test("takes a list, of which one path must match", () => {
    const filter = createPathFilter({ paths: ["README.md", "data/**"] });
    expect(["README.md", "data/a", "other"].map((path) => filter?.matches(path))).toEqual([true, true, false]);
  });

  test("counts the changes of refs that the option ref accepts", () => {
    const accepts = (ref?: string) =>
      ["refs/heads/main", "refs/pr/1"].map(
        createPathFilter({ paths: "a", ...(ref && { ref }) })?.acceptsRef ?? Boolean,
      );
    expect([accepts(), accepts("refs/heads/*")]).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  test.each([[""], [[]], [["a", ""]]])("may not be %j", (paths) => {
    expect(() => createPathFilter({ paths })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  test("ignores all events but changes of content", () => {
    const filter = createFilter({ paths: "README.md" });
    const reasons = (["repo.content", "repo.config", "discussion"] as const).map((scope) =>
      filter?.(webhookPayload(scope)),
    );
    expect(reasons).toEqual([
      undefined,
      "scope repo.config has no changed files",
      "scope discussion has no changed files",
    ]);
  });

  test.each([
    [undefined, 1],
    ["repo", 1],
    [["repo.content", "discussion"], 1],
    ["repo.content", 0],
    [["repo.content", "repo.content.lfs"], 0],
  ] as const)("with scope %j has %i warnings about other events", (scope, count) => {
    const warnings = lintFilter({ paths: "README.md", ...(scope && { scope }) });
    expect(warnings.filter((warning) => warning.includes('Option "paths"'))).toHaveLength(count);
  });
});
