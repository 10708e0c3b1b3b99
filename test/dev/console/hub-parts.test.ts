import { describe, expect, test } from "vitest";
import { examplesOf, reasonToIgnore, repositoriesOf } from "../../../src/dev/console/hub-parts.ts";
import { webhookPayload } from "../../../src/testing.ts";

describe("The reason why an endpoint ignores a payload", () => {
  const payload = webhookPayload("repo.content", { repo: { type: "dataset", name: "me/data" } });

  test.each([
    ["no filter", { scopes: [], repos: [] }],
    ["a broader scope", { scopes: ["repo"], repos: [] }],
    ["a pattern of repositories", { scopes: [], repos: ["dataset:me/*"] }],
  ])("is undefined with %s", (_what, endpoint) => {
    expect(reasonToIgnore(endpoint, payload)).toBeUndefined();
  });

  test.each([
    ["another scope", { scopes: ["discussion"], repos: [] }, /scope repo\.content/],
    ["another repository", { scopes: [], repos: ["model:*"] }, /repo dataset:me\/data/],
  ])("names the filter with %s", (_what, endpoint, reason) => {
    expect(reasonToIgnore(endpoint, payload)).toMatch(reason);
  });
});

describe("The repositories of an endpoint", () => {
  test("are those that it watches and those that its filter names, without owners and patterns", () => {
    const endpoint = {
      watch: [
        { type: "dataset", name: "me/data" },
        { type: "org", name: "acme" },
      ] as const,
      repos: ["model:me/net", "dataset:me/*", "*:me/x"],
    };
    expect(repositoriesOf(endpoint)).toEqual(["dataset:me/data", "model:me/net"]);
    expect(examplesOf(endpoint)).toEqual(["dataset:acme/data"]);
  });
});
