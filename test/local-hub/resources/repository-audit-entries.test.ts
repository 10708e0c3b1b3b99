import { expect, test } from "vitest";
import { repositoryAuditEntries } from "../../../src/local-hub/resources/audit-log.ts";

const before = { type: "model", name: "acme/net", id: "1", private: false, discussions: 0 } as const;
const after = before;
const typesOf = (change: Parameters<typeof repositoryAuditEntries>[0]) =>
  repositoryAuditEntries(change).map(({ type }) => type);

test("A repository that is deleted before anyone had heard of it never came to be", () => {
  const event = { event: { scope: "repo", action: "delete" } };
  expect(typesOf({ event, isNew: true, before, after: undefined })).toEqual(["repo.delete"]);
});

test("A repository that comes to be by its move was created first", () => {
  const event = { event: { scope: "repo", action: "move" } };
  const moved = { ...after, name: "acme/other" };
  expect(typesOf({ event, isNew: true, before, after: moved })).toEqual(["repo.create", "repo.move"]);
});

test("A repository that moves to another owner is told of to both", () => {
  const event = { event: { scope: "repo", action: "move" } };
  const moved = { ...after, name: "other/net" };
  const entries = repositoryAuditEntries({ event, isNew: false, before, after: moved });
  expect(entries.map(({ organization }) => organization)).toEqual(["acme", "other"]);
});

test("A change of settings that the Hub does not report is one all the same, of a narrower scope too", () => {
  for (const scope of ["repo.config", "repo.config.dois"]) {
    const [entry] = repositoryAuditEntries({
      event: { event: { scope, action: "update" } },
      isNew: false,
      before,
      after,
    });
    expect(entry).toEqual({
      organization: "acme",
      author: "local-user",
      type: "repo.update_settings",
      message: "Changed the settings of the model acme/net",
      data: { repo: { type: "model", name: "acme/net" }, updatedConfig: {} },
    });
  }
  expect(
    typesOf({ event: { event: { scope: "repo.configs", action: "update" } }, isNew: false, before, after }),
  ).toEqual([]);
});
