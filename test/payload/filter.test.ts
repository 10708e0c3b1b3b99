import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FilterOptions, parsePayload, type RepoPattern, type WebhookPayload } from "../../src/index.ts";
import {
  createFilter,
  createPathFilter,
  type FilterPrediction,
  type FilterValues,
  lintFilter,
  predictFilter,
} from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/testing.ts";
import { fixtureNames, readFixture } from "../support/payloads.ts";

/** Returns the reason why a payload does not match, or `undefined`. */
function reason(options: FilterOptions, payload: WebhookPayload): string | undefined {
  const filter = createFilter(options);
  if (!filter) throw new Error("These options should create a filter.");
  return filter(payload);
}

const dataset = webhookPayload("repo.content");
const repository = webhookPayload("repo");
const dois = parsePayload(readFixture("config-dois-unknown"));
const bucket = parsePayload(readFixture("content-update-bucket"));
const named = (type: string, name: string) => webhookPayload("repo", { repo: { type, name } });
const updating = (...refs: string[]) =>
  webhookPayload("repo.content", { updatedRefs: refs.map((ref) => ({ ref, oldSha: null, newSha: "5" })) });

test("A filter without options is undefined", () => {
  expect(createFilter({})).toBeUndefined();
});

const several: FilterOptions = {
  scope: "repo.content",
  action: "update",
  repo: "dataset:acme/*",
  ref: "refs/heads/main",
};

test.each<[string, FilterOptions, WebhookPayload, reason?: string]>([
  // Of several scopes, actions, repositories, or refs, one must match.
  ["the same scope", { scope: "repo.content" }, dataset],
  ["a narrower scope", { scope: "repo" }, dataset],
  ["an unknown narrower scope", { scope: "repo" }, dois],
  ["a scope that is unknown to this release", { scope: "repo.config.dois" }, dois],
  ["an unknown scope", { scope: "repo.config.dois" }, dataset, "scope repo.content is not repo.config.dois"],
  ["another scope", { scope: "discussion" }, dataset, "scope repo.content is not discussion"],
  ["a broader scope", { scope: "repo.content" }, repository, "scope repo is not repo.content"],
  ["one of several scopes", { scope: ["discussion", "repo.content"] }, dataset],
  ["none of several scopes", { scope: ["discussion", "a"] }, repository, "scope repo is not discussion or a"],
  ["a scope without the fields", { scope: "repo.config" }, dois, "scope repo.config.dois lacks fields of repo.config"],
  ["a scope without the fields of one of several", { scope: ["repo.config", "repo"] }, dois],
  ["the same action", { action: "update" }, dataset],
  ["another action", { action: "delete" }, dataset, "action update is not delete"],
  ["one of several actions", { action: ["create", "update"] }, dataset],
  ["none of several actions", { action: ["create", "move"] }, dataset, "action update is not create or move"],
  ["an unknown narrower scope, as an update", { action: "update" }, dois],
  ["an unknown narrower scope", { action: "create" }, dois, "action update is not create"],
  ["one of several repositories", { repo: ["model:acme/*", "dataset:acme/data"] }, dataset],
  ["none of several repositories", { repo: ["model:*", "a:b"] }, named("b", "c"), "repo b:c is not model:* or a:b"],
  ["one of several updated refs", { ref: "refs/heads/main" }, updating("refs/pr/1", "refs/heads/main")],
  ["no updated refs", { ref: "refs/heads/main" }, updating(), "no updated ref is refs/heads/main"],
  ["one of several refs", { ref: ["refs/heads/main", "refs/pr/*"] }, updating("refs/pr/1")],
  ["none of several refs", { ref: ["main", "refs/pr/*"] }, updating("a"), "no updated ref is main or refs/pr/*"],
  ["a payload without refs", { ref: "**" }, repository, "no updated ref is **"],
  ["a bucket, which has no refs", { ref: "**" }, bucket, "no updated ref is **"],
  // All fields must match, and the reason names the first that does not.
  ["all fields", several, dataset],
  ["another scope, with more fields", several, repository, "scope repo is not repo.content"],
  ["another action, with more fields", { ...several, action: "move" }, dataset, "action update is not move"],
  ["another repository, with more fields", { ...several, repo: "a:b" }, dataset, "repo dataset:acme/data is not a:b"],
  ["another ref, with more fields", several, updating("refs/pr/1"), "no updated ref is refs/heads/main"],
])("A filter on %s", (_what, options, payload, expected) => {
  expect(reason(options, payload)).toBe(expected);
});

