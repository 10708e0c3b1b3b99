import { expect, onTestFinished, test } from "vitest";
import { toResourceGroup } from "../../../src/local-hub/resources/resource-groups.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";

test("A resource group does not show a repository that is not there", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
  const there = { type: "model", name: "acme/there" } as const;
  store.repositories.put({ ...there, id: "a".repeat(24), private: true, discussions: 0 });
  const repos = [{ type: "model", name: "acme/gone" } as const, there];
  const group = { owner: "acme", id: "b".repeat(24), record: { name: "Some", createdAt: 0, users: [], repos } };
  expect(toResourceGroup(group, { store, baseUrl: "http://127.0.0.1" })).toEqual({
    id: group.id,
    name: "Some",
    users: [],
    resources: [{ ...there, private: true }],
    repos: [{ ...there, private: true }],
  });
});
