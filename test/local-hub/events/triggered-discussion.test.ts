import { describe, expect, test } from "vitest";
import { accountId } from "../../../src/local-hub/accounts.ts";
import { parseEvent } from "../../../src/local-hub/events/event-request.ts";
import { triggerEvent } from "../../../src/local-hub/events/trigger.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { openContext, payloadsOf } from "../support/context.ts";

const repo = { type: "model", name: "me/net" } as const;
const main = "refs/heads/main";

function openTrigger() {
  const { context } = openContext();
  const { content, discussions, repositories } = context.store;
  const trigger = (scope: string, action: string, fields: Partial<HubEvent> = {}) =>
    payloadsOf(context, triggerEvent(context, parseEvent({ ...fields, repo, event: { scope, action } })));
  const id = () => repositories.get(repo)?.id ?? "";
  const stored = (num: number) => discussions.get({ repositoryId: id(), num });
  const comments = (num: number) =>
    discussions.events({ repositoryId: id(), num }).filter((event) => event.type === "comment");
  const refs = () => content.refs(id()).map(({ name }) => name);
  return { context, content, discussions, trigger, id, stored, comments, refs };
}

describe("A triggered discussion", () => {
  test("is opened with the title, text, and author of the event", () => {
    const { trigger, stored, comments, refs } = openTrigger();
    const discussion = { title: "Broken rows", author: { id: accountId("other-user") } };
    const [payload] = trigger("discussion", "create", { discussion, comment: { content: "See row 7." } });
    expect(stored(1)).toMatchObject({ title: "Broken rows", author: "other-user", status: "open" });
    expect(stored(1)?.isPullRequest).toBe(false);
    expect(comments(1)).toMatchObject([{ content: "See row 7.", id: payload?.comment?.id }]);
    expect(payload?.discussion).toMatchObject({ id: stored(1)?.id, num: 1, title: "Broken rows" });
    expect(refs()).toEqual([main]);
  });

  test("is a pull request with a commit if the event describes one, and fires its ref", () => {
    const { content, trigger, stored, refs, id } = openTrigger();
    const payloads = trigger("discussion", "create", { discussion: { isPullRequest: true, status: "draft" } });
    const pull = content.resolve(id(), "refs/pr/1");
    expect(payloads).toMatchObject([
      { event: { scope: "discussion" }, discussion: { num: 1, status: "draft", changes: { base: main } } },
      { event: { scope: "repo.content" }, updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: pull?.oid }] },
    ]);
    expect(stored(1)).toMatchObject({ isPullRequest: true, status: "draft" });
    expect(refs()).toEqual([main, "refs/pr/1"]);
    expect(pull?.parents).toEqual([content.getRef(id(), main)]);
  });

  test("has the number of the event if this number is free, and the next one follows", () => {
    const { trigger, stored } = openTrigger();
    trigger("discussion", "create", { discussion: { num: 5 } });
    trigger("discussion", "create");
    expect([stored(5), stored(6)]).toMatchObject([{ num: 5 }, { num: 6 }]);
    const [used] = trigger("discussion", "create", { discussion: { num: 5, title: "Again" } });
    expect(used?.discussion).toMatchObject({ num: 5, title: "Again" });
    expect(stored(5)?.title).not.toBe("Again");
    for (const num of [1.5, -1, 1e300]) {
      expect(trigger("discussion", "create", { discussion: { num } })[0]?.discussion?.num).toBe(num);
      expect(stored(num)).toBeUndefined();
    }
  });

  test("is updated with the fields of the event, with one event", () => {
    const { trigger, stored } = openTrigger();
    trigger("discussion", "create");
    const discussion = { title: "New", status: "closed", pinned: true };
    const payloads = trigger("discussion", "update", { discussion });
    expect(payloads).toMatchObject([{ event: { scope: "discussion", action: "update" }, discussion }]);
    expect(payloads[0]).not.toHaveProperty("comment");
    expect(stored(1)).toMatchObject(discussion);
    trigger("discussion", "update", { discussion: { status: "open" } });
    expect(stored(1)).toMatchObject({ ...discussion, status: "open" });
    expect(trigger("discussion", "update", { discussion: { status: "locked" } })).toMatchObject([
      { discussion: { status: "locked" } },
    ]);
    expect(stored(1)?.status).toBe("open");
  });

  test("is merged if it is a pull request, and fires the push to main", () => {
    const { content, trigger, stored, id } = openTrigger();
    trigger("discussion", "create", { discussion: { isPullRequest: true } });
    const oldSha = content.getRef(id(), main);
    const payloads = trigger("discussion", "update", { discussion: { status: "merged" } });
    const newSha = content.getRef(id(), main);
    expect(newSha).not.toBe(oldSha);
    expect(payloads).toMatchObject([
      { event: { scope: "discussion" }, discussion: { status: "merged", changes: { mergeCommitId: newSha } } },
      { event: { scope: "repo.content" }, repo: { headSha: newSha }, updatedRefs: [{ ref: main, oldSha, newSha }] },
    ]);
    expect(stored(1)).toMatchObject({ status: "merged" });
  });

  test("is only merged in the payload if it cannot be merged", () => {
    const { trigger, stored } = openTrigger();
    trigger("discussion", "create");
    const payloads = trigger("discussion", "update", { discussion: { status: "merged" } });
    expect(payloads).toMatchObject([{ discussion: { status: "merged" } }]);
    expect(stored(1)?.status).toBe("open");
  });

  test("is deleted", () => {
    const { trigger, stored } = openTrigger();
    trigger("discussion", "create");
    const before = stored(1);
    expect(trigger("discussion", "delete")).toMatchObject([{ discussion: { id: before?.id } }]);
    expect(stored(1)).toBeUndefined();
  });

  test("is only in the payload if its number was never used", () => {
    const { trigger, stored, discussions, id } = openTrigger();
    for (const [scope, action] of [
      ["discussion", "update"],
      ["discussion", "delete"],
      ["discussion.comment", "create"],
    ] as const) {
      expect(trigger(scope, action, { discussion: { num: 3 } })).toMatchObject([{ discussion: { num: 3 } }]);
    }
    expect([stored(3), discussions.list(id())]).toEqual([undefined, []]);
  });
});

