import { describe, expect, test } from "vitest";
import { repoTypes } from "../../src/payload/names.ts";
import { parseDomain, parseWatch, watchedTypes } from "../../src/payload/watch.ts";

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
