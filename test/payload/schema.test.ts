import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isScope, parsePayload } from "../../src/index.ts";
import { type KnownScope, repoTypes, scopes, summarizeEvent } from "../../src/payload/names.ts";
import { actionOf, coversScope } from "../../src/payload/schema.ts";
import { parseDomain, parseWatch, watchedTypes } from "../../src/payload/watch.ts";
import { webhookPayload } from "../../src/testing.ts";
import { changedAt, readFixture } from "../support/payloads.ts";

const commentsScope = "discussion.comment";

describe("A scope covers", () => {
  test.each([
    ["repo", ["repo", "repo.content", "repo.config"]],
    ["repo.content", ["repo.content"]],
    ["repo.config", ["repo.config"]],
    ["discussion", ["discussion", "discussion.comment"]],
    ["discussion.comment", ["discussion.comment"]],
  ])("of the known ones: %s covers %j", (wanted, covered) => {
    expect(scopes.filter((scope) => coversScope(wanted, scope))).toEqual(covered);
  });
});

describe("For any scopes, coversScope", () => {
  const part = fc.constantFrom("repo", "config", "configuration", "a", "");
  const scope = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(".")),
    fc.string(),
  );

  test("is the prefix relation of the scopes with a trailing dot", () => {
    const narrowed = fc.tuple(scope, fc.array(part, { maxLength: 2 })).map((parts) => parts.flat());
    fc.assert(
      fc.property(narrowed, scope, ([one = "", ...more], any) => {
        for (const other of [[one, ...more].join("."), any])
          expect(coversScope(one, other)).toBe(`${other}.`.startsWith(`${one}.`));
      }),
    );
  });
});

describe("actionOf()", () => {
  test.each(scopes)("is the action of the payload for the known scope %s", (scope) => {
    expect(actionOf(webhookPayload(scope, { event: { action: "create" } }))).toBe("create");
  });

  test("is an update for an unknown narrower scope", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect([payload.event.action, actionOf(payload)]).toEqual(["create", "update"]);
  });

  test("is the action of the payload for an unknown top-level scope", () => {
    const payload = parsePayload(changedAt(readFixture("repo-delete-model"), ["event", "scope"], "organisation"));
    expect(actionOf(payload)).toBe("delete");
  });
});

describe("isScope", () => {
  const everyPair = scopes.flatMap((scope) => scopes.map((wanted) => [scope, wanted] as const));

  test.each(everyPair)("recognizes for a %s payload whether it is %s or narrower", (scope, wanted) => {
    expect(isScope(webhookPayload(scope), wanted)).toBe(coversScope(wanted, scope));
  });

  test("accepts an unknown narrower scope with the fields of the broader one", () => {
    const payload = parsePayload(
      changedAt(readFixture("config-update-private"), ["event", "scope"], "repo.config.dois"),
    );
    expect(isScope(payload, "repo.config")).toBe(true);
    expect(isScope(payload, "repo")).toBe(true);
  });

  test("does not accept it without these fields", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect(isScope(payload, "repo.config")).toBe(false);
    expect(isScope(payload, "repo")).toBe(true);
  });

  test("validates an unknown content scope by its repository type", () => {
    const narrower = (name: string) =>
      parsePayload(changedAt(readFixture(name), ["event", "scope"], "repo.content.lfs"));
    const wanted: KnownScope = "repo.content";
    expect(isScope(narrower("content-update-model"), wanted)).toBe(true);
    expect(isScope(narrower("content-update-bucket"), wanted)).toBe(true);
    expect(isScope(narrower("content-update-kernel"), wanted)).toBe(true);
    expect(isScope(narrower("repo-create-dataset"), wanted)).toBe(false);
  });

  test("has no content for a hidden comment", () => {
    const payload = parsePayload(readFixture("comment-update-hidden"));
    expect(isScope(payload, commentsScope) && "content" in payload.comment).toBe(false);
    expect(isScope(payload, commentsScope) && payload.comment.hidden).toBe(true);
  });
});

