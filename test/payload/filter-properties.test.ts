import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FilterOptions, RepoPattern, WebhookPayload } from "../../src/index.ts";
import { parsePayload } from "../../src/index.ts";
import { createFilter } from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/testing.ts";
import { fixtureNames, readFixture } from "../support/payloads.ts";

const takes = (options: FilterOptions, payload: WebhookPayload) => createFilter(options)?.(payload) === undefined;

/** Characters with a meaning in patterns, surrogate pairs, combined characters, and line breaks. */
const character = fc.oneof(
  fc.constantFrom(...".*+?^$()[]{}|\\/-,:=!<>#&~ \n\r\u2028\u{1f917}aA0\u00e9e\u0301"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const text = fc.array(character, { minLength: 1, maxLength: 12 }).map((characters) => characters.join(""));
const withoutStars = text.map((value) => value.replaceAll("*", "x"));
const withoutSlashes = text.map((value) => value.replaceAll("/", "x"));

const updating = (ref: string) => webhookPayload("repo.content", { updatedRefs: [{ ref, oldSha: null, newSha: "5" }] });
const named = (name: string) => webhookPayload("repo", { repo: { name } });

describe("For any characters, a glob", () => {
  test("without stars matches itself", () => {
    fc.assert(fc.property(withoutStars, (ref) => takes({ ref }, updating(ref))));
    fc.assert(fc.property(withoutStars, (name) => takes({ repo: `dataset:${name}` }, named(name))));
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
    fc.assert(fc.property(text, (name) => takes({ repo: "dataset:**" }, named(name))));
    fc.assert(fc.property(text, (name) => takes({ repo: "*:**" }, named(name))));
  });

  test("of one star matches everything except a slash", () => {
    fc.assert(fc.property(text, (name) => takes({ repo: "dataset:*" }, named(name)) === !name.includes("/")));
    fc.assert(
      fc.property(
        withoutStars,
        text,
        (owner, name) => takes({ repo: `dataset:${owner}/*` }, named(`${owner}/${name}`)) === !name.includes("/"),
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

const several = <Value>(...values: Value[]) => fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 4 });

const scopes = several(
  "repo",
  "repo.content",
  "repo.config",
  "repo.config.dois",
  "discussion",
  "discussion.comment",
  "x",
);
const actions = several("create", "delete", "update", "move", "archive");
const repos = several<RepoPattern>("dataset:**", "*:acme/*", "model:*/clouds", "bucket:ada/checkpoints", "space:*");
const refs = several("refs/heads/main", "refs/heads/*", "refs/pr/*", "**", "main");

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
