import { describe, expect, test } from "vitest";
import { type FilterOptions, parsePayload, type RepoPattern, type WebhookPayload } from "../../src/index.ts";
import { createFilter } from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/testing.ts";
import { readFixture } from "../support/payloads.ts";

/** Returns the reason why a payload does not match, or `undefined`. */
function reason(options: FilterOptions, payload: WebhookPayload): string | undefined {
  const filter = createFilter(options);
  if (!filter) throw new Error("These options should create a filter.");
  return filter(payload);
}

const dataset = webhookPayload("repo.content");
const named = (type: string, name: string) => webhookPayload("repo", { repo: { type, name } });
const updating = (...refs: string[]) =>
  webhookPayload("repo.content", { updatedRefs: refs.map((ref) => ({ ref, oldSha: null, newSha: "5" })) });

test("A filter without options is undefined", () => {
  expect(createFilter({})).toBeUndefined();
});

describe("The scope of a filter", () => {
  test("matches the same and every narrower scope", () => {
    expect(reason({ scope: "repo" }, dataset)).toBeUndefined();
    expect(reason({ scope: "repo.content" }, dataset)).toBeUndefined();
    expect(reason({ scope: "repo" }, parsePayload(readFixture("config-dois-unknown")))).toBeUndefined();
  });

  test("does not match other scopes, and returns the reason", () => {
    expect(reason({ scope: "discussion" }, dataset)).toBe("scope repo.content is not discussion");
    expect(reason({ scope: "repo.content" }, webhookPayload("repo"))).toBe("scope repo is not repo.content");
  });

  test("may be several", () => {
    const scope = ["discussion", "repo.content"];
    expect(reason({ scope }, dataset)).toBeUndefined();
    expect(reason({ scope }, webhookPayload("repo.config"))).toBe(
      "scope repo.config is not discussion or repo.content",
    );
  });

  test("may be unknown to this release", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect(reason({ scope: "repo.config.dois" }, payload)).toBeUndefined();
    expect(reason({ scope: "repo.config.dois" }, dataset)).toBe("scope repo.content is not repo.config.dois");
  });

  test("does not match a narrower scope without the fields of the wanted one", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect(reason({ scope: "repo.config" }, payload)).toBe("scope repo.config.dois lacks fields of repo.config");
    expect(reason({ scope: ["repo.config", "repo"] }, payload)).toBeUndefined();
  });
});

describe("The action of a filter", () => {
  test("is compared exactly", () => {
    expect(reason({ action: "update" }, dataset)).toBeUndefined();
    expect(reason({ action: "delete" }, dataset)).toBe("action update is not delete");
  });

  test("may be several", () => {
    expect(reason({ action: ["create", "update"] }, dataset)).toBeUndefined();
    expect(reason({ action: ["create", "move"] }, dataset)).toBe("action update is not create or move");
  });

  test("counts an unknown narrower scope as an update", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect(payload.event.action).toBe("create");
    expect(reason({ action: "update" }, payload)).toBeUndefined();
    expect(reason({ action: "create" }, payload)).toBe("action update is not create");
  });
});

describe("The repository of a filter", () => {
  test.each([
    ["dataset:acme/data", "dataset", "acme/data"],
    ["dataset:acme/data", "dataset", "Acme/Data"],
    ["dataset:Acme/D*", "dataset", "acme/data"],
    ["model:gpt2", "model", "gpt2"],
    ["dataset:acme/*", "dataset", "acme/data"],
    ["dataset:*/data", "dataset", "acme/data"],
    ["dataset:*/*", "dataset", "acme/data"],
    ["dataset:**", "dataset", "acme/data"],
    ["dataset:acme/**", "dataset", "acme/deeper/data"],
    ["dataset:**/data", "dataset", "acme/deeper/data"],
    ["dataset:acme/d*a", "dataset", "acme/data"],
    ["dataset:acme/da*ta", "dataset", "acme/data"],
    ["dataset:*", "dataset", "squad"],
    ["*:acme/**", "model", "acme/net"],
    ["**:**", "bucket", "acme/files"],
    ["s*:acme/*", "space", "acme/bot"],
    ["scroll:acme/*", "scroll", "acme/first"],
    ["model:acme/net:v2", "model", "acme/net:v2"],
    ["model:acme/v1.0+(beta)[1]{2}^3$|?", "model", "acme/v1.0+(beta)[1]{2}^3$|?"],
    ["model:acme/\\d", "model", "acme/\\d"],
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
    ["dataset:*", "dataset", "acme/data"],
    ["*:acme/*", "dataset", "other/data"],
    ["model:acme/v1.0", "model", "acme/v1x0"],
    ["model:acme/\\d", "model", "acme/7"],
    ["model:acme/[ab]", "model", "acme/a"],
    ["model:acme/net", "model", "acme/net\n"],
    ["model:acme/?", "model", "acme/x"],
  ] as const)("%s does not match %s %j", (repo, type, name) => {
    expect(reason({ repo }, named(type, name))).toBe(`repo ${type}:${name} is not ${repo}`);
  });

  test("may be several", () => {
    const repo = ["model:acme/*", "dataset:acme/data"] as const;
    expect(reason({ repo }, dataset)).toBeUndefined();
    expect(reason({ repo }, named("space", "acme/bot"))).toBe(
      "repo space:acme/bot is not model:acme/* or dataset:acme/data",
    );
  });
});

