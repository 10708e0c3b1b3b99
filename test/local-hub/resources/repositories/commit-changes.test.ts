import { describe, expect, test } from "vitest";
import type { TriggerResult } from "../../../../src/local-hub/events/publish-change.ts";
import type { HubContext } from "../../../../src/local-hub/hub-context.ts";
import {
  commitChanges,
  createBranch,
  createTag,
  deleteBranch,
  deleteTag,
} from "../../../../src/local-hub/resources/repositories/refs.ts";
import { createRepository } from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";

const model = { type: "model", name: "me/net" } as const;
const user = "ada-adams";
const main = "refs/heads/main";
const nothing = { deliveries: [], notFired: [], notified: [] };

function openRepository() {
  const { context, clock } = openContext();
  const { repository } = createRepository(context, { ...model, user });
  const head = repository.headSha ?? "";
  const commit = (path: string, text: string, options: { ref?: string; parent?: string } = {}) =>
    commitChanges(context, {
      ...{ repository, ref: main, title: `Change ${path}`, message: "", user },
      changes: [{ path, content: Buffer.from(text) }],
      ...options,
    });
  return { context, clock, repository, head, commit };
}

function refsOf(context: HubContext, result: TriggerResult): unknown[] {
  return payloadsOf(context, result).map(({ event, repo, updatedRefs }) => [event, repo.headSha, updatedRefs]);
}

const updated = { scope: "repo.content", action: "update" };

describe("A commit", () => {
  test("moves the branch, fires one event, and changes the date of the repository if the branch is main", () => {
    const { context, clock, repository, head, commit } = openRepository();
    const { repositories } = context.store;
    clock.now = 2_000;
    const first = commit("a.txt", "1");
    expect(first.commit).toMatchObject({ parents: [head], title: "Change a.txt", author: user, date: 2_000 });
    const newSha = first.commit.oid;
    expect(refsOf(context, first.result)).toEqual([[updated, newSha, [{ ref: main, oldSha: head, newSha }]]]);
    expect(repositories.get(model)).toMatchObject({ headSha: newSha, createdAt: 0, lastModified: 2_000 });

    clock.now = 3_000;
    createBranch(context, { repository, name: "dev", commit: head, user });
    const ref = "refs/heads/dev";
    const other = commit("b.txt", "1", { ref });
    expect(refsOf(context, other.result)).toEqual([
      [updated, newSha, [{ ref, oldSha: head, newSha: other.commit.oid }]],
    ]);
    expect(repositories.get(model)).toMatchObject({ headSha: newSha, lastModified: 2_000 });
  });

  test("that changes no file is not made, fires nothing, and returns the current head", () => {
    const { context, repository, head, commit } = openRepository();
    const { commit: made } = commit("a.txt", "1");
    const again = commit("a.txt", "1");
    expect([again.commit.oid, again.result]).toEqual([made.oid, nothing]);
    const history = context.store.content.history(repository.id, context.store.repositories.get(model)?.headSha ?? "");
    expect(Array.from(history, ({ oid }) => oid)).toEqual([made.oid, head]);
  });

  test("among many fires its event once, in the order of the commits", () => {
    const { context, head, commit } = openRepository();
    const results = Array.from({ length: 50 }, (_, number) => commit("a.txt", `${number}`).result);
    const updates = results.flatMap((result) => payloadsOf(context, result).flatMap((payload) => payload.updatedRefs));
    expect(updates).toHaveLength(50);
    const heads = [head, ...updates.map((update) => update?.newSha)];
    expect(updates.map((update) => update?.oldSha)).toEqual(heads.slice(0, -1));
  });
});

describe("A branch or tag", () => {
  test.each([
    ["refs/heads/dev", createBranch, deleteBranch],
    ["refs/tags/dev", createTag, deleteTag],
  ])("is created and deleted with one event each: %s", (ref, create, remove) => {
    const { context, repository, head, commit } = openRepository();
    const headSha = commit("a.txt", "1").commit.oid;
    const name = "dev";
    const created = create(context, { repository, name, commit: head, user });
    expect(refsOf(context, created)).toEqual([[updated, headSha, [{ ref, oldSha: null, newSha: head }]]]);
    expect(context.store.content.getRef(repository.id, ref)).toBe(head);
    expect(() => create(context, { repository, name, commit: head, user })).toThrow(
      expect.objectContaining({ status: 409 }),
    );
    const deleted = remove(context, { repository, name, user });
    expect(refsOf(context, deleted)).toEqual([[updated, headSha, [{ ref, oldSha: head, newSha: null }]]]);
    expect(context.store.content.getRef(repository.id, ref)).toBeUndefined();
    expect(() => remove(context, { repository, name, user })).toThrow(expect.objectContaining({ status: 404 }));
  });

  test("can be overwritten, and fires nothing if it already has the commit", () => {
    const { context, repository, head, commit } = openRepository();
    const { oid } = commit("a.txt", "1").commit;
    const branch = { repository, name: "dev", user };
    createBranch(context, { ...branch, commit: head });
    const moved = createBranch(context, { ...branch, commit: oid, overwrite: true });
    expect(refsOf(context, moved)).toMatchObject([[updated, oid, [{ oldSha: head, newSha: oid }]]]);
    expect(createBranch(context, { ...branch, commit: oid, overwrite: true })).toEqual(nothing);
  });

  test.each(["", "a b", "a..b", "/a", "a/", "-a", ".a", "a/.b", "a.lock", "a:b", "a\\b", "a\nb", "@", "a//b"])(
    "cannot have a name that git does not allow: %j",
    (name) => {
      const { context, repository, head } = openRepository();
      const create = () => createTag(context, { repository, name, commit: head, user });
      expect(create).toThrow(expect.objectContaining({ status: 400 }));
    },
  );
});
