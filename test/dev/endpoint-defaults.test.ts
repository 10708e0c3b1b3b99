import { expect, test } from "vitest";
import { defaultWatch, suggestTrigger } from "../../src/dev/endpoint-defaults.ts";

const allOfLocalUser = [{ type: "user", name: "local-user" }];

test.for([
  ["nothing", [], allOfLocalUser],
  ["a repository", ["dataset:me/data"], [{ type: "dataset", name: "me/data" }]],
  ["an organization", ["model:acme/*"], [{ type: "org", name: "acme" }]],
  ["a user", ["*:local-user/*"], [{ type: "user", name: "local-user" }]],
  ["an unknown owner", ["dataset:me/*"], [{ type: "user", name: "me" }]],
  ["a repository of any type", ["*:me/data"], [{ type: "user", name: "me" }]],
  ["any owner", ["dataset:*/data"], allOfLocalUser],
  [
    "several",
    ["dataset:*/x", "space:me/app", "model:acme/*"],
    [
      { type: "space", name: "me/app" },
      { type: "org", name: "acme" },
    ],
  ],
] as const)("Derives the default watch from a filter that names %s", ([, repos, watched]) => {
  expect(defaultWatch({ repos })).toEqual(watched);
});

test.for([
  ["what is watched", { repos: [], scopes: [] }, { type: "space", name: "me/app" }, ["space:me/app"]],
  ["a repository of the owner", { repos: [], scopes: [] }, { type: "user", name: "me" }, ["dataset:me/data"]],
  [
    "the repository that the filter names",
    { repos: ["model:acme/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/net"],
  ],
  [
    "a repository of the type that the filter names",
    { repos: ["model:acme/*"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "no repository of another owner",
    { repos: ["model:other/net"], scopes: [] },
    { type: "org", name: "acme" },
    ["model:acme/data"],
  ],
  [
    "the default scope if the filter covers it",
    { repos: [], scopes: ["discussion", "repo"] },
    { type: "model", name: "me/net" },
    ["model:me/net"],
  ],
  [
    "a scope of the filter otherwise",
    { repos: [], scopes: ["discussion.comment", "discussion"] },
    { type: "model", name: "me/net" },
    ["model:me/net", "--scope", "discussion.comment"],
  ],
] as const)("The suggested trigger is %s", ([, endpoint, watched, words]) => {
  expect(suggestTrigger({ endpoint, watched: [watched] })).toEqual(words);
});

test("Suggests no trigger for an endpoint without a webhook", () => {
  expect(suggestTrigger({ endpoint: { repos: [], scopes: [] }, watched: [] })).toBeUndefined();
});
