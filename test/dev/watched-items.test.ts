import { expect, test } from "vitest";
import { defaultWatch } from "../../src/dev/session-state.ts";

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
] as const)("derives the default watch from a filter that names %s", ([, repos, watch]) => {
  expect(defaultWatch({ repos })).toEqual(watch);
});
