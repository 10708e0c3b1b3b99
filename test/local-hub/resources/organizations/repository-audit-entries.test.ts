import { expect, test } from "vitest";
import { repositoryAuditEntries } from "../../../../src/local-hub/resources/organizations/audit-log.ts";

const before = { type: "model", name: "acme/net", id: "1", private: false, discussions: 0 } as const;
const after = before;
const typesOf = (change: Parameters<typeof repositoryAuditEntries>[0]) =>
  repositoryAuditEntries(change).map(({ type }) => type);

test("An unknown repository that is deleted gets no entry for its creation", () => {
  const event = { event: { scope: "repo", action: "delete" } };
  expect(typesOf({ event, isNew: true, before, after: undefined })).toEqual(["repo.delete"]);
});

test("An unknown repository that is moved gets an entry for its creation first", () => {
  const event = { event: { scope: "repo", action: "move" } };
  const moved = { ...after, name: "acme/other" };
  expect(typesOf({ event, isNew: true, before, after: moved })).toEqual(["repo.create", "repo.move"]);
});

test("A repository that moves to another owner gets an entry in both logs", () => {
  const event = { event: { scope: "repo", action: "move" } };
  const moved = { ...after, name: "other/net" };
  const entries = repositoryAuditEntries({ event, isNew: false, before, after: moved });
  expect(entries.map(({ organization }) => organization)).toEqual(["acme", "other"]);
});

test("An update of the scope repo.config, or of a narrower one, gets an entry even without updatedConfig", () => {
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
