import { describe, expect, test } from "vitest";
import {
  addComment,
  changeStatus,
  changeTitle,
  deleteDiscussion,
  editComment,
  hideComment,
  openDiscussion,
  setPinned,
} from "../../../../src/local-hub/resources/repositories/discussions.ts";
import {
  findConflicts,
  formatPullRequestDiff,
  mergePullRequest,
  openPullRequest,
} from "../../../../src/local-hub/resources/repositories/pull-requests.ts";
import { commitChanges } from "../../../../src/local-hub/resources/repositories/refs.ts";
import {
  createRepository,
  deleteRepository,
} from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";

const model = { type: "model", name: "me/net" } as const;
const user = "ada-adams";
const main = "refs/heads/main";
const add = (path: string, text: string) => ({ path, content: Buffer.from(text) });
const refusal = expect.objectContaining({ status: 400 });

function open() {
  const { context, clock } = openContext();
  const { content, discussions, repositories } = context.store;
  const { repository: created } = createRepository(context, { ...model, user, files: [add("README.md", "one\n")] });
  const discuss = () => {
    const opened = openDiscussion(context, { repository: created, user, title: "A question", description: "Why?" });
    return { repository: opened.repository, discussion: opened.discussion, user };
  };
  const propose = (...changes: { path: string; content: Uint8Array }[]) => {
    const repository = repositories.get(model) ?? created;
    const details = { title: "Improve", description: "Better.", user };
    const opened = openPullRequest(context, { repository, ...details, changes });
    return { ...opened, target: { repository: opened.repository, discussion: opened.discussion, user } };
  };
  const push = (path: string, text: string, ref = main) =>
    commitChanges(context, { repository: created, ref, changes: [add(path, text)], title: "Push", message: "", user });
  const read = (path: string) => {
    const head = content.resolve(created.id, "main");
    const file = head && content.find(head.tree, path);
    return file && Buffer.from(content.read(file)).toString();
  };
  const stored = (num: number) => discussions.get({ repositoryId: created.id, num });
  const scopesOf = (result: Parameters<typeof payloadsOf>[1]) =>
    payloadsOf(context, result).map(({ event }) => `${event.scope} ${event.action}`);
  return { context, clock, content, discussions, created, discuss, propose, push, read, stored, scopesOf };
}

describe("A discussion", () => {
  test("gets another number if the caller read the repository before the last discussion was opened", () => {
    const { context, discuss, stored } = open();
    const repository = { ...discuss().repository, discussions: 0 };
    const next = openDiscussion(context, { repository, user, title: "Next", description: "-" });
    expect([next.discussion.num, stored(1)?.title]).toEqual([2, "A question"]);
  });

  test("stays the same and fires nothing if it already has the status, title, text, or pin", () => {
    const { context, discussions, discuss } = open();
    const target = discuss();
    const { status, title } = target.discussion;
    const before = discussions.events(target.discussion);
    const [comment] = before.filter((event) => event.type === "comment");
    if (status !== "open" || !comment) throw new Error("The discussion is not open, or has no comment.");
    for (const { result } of [
      changeStatus(context, { ...target, status }),
      changeTitle(context, { ...target, title }),
      setPinned(context, { ...target, pinned: false }),
      editComment(context, { ...target, comment, content: comment.content }),
    ])
      expect(result.deliveries).toEqual([]);
    expect(discussions.events(target.discussion)).toEqual(before);
  });

  test("can be closed with a comment, which fires first, but cannot be merged", () => {
    const { context, discussions, discuss, scopesOf } = open();
    const target = discuss();
    expect(() => mergePullRequest(context, target)).toThrow(refusal);
    const { result } = changeStatus(context, { ...target, status: "closed", comment: "Done." });
    expect(scopesOf(result)).toEqual(["discussion.comment create", "discussion update"]);
    const [, comment, change] = discussions.events(target.discussion);
    expect([comment, change]).toMatchObject([{ type: "comment", content: "Done." }, { type: "status-change" }]);
  });

  test("is deleted with its events, alone or with its repository", () => {
    const { context, discussions, created, discuss, stored, scopesOf } = open();
    const target = discuss();
    expect(scopesOf(deleteDiscussion(context, target))).toEqual(["discussion delete"]);
    expect([stored(1), discussions.events(target.discussion)]).toEqual([undefined, []]);
    const { discussion } = discuss();
    deleteRepository(context, { repository: created, user });
    expect([stored(2), discussions.events(discussion)]).toEqual([undefined, []]);
  });
});