describe("The ref of a filter", () => {
  test.each([
    ["refs/heads/main", "refs/heads/main"],
    ["refs/heads/*", "refs/heads/main"],
    ["refs/pr/*", "refs/pr/12"],
    ["refs/heads/**", "refs/heads/feature/rain"],
    ["**", "refs/convert/parquet"],
  ])("%s matches %s", (ref, updated) => {
    expect(reason({ ref }, updating(updated))).toBeUndefined();
  });

  test.each([
    ["refs/heads/main", "refs/heads/main2"],
    ["refs/heads/*", "refs/pr/12"],
    ["refs/heads/*", "refs/heads/feature/rain"],
    ["main", "refs/heads/main"],
  ])("%s does not match %s", (ref, updated) => {
    expect(reason({ ref }, updating(updated))).toBe(`no updated ref is ${ref}`);
  });

  test("matches if at least one of the updated refs does", () => {
    expect(reason({ ref: "refs/heads/main" }, updating("refs/pr/1", "refs/heads/main"))).toBeUndefined();
    expect(reason({ ref: "refs/heads/main" }, updating())).toBe("no updated ref is refs/heads/main");
  });

  test("may be several", () => {
    const ref = ["refs/heads/main", "refs/pr/*"];
    expect(reason({ ref }, updating("refs/pr/1"))).toBeUndefined();
    expect(reason({ ref }, updating("refs/convert/parquet"))).toBe("no updated ref is refs/heads/main or refs/pr/*");
  });

  test("does not match refs of more than 512 characters, which would be slow with several stars", () => {
    const [longest, longer] = [512, 513].map((length) => "refs/heads/".padEnd(length, "-"));
    const ref = "refs/heads/*-*";
    expect(reason({ ref }, updating(longest ?? ""))).toBeUndefined();
    expect(reason({ ref }, updating(longer ?? ""))).toBe("no updated ref is refs/heads/*-*");
    expect(reason({ ref }, updating(`refs/heads/${"-".repeat(9_000_000)}/`))).toBe("no updated ref is refs/heads/*-*");
  });

  test("does not match a payload without refs", () => {
    expect(reason({ ref: "**" }, webhookPayload("repo"))).toBe("no updated ref is **");
    expect(reason({ ref: "**" }, parsePayload(readFixture("content-update-bucket")))).toBe("no updated ref is **");
  });

  test.each([{ main: 1 }, [null], [{ name: "main" }], [{ ref: 1 }]])(
    "does not match the refs of a future scope in another form: %j",
    (updatedRefs) => {
      const { event, ...payload } = webhookPayload("repo");
      const future = parsePayload({ ...payload, event: { ...event, scope: "repo.refs" }, updatedRefs });
      expect(reason({ ref: "**" }, future)).toBe("no updated ref is **");
    },
  );
});

describe("Several fields of a filter", () => {
  const options: FilterOptions = {
    scope: "repo.content",
    action: "update",
    repo: "dataset:acme/*",
    ref: "refs/heads/main",
  };

  test("must all match", () => {
    expect(reason(options, dataset)).toBeUndefined();
  });

  test.each([
    ["scope", webhookPayload("repo"), "scope repo is not repo.content"],
    ["action", webhookPayload("repo.content", { event: { action: "move" } }), "action move is not update"],
    ["repo", parsePayload(readFixture("content-update-model")), "repo model:ada/clouds is not dataset:acme/*"],
    ["ref", updating("refs/pr/1"), "no updated ref is refs/heads/main"],
  ])("name the first that does not: %s", (_field, payload, expected) => {
    expect(reason(options, payload)).toBe(expected);
  });
});

describe("Invalid options", () => {
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

  test("are refused immediately: null", () => {
    // @ts-expect-error The type already rejects this value. JavaScript users can still pass it.
    expect(() => createFilter({ scope: null })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  const unusable: readonly [RepoPattern, string][] = [
    [":acme/data", 'as in "dataset:acme/data"'],
    ["dataset:", 'as in "dataset:dataset"'],
    [":", 'as in "dataset:me/data"'],
  ];

  test.each(unusable)("are rejected: the repository %j without a type or a name", (repo, hint) => {
    expect(() => createFilter({ repo })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(hint) }),
    );
  });

  test("are rejected: a repository without a colon", () => {
    // @ts-expect-error The type already rejects this value. JavaScript users can still pass it.
    expect(() => createFilter({ repo: "acme/data" })).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining('as in "dataset:acme/data", or "*:" for all types'),
      }),
    );
  });

  test("are rejected if one of several values is invalid", () => {
    expect(() => createFilter({ repo: ["dataset:acme/data", ":"] })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});