describe("The summary of a payload", () => {
  test("contains the event and the repository", () => {
    const body = JSON.stringify({
      event: { scope: "repo.content", action: "update" },
      repo: { type: "dataset", name: "me/data", url: { web: "https://huggingface.co/datasets/me/data" } },
    });
    expect(summarizeEvent(body)).toEqual({
      scope: "repo.content",
      action: "update",
      repoType: "dataset",
      repoName: "me/data",
      repoUrl: "https://huggingface.co/datasets/me/data",
    });
  });

  test.for([
    [`{"event":{"scope":"repo"}}`, { scope: "repo" }],
    [`{"event":{"scope":7,"action":"move"},"repo":{"name":["x"]}}`, { action: "move" }],
    [`{"event":{"scope":""},"repo":{"name":"me/data","url":"x"}}`, { repoName: "me/data" }],
  ] as const)("contains only the fields that are texts: %s", ([body, summary]) => {
    expect(summarizeEvent(body)).toEqual(summary);
  });

  test.for([
    [{ discussion: { num: 3 } }, "#3"],
    [{ updatedRefs: [{ ref: "refs/heads/main" }] }, "main"],
    [{ updatedRefs: [{ ref: "refs/heads/feature/a" }] }, "feature/a"],
    [{ updatedRefs: [{ ref: "refs/tags/v1.0" }] }, "v1.0"],
    [{ updatedRefs: [{ ref: "refs/pr/3" }] }, "#3"],
    [{ updatedRefs: [{ ref: "refs/convert/parquet" }] }, "refs/convert/parquet"],
    [{ updatedRefs: [{ ref: "refs/heads/main" }, { ref: "refs/pr/1" }, { ref: "refs/pr/2" }] }, "main +2"],
    [{ updatedRefs: [] }, undefined],
    [{ updatedRefs: [{ ref: 7 }, { ref: "refs/heads/main" }] }, undefined],
    [{ updatedRefs: "refs/heads/main", discussion: { num: "3" } }, undefined],
  ] as const)("names the part of the repository: %j is %s", ([payload, subject]) => {
    expect(summarizeEvent(JSON.stringify(payload)).subject).toBe(subject);
  });

  test.each([
    "",
    "not JSON",
    "null",
    "[]",
    "7",
    `{"event":null}`,
    `{"event":"update"}`,
    `{"event":{"scope":{}}}`,
    `{"__proto__":{"event":{"scope":"x"}}}`,
    "[".repeat(99),
  ])("is empty for “%s”", (body) => {
    expect(summarizeEvent(body)).toEqual({});
  });

  test("is empty for a deleted body and for a body that is slow to parse", () => {
    expect(summarizeEvent(undefined)).toEqual({});
    const long = JSON.stringify({ event: { scope: "repo" }, files: ["x".repeat(1_000_000)] });
    expect(summarizeEvent(long)).toEqual({});
  });

  test("shortens long names, and omits a long URL", () => {
    const long = "n".repeat(10_000);
    const repo = { type: long, name: long, url: { web: `https://example.org/${long}` } };
    const short = `${"n".repeat(199)}…`;
    const summary = { scope: short, action: short, repoType: short, repoName: short };
    expect(summarizeEvent(JSON.stringify({ event: { scope: long, action: long }, repo }))).toEqual(summary);
  });
});

describe("parseWatch()", () => {
  test("accepts repositories of every type, users and organizations", () => {
    expect(watchedTypes).toEqual([...repoTypes, "user", "org"]);
  });

  test.each(watchedTypes)("parses type:name for the type %s", (type) => {
    expect(parseWatch(`${type}:acme`)).toEqual({ type, name: "acme" });
  });

  test("accepts colons and slashes in the name of a repository", () => {
    expect(parseWatch("model:me/a:b")).toEqual({ type: "model", name: "me/a:b" });
  });

  test.each([
    ["datset:me/data", 'Did you mean "dataset"?'],
    ["organisation:acme", "Valid types: model, dataset, space, bucket, kernel, user, org."],
    ["toString:x", "Unknown type"],
    ["me/data", "Use type:name"],
    ["org:acme/data", 'The name of an organization cannot contain "/"'],
    ["user:me/data", 'The name of a user cannot contain "/"'],
    ["model:me/a,model:me/b", "Pass several values separately"],
    ["dataset:me/*", 'does not support "*"'],
    ["dataset:", 'Use "dataset:name"'],
  ])("is rejected with a remedy if it is %s", (text, remedy) => {
    expect(parseWatch(text)).toEqual({ problem: expect.stringContaining(remedy) });
  });
});

describe("A domain", () => {
  test.each([
    ["repo", "repo"],
    ["discussion", "discussion"],
    ["discussions", "discussion"],
  ])("is %s", (text, domain) => expect(parseDomain(text)).toBe(domain));

  test.each(["repos", "", "Repo", "constructor"])("is not %j", (text) => expect(parseDomain(text)).toBeUndefined());
});