describe("A comment", () => {
  test("remembers its edits, and fires when it is written and edited", () => {
    const { context, clock, discussions, discuss, scopesOf } = open();
    const target = discuss();
    const { event: comment, result } = addComment(context, { ...target, content: "Because." });
    expect(scopesOf(result)).toEqual(["discussion.comment create"]);
    clock.now = 1_000;
    const edited = editComment(context, { ...target, comment, content: "Because of that." });
    expect(scopesOf(edited.result)).toEqual(["discussion.comment update"]);
    expect(discussions.getComment(target.discussion, comment.id)).toMatchObject({
      ...{ content: "Because of that.", updatedAt: 1_000, edits: [user] },
    });
    const again = editComment(context, { ...target, user: "eve", comment: edited.event, content: "Because of this." });
    expect(again.event.edits).toEqual([user, "eve"]);
  });

  test("loses its text when it is hidden, fires once, and cannot be edited", () => {
    const { context, discussions, discuss } = open();
    const target = discuss();
    const { event: comment } = addComment(context, { ...target, content: "Secret" });
    const hidden = hideComment(context, { ...target, comment });
    const payloads = payloadsOf(context, hidden.result);
    expect(payloads).toMatchObject([
      { event: { scope: "discussion.comment", action: "update" }, comment: { hidden: true } },
    ]);
    expect(JSON.stringify([payloads, discussions.events(target.discussion)])).not.toContain("Secret");
    expect(hideComment(context, { ...target, comment: hidden.event }).result.deliveries).toEqual([]);
    expect(() => editComment(context, { ...target, comment: hidden.event, content: "x" })).toThrow(refusal);
  });
});

describe("A pull request", () => {
  test("fires the comment of a merge first, and the deletion of its ref when it is deleted", () => {
    const { context, content, created, propose, scopesOf } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const merged = mergePullRequest(context, { ...target, comment: "Thanks." });
    expect(scopesOf(merged.result)).toEqual([
      ...["discussion.comment create", "discussion update", "repo.content update"],
    ]);
    const result = deleteDiscussion(context, { ...target, discussion: merged.discussion });
    expect(payloadsOf(context, result)).toMatchObject([
      { event: { scope: "discussion", action: "delete" } },
      { event: { scope: "repo.content" }, updatedRefs: [{ ref: "refs/pr/1", oldSha: commit.oid, newSha: null }] },
    ]);
    expect(content.getRef(created.id, "refs/pr/1")).toBeUndefined();
  });

  test("keeps what main changed in the meantime", () => {
    const { context, content, propose, push, read } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const pushed = push("README.md", "two\n").commit;
    mergePullRequest(context, target);
    expect(content.resolve(target.repository.id, "main")?.parents).toEqual([pushed.oid, commit.oid]);
    expect([read("new.txt"), read("README.md")]).toEqual(["new\n", "two\n"]);
  });

  test("is not merged if main changed the same file differently", () => {
    const { context, propose, push, read } = open();
    const { target } = propose(add("README.md", "theirs\n"));
    push("README.md", "ours\n");
    expect(findConflicts(context, target)).toEqual(["README.md"]);
    expect(() => mergePullRequest(context, target)).toThrow(refusal);
    expect(read("README.md")).toBe("ours\n");
    push("README.md", "ours\n", "refs/pr/1");
    expect(findConflicts(context, target)).toEqual([]);
  });

  test("is not merged without changes, if it is closed, or twice", () => {
    const { context, propose, push } = open();
    const { target } = propose();
    const merge = (discussion = target.discussion) => mergePullRequest(context, { ...target, discussion });
    expect(() => merge()).toThrow(refusal);
    push("new.txt", "new\n", "refs/pr/1");
    expect(() => merge(changeStatus(context, { ...target, status: "closed" }).discussion)).toThrow(refusal);
    const { discussion } = merge();
    expect(() => merge(discussion)).toThrow(refusal);
    expect(() => changeStatus(context, { ...target, discussion, status: "open" })).toThrow(refusal);
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