describe("A triggered comment", () => {
  test("is added to the latest discussion, which is opened without an event if there is none", () => {
    const { trigger, comments } = openTrigger();
    const comment = { content: "@bot hello", author: { id: accountId("other-user") } };
    const payloads = trigger("discussion.comment", "create", { comment });
    expect(payloads).toMatchObject([{ event: { scope: "discussion.comment" }, discussion: { num: 1 }, comment }]);
    expect(comments(1)).toMatchObject([
      { author: "local-user" },
      { id: payloads[0]?.comment?.id, content: "@bot hello", author: "other-user" },
    ]);
    expect(comments(1)[0]?.content).not.toBe("@bot hello");
    trigger("discussion", "create");
    trigger("discussion.comment", "create");
    trigger("discussion.comment", "create", { discussion: { num: 1 } });
    expect([comments(1).length, comments(2).length]).toEqual([3, 2]);
  });

  test("is edited and hidden by its ID, and by default the latest comment", () => {
    const { trigger, comments } = openTrigger();
    const [first, second] = [1, 2].map(() => trigger("discussion.comment", "create")[0]?.comment?.id);
    const [edited] = trigger("discussion.comment", "update", { comment: { id: first ?? "", content: "Edited" } });
    expect(edited?.comment).toMatchObject({ id: first, content: "Edited" });
    const [hidden] = trigger("discussion.comment", "update", { comment: { hidden: true } });
    expect(hidden?.comment).toMatchObject({ id: second, hidden: true });
    expect(hidden?.comment).not.toHaveProperty("content");
    const [, one, other] = comments(1);
    expect([one?.content, one?.edits.length, other?.hidden]).toEqual(["Edited", 1, true]);
    expect(trigger("discussion.comment", "update", { comment: { content: "x" } })).toHaveLength(1);
    expect(comments(1)[2]?.hidden).toBe(true);
  });
});

test("An undocumented event on a discussion changes nothing", () => {
  const { trigger, stored, comments } = openTrigger();
  expect(trigger("discussion.reaction", "create")).toMatchObject([{ discussion: { num: 1 } }]);
  expect(stored(1)).toBeUndefined();
  const [opened] = trigger("discussion", "create");
  expect(trigger("discussion.reaction", "create")[0]).not.toHaveProperty("comment");
  const [reaction] = trigger("discussion.comment.reaction", "create");
  expect(reaction?.comment).toEqual(opened?.comment);
  expect(comments(1)).toHaveLength(1);
});
