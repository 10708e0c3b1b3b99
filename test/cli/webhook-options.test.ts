import { describe, expect, test } from "vitest";
import { collectDomain, collectWatched } from "../../src/cli/webhook-options.ts";
import { watchedTypes } from "../../src/payload/watch.ts";

describe("The values of --watch", () => {
  test.each(watchedTypes)("is type:name, for the type %s", (type) => {
    expect(collectWatched(`${type}:acme`, undefined)).toEqual([{ type, name: "acme" }]);
  });

  test("are added to the earlier values", () => {
    const first = collectWatched("dataset:me/data", undefined);
    expect(collectWatched("org:acme", first)).toEqual([
      { type: "dataset", name: "me/data" },
      { type: "org", name: "acme" },
    ]);
  });

  test("may have colons in the name", () => {
    expect(collectWatched("model:me/a:b:c", undefined)).toEqual([{ type: "model", name: "me/a:b:c" }]);
  });

  test.each([
    ["datset:me/data", 'Did you mean "dataset"?'],
    ["models:me/m", 'Did you mean "model"?'],
    ["Space:me/s", 'Did you mean "space"?'],
    ["organisation:acme", "Valid types: model, dataset, space, bucket, kernel, user, org."],
    ["constructor:x", "Unknown type"],
    [":me/data", "Unknown type"],
    ["me/data", "Use type:name"],
    ["654bbbc16f2ec14d77f109cc", "Put the ID before --watch"],
    ["org:", 'The name is missing. Use "org:name".'],
  ])("is refused with the remedy when it is %s", (text, remedy) => {
    expect(() => collectWatched(text, undefined)).toThrow(remedy);
  });
});

describe("The values of --domain", () => {
  test.each([
    ["repo", "repo"],
    ["discussion", "discussion"],
    ["discussions", "discussion"],
  ])("is %s, for %s", (text, domain) => {
    expect(collectDomain(text, undefined)).toEqual([domain]);
  });

  test("are deduplicated", () => {
    expect(collectDomain("discussions", collectDomain("discussion", ["repo"]))).toEqual(["repo", "discussion"]);
  });

  test.each([
    ["discusion", 'Did you mean "discussion"?'],
    ["repos", 'Did you mean "repo"?'],
    ["everything", "Valid domains: repo, discussion."],
    ["toString", "Unknown domain."],
  ])("is refused with the remedy when it is %s", (text, remedy) => {
    expect(() => collectDomain(text, undefined)).toThrow(remedy);
  });
});
