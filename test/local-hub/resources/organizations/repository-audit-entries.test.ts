import { expect, test } from "vitest";
import { repositoryAuditEntries } from "../../../../src/local-hub/events/publish-change.ts";
import type { RepositoryChange } from "../../../../src/local-hub/events/repository-change.ts";
import { storedRepository } from "../../support/repositories.ts";

const repository = storedRepository({ type: "model", name: "acme/net" });
const change: RepositoryChange = {
  ...{ scope: "repo", action: "update", user: "ada-adams" },
  ...{ before: repository, after: repository },
};

test("A repository that moves to another owner gets an entry with its previous name in both logs", () => {
  const moved = { ...repository, name: "other/net" };
  const entries = repositoryAuditEntries({ ...change, action: "move", after: moved });
  expect(entries.map(({ organization }) => organization)).toEqual(["acme", "other"]);
  expect(entries.map(({ data }) => data)).toEqual(
    Array(2).fill({ repo: { type: "model", name: "acme/net" }, movedTo: { name: "other/net" } }),
  );
});

test("An update of the scope repo.config, or of a narrower one, gets an entry even without updatedConfig", () => {
  for (const scope of ["repo.config", "repo.config.dois"]) {
    expect(repositoryAuditEntries({ ...change, scope })).toEqual([
      {
        organization: "acme",
        author: "ada-adams",
        type: "repo.update_settings",
        message: "Changed the settings of the model acme/net",
        data: { repo: { type: "model", name: "acme/net" }, updatedConfig: {} },
      },
    ]);
  }
  expect(repositoryAuditEntries({ ...change, scope: "repo.configs" })).toEqual([]);
});

test("Other updates, content updates and discussions get no entry", () => {
  for (const [scope, action] of [
    ["repo.content", "update"],
    ["repo", "update"],
    ["repo.dois", "update"],
    ["discussion", "create"],
    ["discussion", "delete"],
    ["discussion.comment", "create"],
  ] as const) {
    expect(repositoryAuditEntries({ ...change, scope, action }), `${scope} ${action}`).toEqual([]);
  }
});