describe("The repository of a filter", () => {
  test.each([
    ["dataset:acme/data", "dataset", "acme/data"],
    ["dataset:acme/data", "dataset", "Acme/Data"],
    ["dataset:Acme/D*", "dataset", "acme/data"],
    ["model:gpt2", "model", "gpt2"],
    ["dataset:*/data", "dataset", "acme/data"],
    ["dataset:acme/**", "dataset", "acme/deeper/data"],
    ["dataset:**/data", "dataset", "acme/deeper/data"],
    ["dataset:acme/da*ta", "dataset", "acme/data"],
    ["*:acme/**", "model", "acme/net"],
    ["**:**", "bucket", "acme/files"],
    ["s*:acme/*", "space", "acme/bot"],
    ["scroll:acme/*", "scroll", "acme/first"],
    ["model:acme/net:v2", "model", "acme/net:v2"],
    ["model:acme/v1.0+(beta)[1]{2}^3$|?\\d", "model", "acme/v1.0+(beta)[1]{2}^3$|?\\d"],
    ["model:acme/*", "model", "acme/\u{1f917}\n"],
  ] as const)("%s matches %s %j", (repo, type, name) => {
    expect(reason({ repo }, named(type, name))).toBeUndefined();
  });

  test.each([
    ["dataset:acme/data", "model", "acme/data"],
    ["dataset:acme/data", "dataset", "acme/data2"],
    ["dataset:acme/data", "dataset", "my-acme/data"],
    ["dataset:acme/*", "dataset", "acme/deeper/data"],
    ["dataset:acme/*", "dataset", "acme"],
    ["*:acme/*", "dataset", "other/data"],
    ["model:acme/v1.0", "model", "acme/v1x0"],
    ["model:acme/\\d", "model", "acme/7"],
    ["model:acme/[ab]", "model", "acme/a"],
    ["model:acme/net", "model", "acme/net\n"],
    ["model:acme/?", "model", "acme/x"],
  ] as const)("%s does not match %s %j", (repo, type, name) => {
    expect(reason({ repo }, named(type, name))).toBe(`repo ${type}:${name} is not ${repo}`);
  });
});

describe("The ref of a filter", () => {
  test.each([
    ["refs/heads/*", "refs/heads/main", true],
    ["refs/heads/**", "refs/heads/feature/rain", true],
    ["**", "refs/convert/parquet", true],
    ["refs/heads/main", "refs/heads/main2", false],
    ["refs/heads/*", "refs/heads/feature/rain", false],
    ["main", "refs/heads/main", false],
  ])("%s matches %s: %s", (ref, updated, matches) => {
    expect(reason({ ref }, updating(updated))).toBe(matches ? undefined : `no updated ref is ${ref}`);
  });

  test("does not match refs of more than 512 characters, which would be slow with several stars", () => {
    const [longest, longer] = [512, 513].map((length) => "refs/heads/".padEnd(length, "-"));
    const ref = "refs/heads/*-*";
    expect(reason({ ref }, updating(longest ?? ""))).toBeUndefined();
    expect(reason({ ref }, updating(longer ?? ""))).toBe("no updated ref is refs/heads/*-*");
    expect(reason({ ref }, updating(`refs/heads/${"-".repeat(9_000_000)}/`))).toBe("no updated ref is refs/heads/*-*");
  });

  test.each([{ main: 1 }, [null], [{ name: "main" }], [{ ref: 1 }]])(
    "does not match the refs of a future scope in another form: %j",
    (updatedRefs) => {
      const { event, ...payload } = repository;
      const future = parsePayload({ ...payload, event: { ...event, scope: "repo.refs" }, updatedRefs });
      expect(reason({ ref: "**" }, future)).toBe("no updated ref is **");
    },
  );
});

describe("Invalid options of a filter", () => {
  test.each([
    ["scope", { scope: "" }],
    ["scope", { scope: [] }],
    ["action", { action: [] }],
    ["action", { action: ["update", ""] }],
    ["repo", { repo: [] }],
    ["ref", { ref: "" }],
    ["ref", { ref: ["refs/heads/main", ""] }],
  ])("are refused immediately: an empty %s", (field, options) => {
    expect(() => createFilter(options)).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: `Option "${field}" contains no value or an empty value. Set a value, or omit the option to match everything.`,
      }),
    );
  });

  // JavaScript users can pass what the types reject.
  test.each<[string, object, string]>([
    ["null", { scope: null }, "scope"],
    ["a repository without a type", { repo: ":acme/data" }, 'as in "dataset:acme/data"'],
    ["a repository without a name", { repo: "dataset:" }, 'as in "dataset:dataset"'],
    ["a repository of a colon, as one of several", { repo: ["dataset:a/b", ":"] }, 'as in "dataset:me/data"'],
    ["a repository without a colon", { repo: "acme/data" }, 'as in "dataset:acme/data", or "*:" for all types'],
  ])("are refused immediately: %s", (_what, options, hint) => {
    expect(() => createFilter(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(hint) }),
    );
  });
});

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
    ["an event without files", { paths: ["a"] }, repository, { ignored: "scope repo has no changed files" }],
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

const takes = (options: FilterOptions, payload: WebhookPayload) => createFilter(options)?.(payload) === undefined;

