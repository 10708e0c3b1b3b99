import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import {
  createRepository,
  deleteRepository,
  moveRepository,
  updateRepositorySettings,
} from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";

const model = { type: "model", name: "me/net", user: "ada-adams" } as const;
const user = "ada-adams";
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

describe("A new repository", () => {
  test("has a first commit with .gitattributes, and fires its creation once", () => {
    const { context, clock } = openContext();
    clock.now = 5_000;
    const { repository, result } = createRepository(context, { ...model, private: true });
    const { content, repositories } = context.store;
    expect(repositories.get(model)).toEqual(repository);
    expect(repository).toMatchObject({ private: true, createdAt: 5_000, lastModified: 5_000, headSha: sha });
    const commit = content.resolve(repository.id, "main");
    expect(commit).toMatchObject({ oid: repository.headSha, parents: [], title: "initial commit", author: user });
    expect(Array.from(content.list(commit?.tree ?? ""), ({ path }) => path)).toEqual([".gitattributes"]);
    expect(payloadsOf(context, result)).toEqual([
      {
        event: { scope: "repo", action: "create" },
        repo: expect.objectContaining({ name: "me/net", private: true, headSha: repository.headSha }),
        webhook: expect.anything(),
      },
    ]);
  });

  test("stores images in LFS only if it is a dataset", () => {
    const { context } = openContext();
    const attributes = (["model", "dataset", "space"] as const).map((type) => {
      const { content } = context.store;
      const { repository } = createRepository(context, { ...model, type });
      const tree = content.resolve(repository.id, "main")?.tree ?? "";
      const { oid = "" } = content.find(tree, ".gitattributes") ?? {};
      return Buffer.from(content.read({ oid })).toString().split("\n");
    });
    const line = (pattern: string) => `${pattern} filter=lfs diff=lfs merge=lfs -text`;
    for (const lines of attributes) expect(lines).toContain(line("*.safetensors"));
    expect(attributes.map((lines) => lines.includes(line("*.png")))).toEqual([false, true, false]);
  });

  test("that is a bucket or a kernel has no stored content", () => {
    const { context } = openContext();
    const bucket = createRepository(context, { ...model, type: "bucket" });
    const kernel = createRepository(context, { ...model, type: "kernel" });
    expect([bucket.repository.headSha, kernel.repository.headSha]).toEqual([undefined, sha]);
    for (const { repository } of [bucket, kernel]) expect(context.store.content.refs(repository.id)).toEqual([]);
    expect(payloadsOf(context, kernel.result)).toMatchObject([{ repo: { headSha: kernel.repository.headSha } }]);
  });
});

test("A repository that is moved keeps its content, and is found by its previous names until another repository has them", () => {
  const { context } = openContext();
  const { repositories } = context.store;
  const { repository } = createRepository(context, model);
  const { repository: renamed } = moveRepository(context, { repository, name: "me/second", user });
  const { repository: moved, result } = moveRepository(context, { repository: renamed, name: "acme/net", user });
  expect(moveRepository(context, { repository: moved, name: "acme/net", user }).result.deliveries).toEqual([]);
  expect(repositories.get({ type: "model", name: "acme/net" })).toEqual({ ...repository, name: "acme/net" });
  expect(moved.headSha).toBe(repository.headSha);
  expect(payloadsOf(context, result)).toMatchObject([
    {
      event: { scope: "repo", action: "move" },
      repo: { name: "me/second", id: repository.id },
      movedTo: { name: "acme/net", owner: { id: expect.any(String) } },
    },
  ]);
  for (const name of ["me/net", "me/second"]) {
    expect(repositories.get({ type: "model", name })).toBeUndefined();
    expect(repositories.findMoved({ type: "model", name })).toEqual(moved);
  }
  const next = createRepository(context, model).repository;
  expect(next.id).not.toBe(repository.id);
  expect(repositories.findMoved(model)).toBeUndefined();
});

test("A repository that is deleted leaves neither content nor previous names behind", () => {
  const { context } = openContext();
  const { content, repositories } = context.store;
  const { repository } = createRepository(context, model);
  const { repository: moved } = moveRepository(context, { repository, name: "acme/net", user });
  const result = deleteRepository(context, { repository: moved, user });
  expect(payloadsOf(context, result)).toMatchObject([
    { event: { scope: "repo", action: "delete" }, repo: { name: "acme/net", headSha: repository.headSha } },
  ]);
  expect(repositories.all()).toEqual([]);
  expect(repositories.findMoved(model)).toBeUndefined();
  expect(content.refs(repository.id)).toEqual([]);
  expect(content.getCommit(repository.id, repository.headSha ?? "")).toBeUndefined();
  const [latest] = context.store.auditLog.page({
    organization: "acme",
    filter: { authors: [], ips: [], types: [] },
    before: undefined,
    limit: 1,
  }).events;
  expect(latest).toMatchObject({ type: "repo.delete", author: user });
});

test("A repository that is deleted leaves no file in LFS behind, except those of other repositories", async () => {
  const { context } = openContext();
  const { content } = context.store;
  const { repository } = createRepository(context, model);
  const { repository: other } = createRepository(context, { ...model, name: "me/other" });
  const save = async (text: string, ...ids: readonly string[]) => {
    const file = { oid: createHash("sha256").update(text).digest("hex"), size: text.length };
    for (const id of ids) await content.saveLarge(id, file, new Blob([text]).stream());
    return file.oid;
  };
  const own = await save("own", repository.id);
  const shared = await save("shared", repository.id, other.id);
  deleteRepository(context, { repository, user });
  expect(() => content.openLarge(own)).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(await text(content.openLarge(shared))).toBe("shared");
});

describe("Changed settings", () => {
  test("fire one event, which contains the visibility only if it changed", () => {
    const { context } = openContext();
    const { repository } = createRepository(context, model);
    const hidden = updateRepositorySettings(context, { repository, settings: { private: true }, user });
    expect(payloadsOf(context, hidden.result)).toMatchObject([
      { event: { scope: "repo.config", action: "update" }, repo: { private: true }, updatedConfig: { private: true } },
    ]);
    const settings = { private: true, gated: "auto", discussionsDisabled: true } as const;
    const gated = updateRepositorySettings(context, { repository: hidden.repository, settings, user });
    expect(payloadsOf(context, gated.result)).toEqual([expect.objectContaining({ updatedConfig: {} })]);
    expect(context.store.repositories.get(model)).toEqual({ ...repository, ...settings });
  });

  test("fire nothing if the repository already has them", () => {
    const { context } = openContext();
    const { repository } = createRepository(context, model);
    const settings = { private: false, gated: false, discussionsDisabled: false } as const;
    const { result } = updateRepositorySettings(context, { repository, settings, user });
    expect(result).toEqual({ deliveries: [], notFired: [], notified: [] });
  });
});
