import { expect, test } from "vitest";
import { watchByDefault } from "../../src/dev/endpoint-defaults.ts";
import { suggestTrigger } from "../../src/dev/suggested-trigger.ts";

const everythingOfTheDeveloper = [{ type: "user", name: "local-user" }];

test.for([
  ["nothing is named", [], everythingOfTheDeveloper],
  ["a repository is named", ["dataset:me/data"], [{ type: "dataset", name: "me/data" }]],
  ["all of an organization is named", ["model:acme/*"], [{ type: "org", name: "acme" }]],
  ["all of a user is named", ["*:local-user/*"], [{ type: "user", name: "local-user" }]],
  ["all of an unknown owner is named", ["dataset:me/*"], [{ type: "user", name: "me" }]],
  ["any type of a repository is named", ["*:me/data"], [{ type: "user", name: "me" }]],
  ["any owner is named", ["dataset:*/data"], everythingOfTheDeveloper],
  [
    "several are named",
    ["dataset:*/x", "space:me/app", "model:acme/*"],
    [
      { type: "space", name: "me/app" },
      { type: "org", name: "acme" },
    ],
  ],
] as const)("What a webhook watches by default where %s follows from that", ([, repos, watched]) => {
  expect(watchByDefault({ repos })).toEqual(watched);
});

test.for([
  ["what is watched", { repos: [], scopes: [] }, { type: "space", name: "me/app" }, ["space:me/app"]],
  ["a repository of the owner", { repos: [], scopes: [] }, { type: "user", name: "me" }, ["dataset:me/data"]],
  [
    "one that the filter names",
    { repos: ["model:acme/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/net"],
  ],
  [
    "one of the type that the filter names",
    { repos: ["model:acme/*"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "none of another owner",
    { repos: ["model:other/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "the usual scope where that is heard",
    { repos: [], scopes: ["discussion", "repo"] },
    { type: "model", name: "me/net" },
    ["model:me/net"],
  ],
  [
    "a scope that is heard",
    { repos: [], scopes: ["discussion.comment", "discussion"] },
    { type: "model", name: "me/net" },
    ["model:me/net", "--scope", "discussion.comment"],
  ],
] as const)("The suggested trigger is %s", ([, endpoint, watched, words]) => {
  expect(suggestTrigger({ endpoint, watched: [watched] })).toEqual(words);
});

test("Nothing is suggested where nothing is watched", () => {
  expect(suggestTrigger({ endpoint: { repos: [], scopes: [] }, watched: [] })).toBeUndefined();
});
