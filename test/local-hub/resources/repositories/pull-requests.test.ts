import { describe, expect, test } from "vitest";
import {
  changeStatus,
  deleteDiscussion,
  openDiscussion,
} from "../../../../src/local-hub/resources/repositories/discussions.ts";
import {
  findConflicts,
  formatPullRequestDiff,
  mergePullRequest,
  openPullRequest,
} from "../../../../src/local-hub/resources/repositories/pull-requests.ts";
import { commitChanges } from "../../../../src/local-hub/resources/repositories/refs.ts";
import { createRepository } from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";

const model = { type: "model", name: "me/net" } as const;
const user = "ada-adams";
const main = "refs/heads/main";
const add = (path: string, text: string) => ({ path, content: Buffer.from(text) });

function open() {
  const { context } = openContext();
  const { repository: created } = createRepository(context, { ...model, user, files: [add("README.md", "one\n")] });
  const propose = (...changes: { path: string; content: Uint8Array }[]) => {
    const repository = context.store.repositories.get(model) ?? created;
    const details = { title: "Improve", description: "Better.", user };
    const opened = openPullRequest(context, { repository, ...details, changes });
    return { ...opened, target: { repository: opened.repository, discussion: opened.discussion, user } };
  };
  const push = (path: string, text: string, ref = main) =>
    commitChanges(context, { repository: created, ref, changes: [add(path, text)], title: "Push", message: "", user });
  const read = (path: string) => {
    const head = context.store.content.resolve(created.id, "main");
    const file = head && context.store.content.find(head.tree, path);
    return file && Buffer.from(context.store.content.read(file)).toString();
  };
  return { context, created, propose, push, read };
}

describe("A pull request", () => {
  test("fires the comment of a merge first, and the deletion of its ref when it is deleted", () => {
    const { context, created, propose } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const merged = mergePullRequest(context, { ...target, comment: "Thanks." });
    const scopes = payloadsOf(context, merged.result).map(({ event }) => event.scope);
    expect(scopes).toEqual(["discussion.comment", "discussion", "repo.content"]);
    const result = deleteDiscussion(context, { ...target, discussion: merged.discussion });
    expect(payloadsOf(context, result)).toMatchObject([
      { event: { scope: "discussion", action: "delete" } },
      {
        event: { scope: "repo.content", action: "update" },
        updatedRefs: [{ ref: "refs/pr/1", oldSha: commit.oid, newSha: null }],
      },
    ]);
    expect(context.store.content.getRef(created.id, "refs/pr/1")).toBeUndefined();
  });

  test("keeps what main changed in the meantime", () => {
    const { context, propose, push, read } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const pushed = push("README.md", "two\n").commit;
    mergePullRequest(context, target);
    const merged = context.store.content.resolve(target.repository.id, "main");
    expect(merged?.parents).toEqual([pushed.oid, commit.oid]);
    expect([read("new.txt"), read("README.md")]).toEqual(["new\n", "two\n"]);
  });

  test("is not merged if main changed the same file differently", () => {
    const { context, propose, push, read } = open();
    const { target } = propose(add("README.md", "theirs\n"));
    push("README.md", "ours\n");
    expect(findConflicts(context, target)).toEqual(["README.md"]);
    expect(() => mergePullRequest(context, target)).toThrow(expect.objectContaining({ status: 400 }));
    expect(read("README.md")).toBe("ours\n");
    push("README.md", "ours\n", "refs/pr/1");
    expect(findConflicts(context, target)).toEqual([]);
  });

  test("is not merged without changes, if it is closed, or twice", () => {
    const { context, propose, push } = open();
    const { target } = propose();
    const merge = (discussion = target.discussion) => mergePullRequest(context, { ...target, discussion });
    const refusal = expect.objectContaining({ status: 400 });
    expect(() => merge()).toThrow(refusal);
    push("new.txt", "new\n", "refs/pr/1");
    expect(() => merge(changeStatus(context, { ...target, status: "closed" }).discussion)).toThrow(refusal);
    const { discussion } = merge();
    expect(() => merge(discussion)).toThrow(refusal);
    expect(() => changeStatus(context, { ...target, discussion, status: "open" })).toThrow(refusal);
  });

  test("is the only kind of discussion that can be merged", () => {
    const { context, created } = open();
    const opened = openDiscussion(context, { repository: created, user, title: "Question", description: "?" });
    const target = { repository: opened.repository, discussion: opened.discussion, user };
    expect(() => mergePullRequest(context, target)).toThrow(expect.objectContaining({ status: 400 }));
  });

  test("has the diff since its base, also after the merge", () => {
    const { context, propose } = open();
    const { target } = propose(add("README.md", "one\ntwo\n"));
    const diff = formatPullRequestDiff(context, target);
    expect(diff).toContain("--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n one\n+two\n");
    const { discussion } = mergePullRequest(context, target);
    expect(formatPullRequestDiff(context, { ...target, discussion })).toBe(diff);
  });
});