/** Characters with a meaning in patterns, surrogate pairs, combined characters, and line breaks. */
const character = fc.oneof(
  fc.constantFrom(...".*+?^$()[]{}|\\/-,:=!<>#&~ \n\r\u2028\u{1f917}aA0\u00e9e\u0301"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const text = fc.array(character, { minLength: 1, maxLength: 12 }).map((characters) => characters.join(""));
const withoutStars = text.map((value) => value.replaceAll("*", "x"));
const withoutSlashes = text.map((value) => value.replaceAll("/", "x"));

describe("For any characters, a glob", () => {
  test("without stars matches itself", () => {
    fc.assert(fc.property(withoutStars, (ref) => takes({ ref }, updating(ref))));
    fc.assert(fc.property(withoutStars, (name) => takes({ repo: `dataset:${name}` }, named("dataset", name))));
  });

  test("without stars matches nothing else", () => {
    fc.assert(fc.property(withoutStars, text, (ref, other) => takes({ ref }, updating(other)) === (ref === other)));
    const nearly = withoutStars.chain((ref) =>
      fc.tuple(character, fc.nat(ref.length)).map(([extra, at]) => ({
        ref,
        longer: ref.slice(0, at) + extra + ref.slice(at),
      })),
    );
    fc.assert(fc.property(nearly, ({ ref, longer }) => !takes({ ref }, updating(longer))));
  });

  test("of two stars matches any name", () => {
    fc.assert(fc.property(text, (name) => takes({ repo: "dataset:**" }, named("dataset", name))));
    fc.assert(fc.property(text, (name) => takes({ repo: "*:**" }, named("dataset", name))));
  });

  test("of one star matches everything except a slash", () => {
    fc.assert(
      fc.property(text, (name) => takes({ repo: "dataset:*" }, named("dataset", name)) === !name.includes("/")),
    );
    fc.assert(
      fc.property(
        withoutStars,
        text,
        (owner, name) =>
          takes({ repo: `dataset:${owner}/*` }, named("dataset", `${owner}/${name}`)) === !name.includes("/"),
      ),
    );
  });

  test("matches any text in place of its stars", () => {
    fc.assert(
      fc.property(withoutStars, withoutStars, withoutSlashes, text, (beginning, end, segment, path) => {
        expect(takes({ ref: `${beginning}*${end}` }, updating(beginning + segment + end))).toBe(true);
        expect(takes({ ref: `${beginning}**${end}` }, updating(beginning + path + end))).toBe(true);
        expect(takes({ ref: `${beginning}*${end}` }, updating(beginning + end))).toBe(true);
      }),
    );
  });
});

const payload = fc.oneof(
  fc.constantFrom(...fixtureNames).map((name) => parsePayload(readFixture(name))),
  fc
    .constantFrom("repo", "repo.content", "repo.config", "discussion", "discussion.comment")
    .map((scope) => webhookPayload(scope)),
);

const someOf = <Value>(...values: Value[]) => fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 4 });

const scopes = someOf(
  "repo",
  "repo.content",
  "repo.config",
  "repo.config.dois",
  "discussion",
  "discussion.comment",
  "x",
);
const actions = someOf("create", "delete", "update", "move", "archive");
const repos = someOf<RepoPattern>("dataset:**", "*:acme/*", "model:*/clouds", "bucket:ada/checkpoints", "space:*");
const refs = someOf("refs/heads/main", "refs/heads/*", "refs/pr/*", "**", "main");

describe("For any payload, a filter", () => {
  test("with a list matches if a filter with one of the values does", () => {
    fc.assert(
      fc.property(payload, scopes, actions, repos, refs, (value, scope, action, repo, ref) => {
        expect(takes({ scope }, value)).toBe(scope.some((one) => takes({ scope: one }, value)));
        expect(takes({ action }, value)).toBe(action.some((one) => takes({ action: one }, value)));
        expect(takes({ repo }, value)).toBe(repo.some((one) => takes({ repo: one }, value)));
        expect(takes({ ref }, value)).toBe(ref.some((one) => takes({ ref: one }, value)));
      }),
      { numRuns: 100 },
    );
  });

  test("with several fields matches if a filter with each of them does", () => {
    fc.assert(
      fc.property(payload, scopes, actions, repos, refs, (value, scope, action, repo, ref) => {
        const each = [{ scope }, { action }, { repo }, { ref }];
        expect(takes({ scope, action, repo, ref }, value)).toBe(each.every((options) => takes(options, value)));
      }),
      { numRuns: 100 },
    );
  });

  test("does not depend on the order of its values", () => {
    fc.assert(
      fc.property(payload, scopes, repos, (value, scope, repo) => {
        const options = { scope: scope.toReversed(), repo: repo.toReversed() };
        expect(takes(options, value)).toBe(takes({ scope, repo }, value));
      }),
    );
  });
});
