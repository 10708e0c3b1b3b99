import { describe, expect, test } from "vitest";
import {
  createFilter,
  createPathFilter,
  type FilterPrediction,
  type FilterValues,
  lintFilter,
  predictFilter,
} from "../../src/payload/filter.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";
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

describe("The prediction of a filter", () => {
  const none: FilterValues = { scopes: [], actions: [], repos: [], refs: [], paths: [] };
  const repo = { type: "dataset", name: "me/data" } as const;
  const [oldSha, newSha] = ["a".repeat(40), "b".repeat(40)];
  const push = webhookPayload("repo.content", { repo, updatedRefs: [{ ref: "refs/heads/main", oldSha, newSha }] });
  const deleted = webhookPayload("repo.content", {
    repo,
    updatedRefs: [{ ref: "refs/heads/main", oldSha, newSha: null }],
  });
  const bucket = webhookPayload("repo.content", { repo: { type: "bucket", name: "me/files" } });
  const truncated = { ...bucket, updatedFilesTruncated: true };

  test.each<[string, Partial<FilterValues>, WebhookPayload, FilterPrediction]>([
    ["no filter", {}, push, {}],
    ["a broader scope", { scopes: ["repo"] }, push, {}],
    ["another scope", { scopes: ["discussion"] }, push, { ignored: "scope repo.content is not discussion" }],
    ["a pattern of repositories", { repos: ["dataset:me/*"] }, push, {}],
    ["another repository", { repos: ["model:*"] }, push, { ignored: "repo dataset:me/data is not model:*" }],
    ["another action", { actions: ["create"] }, push, { ignored: "action update is not create" }],
    ["another ref", { refs: ["refs/pr/*"] }, push, { ignored: "no updated ref is refs/pr/*" }],
    ["unknown files", { paths: ["a", "b/**"] }, push, { condition: "if a changed file matches a or b/**" }],
    ["a deleted ref", { paths: ["a"] }, deleted, { ignored: "no changed file is a" }],
    ["a listed file", { paths: ["data/**"] }, bucket, {}],
    ["other listed files", { paths: ["docs/**", "a"] }, bucket, { ignored: "no changed file is docs/** or a" }],
    ["an incomplete list of files", { paths: ["docs/**"] }, truncated, {}],
    [
      "paths and an event without files",
      { paths: ["a"] },
      webhookPayload("repo"),
      { ignored: "scope repo has no changed files" },
    ],
  ])("with %s", (_what, filter, payload, prediction) => {
    expect(predictFilter({ ...none, ...filter }, payload)).toEqual(prediction);
  });

  test.each<Record<string, unknown>>([
    { updatedFiles: {} },
    { updatedFiles: [{ name: "a" }] },
    { updatedRefs: {} },
    { updatedRefs: [null] },
  ])("with files or refs of another form, which the schema of the scope does not check: %j", (changes) => {
    const payload = { ...push, event: { action: "update", scope: "repo.content.lfs" }, ...changes } as const;
    expect(predictFilter({ ...none, paths: ["a"] }, payload)).toEqual({});
  });

  test("compares known files, unless no changed ref is accepted", () => {
    const filter = { ...none, paths: ["data/**"] };
    const ignored = { ignored: "no changed file is data/**" };
    expect(predictFilter(filter, push, ["README.md", "data/train.csv"])).toEqual({});
    expect(predictFilter(filter, push, ["README.md"])).toEqual(ignored);
    expect(predictFilter(filter, deleted, ["data/train.csv"])).toEqual(ignored);
  });
});
