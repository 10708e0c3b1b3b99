import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isScope, parsePayload } from "../../src/index.ts";
import { type KnownScope, scopes } from "../../src/payload/names.ts";
import { actionOf, coversScope } from "../../src/payload/schema.ts";
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
