import { describe, expect, test } from "vitest";
import type { HubContext } from "../../../../src/local-hub/hub-context.ts";
import {
  addComment,
  changeStatus,
  deleteDiscussion,
  editComment,
  hideComment,
  openDiscussion,
} from "../../../../src/local-hub/resources/repositories/discussions.ts";
import {
  createRepository,
  deleteRepository,
} from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";

const model = { type: "model", name: "me/net" } as const;
const user = "ada-adams";

function open() {
  const { context, clock } = openContext();
  const { repository: created } = createRepository(context, { ...model, user });
  const opened = openDiscussion(context, {
    ...{ repository: created, user, title: "A question", description: "Why?" },
  });
  const target = { repository: opened.repository, discussion: opened.discussion, user };
  return { context, clock, opened, target };
}

const stored = ({ store }: HubContext, { repositoryId, num }: { repositoryId: string; num: number }) =>
  store.discussions.get({ repositoryId, num });

describe("A discussion", () => {
  test("gets another number if the caller read the repository before the last discussion was opened", () => {
    const { context, target } = open();
    const repository = { ...target.repository, discussions: 0 };
    const next = openDiscussion(context, { repository, user, title: "Next", description: "-" });
    expect([next.discussion.num, stored(context, target.discussion)?.title]).toEqual([2, "A question"]);
  });

  test("can be closed with a comment, which fires first", () => {
    const { context, target } = open();
    const { result } = changeStatus(context, { ...target, status: "closed", comment: "Done." });
    const scopes = payloadsOf(context, result).map(({ event }) => event.scope);
    expect(scopes).toEqual(["discussion.comment", "discussion"]);
    const events = context.store.discussions.events(target.discussion);
    expect(events.map(({ type }) => type)).toEqual(["comment", "comment", "status-change"]);
    expect(events[1]).toMatchObject({ content: "Done." });
  });

  test("is deleted with its events, and its number is not used again", () => {
    const { context, target } = open();
    const result = deleteDiscussion(context, target);
    expect(payloadsOf(context, result)).toMatchObject([{ event: { scope: "discussion", action: "delete" } }]);
    expect(stored(context, target.discussion)).toBeUndefined();
    expect(context.store.discussions.events(target.discussion)).toEqual([]);
    const next = openDiscussion(context, { ...target, title: "Next", description: "-" });
    expect(next.discussion.num).toBe(2);
  });

  test("is deleted with its repository", () => {
    const { context, target } = open();
    deleteRepository(context, target);
    expect(stored(context, target.discussion)).toBeUndefined();
  });
});

describe("A comment", () => {
  test("fires events when it is written and edited", () => {
    const { context, clock, target } = open();
    const { event: comment, result } = addComment(context, { ...target, content: "Because." });
    expect(payloadsOf(context, result)).toMatchObject([
      { event: { scope: "discussion.comment", action: "create" }, comment: { id: comment.id, content: "Because." } },
    ]);
    clock.now = 1_000;
    const edited = editComment(context, { ...target, comment, content: "Because of that." });
    expect(payloadsOf(context, edited.result)).toMatchObject([
      { event: { scope: "discussion.comment", action: "update" }, comment: { content: "Because of that." } },
    ]);
    expect(context.store.discussions.getComment(target.discussion, comment.id)).toMatchObject({
      ...{ content: "Because of that.", updatedAt: 1_000, edits: [user] },
    });
    const again = editComment(context, { ...target, user: "eve", comment: edited.event, content: "Because of this." });
    expect(again.event.edits).toEqual([user, "eve"]);
  });

  test("loses its text when it is hidden, fires once, and cannot be edited", () => {
    const { context, target } = open();
    const { event: comment } = addComment(context, { ...target, content: "Secret" });
    const hidden = hideComment(context, { ...target, comment });
    const [payload] = payloadsOf(context, hidden.result);
    expect(payload).toMatchObject({
      event: { scope: "discussion.comment", action: "update" },
      comment: { hidden: true },
    });
    expect(JSON.stringify(payload)).not.toContain("Secret");
    expect(JSON.stringify(context.store.discussions.events(target.discussion))).not.toContain("Secret");
    const again = hideComment(context, { ...target, comment: hidden.event });
    expect(again.result.deliveries).toEqual([]);
    expect(() => editComment(context, { ...target, comment: hidden.event, content: "x" })).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });
});
