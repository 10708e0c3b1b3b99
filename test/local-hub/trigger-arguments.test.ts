import { expect, test } from "vitest";
import { triggerArguments } from "../../src/local-hub/events/trigger.ts";

test.for([
  ["the watched repository", { repos: [], scopes: [] }, { type: "space", name: "me/app" }, ["space:me/app"]],
  ["a repository of the watched owner", { repos: [], scopes: [] }, { type: "user", name: "me" }, ["dataset:me/data"]],
  [
    "the repository in the filter",
    { repos: ["model:acme/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/net"],
  ],
  [
    "a repository of the type in the filter",
    { repos: ["model:acme/*"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "a repository of the watched owner if the filter lists another owner",
    { repos: ["model:other/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "the default scope if the scopes cover it",
    { repos: [], scopes: ["discussion", "repo"] },
    { type: "model", name: "me/net" },
    ["model:me/net"],
  ],
  [
    "the first scope if they do not cover the default",
    { repos: [], scopes: ["discussion.comment", "discussion"] },
    { type: "model", name: "me/net" },
    ["model:me/net", "--scope", "discussion.comment"],
  ],
] as const)("triggers %s", ([, filter, watched, words]) => {
  expect(triggerArguments({ ...filter, watched: [watched] })).toEqual(words);
});

test("triggers an example repository if nothing is watched", () => {
  expect(triggerArguments({ scopes: [], watched: [] })).toEqual(["dataset:me/data"]);
});
