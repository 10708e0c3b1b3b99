import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isScope, parsePayload } from "../../src/index.ts";
import { type KnownScope, scopes } from "../../src/payload/schema.ts";
import { actionOf, coversScope } from "../../src/payload/scope.ts";
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

  test("narrower ones that nobody knows yet", () => {
    expect(coversScope("repo", "repo.config.dois")).toBe(true);
    expect(coversScope("repo.config", "repo.config.dois")).toBe(true);
    expect(coversScope("repo.content", "repo.config.dois")).toBe(false);
  });

  test("none that only begins with the same letters", () => {
    expect(coversScope("repo", "repository")).toBe(false);
    expect(coversScope("repo.config", "repo.configuration.x")).toBe(false);
  });

  test("none that is broader", () => {
    expect(coversScope("repo.content", "repo")).toBe(false);
  });
});

describe("For any scopes, coversScope", () => {
  const part = fc.constantFrom("repo", "content", "config", "a", "");
  const scope = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(".")),
    fc.string(),
  );

  test("is reflexive", () => {
    fc.assert(fc.property(scope, (one) => coversScope(one, one)));
  });

  test("is transitive", () => {
    const chain = fc.tuple(scope, fc.array(part, { maxLength: 2 }), fc.array(part, { maxLength: 2 }));
    fc.assert(
      fc.property(chain, scope, ([broad, more, evenMore], other) => {
        const middle = [broad, ...more].join(".");
        const narrow = [middle, ...evenMore].join(".");
        expect(coversScope(broad, narrow)).toBe(true);
        if (coversScope(narrow, other)) expect(coversScope(broad, other)).toBe(true);
      }),
    );
  });

  test("holds in one direction only, for two that differ", () => {
    fc.assert(
      fc.property(scope, scope, (one, other) => one === other || !(coversScope(one, other) && coversScope(other, one))),
    );
  });

  test("agrees with whether one begins the other, once both end in a dot", () => {
    fc.assert(fc.property(scope, scope, (one, other) => coversScope(one, other) === `${other}.`.startsWith(`${one}.`)));
  });
});

describe("The action to act upon", () => {
  test.each(scopes)("is the payload's own where its scope is known: %s", (scope) => {
    expect(actionOf(webhookPayload(scope, { event: { action: "create" } }))).toBe("create");
  });

  test("is an update of the broader scope where a narrower one is not known", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect([payload.event.action, actionOf(payload)]).toEqual(["create", "update"]);
  });

  test("is the payload's own where the scope belongs to no known family", () => {
    const payload = parsePayload(changedAt(readFixture("repo-delete-model"), ["event", "scope"], "organisation"));
    expect(actionOf(payload)).toBe("delete");
  });
});

describe("isScope", () => {
  const everyPair = scopes.flatMap((scope) => scopes.map((wanted) => [scope, wanted] as const));

  test.each(everyPair)("tells of a %s whether it is %s or narrower", (scope, wanted) => {
    expect(isScope(webhookPayload(scope), wanted)).toBe(coversScope(wanted, scope));
  });

  test("takes a narrower scope that is not known where it has what the broader one promises", () => {
    const payload = parsePayload(
      changedAt(readFixture("config-update-private"), ["event", "scope"], "repo.config.dois"),
    );
    expect(isScope(payload, "repo.config")).toBe(true);
    expect(isScope(payload, "repo")).toBe(true);
  });

  test("does not take it where it lacks that: the handler would rely on it", () => {
    const payload = parsePayload(readFixture("config-dois-unknown"));
    expect(isScope(payload, "repo.config")).toBe(false);
    expect(isScope(payload, "repo")).toBe(true);
  });

  test("holds an unknown scope of content against its repository type", () => {
    const narrower = (name: string) =>
      parsePayload(changedAt(readFixture(name), ["event", "scope"], "repo.content.lfs"));
    const wanted: KnownScope = "repo.content";
    expect(isScope(narrower("content-update-model"), wanted)).toBe(true);
    expect(isScope(narrower("content-update-bucket"), wanted)).toBe(true);
    expect(isScope(narrower("content-update-kernel"), wanted)).toBe(true);
    expect(isScope(narrower("repo-create-dataset"), wanted)).toBe(false);
  });

  test("gives a hidden comment's content as absent", () => {
    const payload = parsePayload(readFixture("comment-update-hidden"));
    expect(isScope(payload, commentsScope) && "content" in payload.comment).toBe(false);
    expect(isScope(payload, commentsScope) && payload.comment.hidden).toBe(true);
  });
});
