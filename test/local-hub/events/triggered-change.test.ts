import { describe, expect, test } from "vitest";
import { accountId } from "../../../src/local-hub/accounts.ts";
import { parseEvent } from "../../../src/local-hub/events/event-request.ts";
import { previewEvent, triggerEvent } from "../../../src/local-hub/events/trigger.ts";
import { commitChanges } from "../../../src/local-hub/resources/repositories/refs.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { fire, openContext } from "../support/context.ts";

const repo = { type: "dataset", name: "me/data" } as const;
const pushed = { repo, event: { scope: "repo.content", action: "update" } };
const main = "refs/heads/main";

function openTrigger() {
  const { context, clock } = openContext();
  const { content, discussions, repositories } = context.store;
  const trigger = (event: HubEvent) => fire(context, () => triggerEvent(context, parseEvent(event))).payloads;
  const discuss = (action: string, fields: Partial<HubEvent> = {}, scope = "discussion") =>
    trigger({ ...fields, repo, event: { scope, action } });
  const preview = (event: HubEvent) => previewEvent(context, parseEvent(event));
  const stored = (ref: HubEvent["repo"] = repo) => {
    const found = repositories.get(parseEvent({ ...pushed, repo: ref }).repo);
    if (!found) throw new Error(`There is no repository ${ref.name}.`);
    return found;
  };
  const refs = () => Object.fromEntries(content.refs(stored().id).map(({ name, oid }) => [name, oid]));
  const discussion = (num: number) => discussions.get({ repositoryId: stored().id, num });
  const comments = (num: number) =>
    discussions.events({ repositoryId: stored().id, num }).filter((event) => event.type === "comment");
  return {
    context,
    clock,
    content,
    discussions,
    repositories,
    trigger,
    discuss,
    preview,
    stored,
    refs,
    discussion,
    comments,
  };
}

describe("A triggered push", () => {
  test("adds a commit to main, which changes a file under data/ each time", () => {
    const { content, clock, trigger, stored } = openTrigger();
    const [first] = trigger(pushed);
    clock.now = 1_000;
    const [second] = trigger(pushed);
    const { id, headSha = "", lastModified } = stored();
    expect(lastModified).toBe(1_000);
    expect(second?.repo.headSha).toBe(headSha);
    expect(second?.updatedRefs).toEqual([{ ref: main, oldSha: first?.repo.headSha, newSha: headSha }]);
    const [newest, older] = content.history(id, headSha);
    expect(older?.oid).toBe(first?.repo.headSha);
    const changes = [...content.compare(older?.tree, newest?.tree)];
    expect(changes.map(({ path, before, after }) => [path, Boolean(before), Boolean(after)])).toEqual([
      ["data/latest.txt", true, true],
    ]);
  });

  describe("with files", () => {
    const filesOf = ({ content, stored }: ReturnType<typeof openTrigger>, ref: string) => {
      const { id } = stored();
      const entries = [...content.list(content.resolve(id, ref)?.tree ?? "", { recursive: true })];
      const files = entries.filter(({ type }) => type === "file");
      return Object.fromEntries(files.map((file) => [file.path, Buffer.from(content.read(file)).toString()]));
    };

    test("adds, changes and deletes exactly these files, also of a new branch", () => {
      const opened = openTrigger();
      const { trigger } = opened;
      const files = { "train.csv": "text,label\n", "bin/a": { base64: "AP8=" }, "old.csv": "1" };
      const [payload] = trigger({ ...pushed, files });
      expect(payload).not.toHaveProperty("files");
      expect(filesOf(opened, "main")).toMatchObject({ ...files, "bin/a": Buffer.from([0, 255]).toString() });
      const updatedRefs = [{ ref: "refs/heads/dev", oldSha: null, newSha: "5" }];
      trigger({ ...pushed, updatedRefs, files: { "train.csv": "no header", "old.csv": null } });
      expect(filesOf(opened, "main")).toMatchObject({ "train.csv": "text,label\n", "old.csv": "1" });
      const onBranch = filesOf(opened, "refs/heads/dev");
      expect(onBranch).toMatchObject({ "train.csv": "no header" });
      expect(onBranch).not.toHaveProperty("old.csv");
    });

    test("adds a commit even if they are the same, and one commit to a new branch", () => {
      const { trigger, refs } = openTrigger();
      trigger({ ...pushed, files: { a: "1" } });
      const { [main]: oldSha } = refs();
      const [again] = trigger({ ...pushed, files: { a: "1" } });
      const { [main]: newSha } = refs();
      expect(newSha).not.toBe(oldSha);
      expect(again?.updatedRefs).toEqual([{ ref: main, oldSha, newSha }]);
      const ref = "refs/heads/dev";
      const [created] = trigger({ ...pushed, updatedRefs: [{ ref, newSha: "" }], files: { a: "2" } });
      expect(created?.updatedRefs).toEqual([{ ref, oldSha: null, newSha: refs()[ref] }]);
    });

    test("opens a pull request with them", () => {
      const opened = openTrigger();
      const discussion = { isPullRequest: true, title: "Fix the header" };
      const event = { scope: "discussion", action: "create" };
      opened.trigger({ repo, event, discussion, files: { "train.csv": "text,label\n" } });
      expect(filesOf(opened, "refs/pr/1")).toMatchObject({ "train.csv": "text,label\n" });
      expect(filesOf(opened, "main")).not.toHaveProperty("train.csv");
    });

    test.each<[string, Partial<HubEvent>]>([
      ["of a bucket", { repo: { type: "bucket", name: "me/files" } }],
      ["of a comment", { event: { scope: "discussion.comment", action: "create" } }],
      ["of a discussion", { event: { scope: "discussion", action: "create" } }],
      ["without a file", { files: {} }],
      ["that are not in Base64", { files: { a: { base64: "?" } } }],
      ["whose paths leave the repository", { files: { "../a": "1" } }],
      ["to delete that do not exist", { files: { missing: null } }],
      ["of a missing pull request", { updatedRefs: [{ ref: "refs/pr/9", newSha: "" }] }],
    ])("is refused, and changes nothing: %s", (_what, changes) => {
      const { trigger, repositories } = openTrigger();
      const before = repositories.all();
      expect(() => trigger({ ...pushed, files: { a: "1" }, ...changes })).toThrow(
        expect.objectContaining({ code: "ARGUMENT_INVALID" }),
      );
      expect(repositories.all()).toEqual(before);
    });
  });

  test("adds a card without metadata to a repository that has none", () => {
    const { content, trigger, stored } = openTrigger();
    trigger(pushed);
    const card = content.find(content.resolve(stored().id, "main")?.tree ?? "", "README.md");
    expect(card && Buffer.from(content.read(card)).toString()).toBe(`# ${repo.name}\n`);
  });

  test("changes the file even if it was replaced", () => {
    const { context, trigger, stored, refs } = openTrigger();
    for (const text of ["push: 1\n", "push: 7\n", "push: 999999999\n", "", "\0"]) {
      trigger(pushed);
      const changes = [{ path: "data/latest.txt", content: Buffer.from(text) }];
      commitChanges(context, { repository: stored(), ref: main, changes, title: "x", message: "", user: "local-user" });
      const before = refs()[main];
      trigger(pushed);
      expect(refs()[main]).not.toBe(before);
    }
  });

  test("changes another file if data is a file", () => {
    const { context, content, trigger, stored } = openTrigger();
    trigger({ repo, event: { scope: "repo", action: "create" } });
    const changes = [{ path: "data", content: Buffer.from("1") }];
    commitChanges(context, { repository: stored(), ref: main, changes, title: "x", message: "", user: "local-user" });
    trigger(pushed);
    const tree = content.resolve(stored().id, "main")?.tree ?? "";
    expect(content.find(tree, "latest.txt")).toBeDefined();
  });

  test("to other refs creates, changes, and deletes them", () => {
    const { trigger, refs, stored } = openTrigger();
    const push = (ref: string, newSha: string | null) =>
      trigger({ ...pushed, updatedRefs: [{ ref, oldSha: null, newSha }] });
    trigger(pushed);
    const head = stored().headSha;
    push("refs/heads/dev", "1");
    const dev = refs()["refs/heads/dev"];
    push("refs/heads/dev", "2");
    push("refs/tags/v1", "1");
    push("refs/convert/parquet", "1");
    expect(refs()).toEqual({
      [main]: head,
      "refs/heads/dev": expect.not.stringContaining(dev ?? ""),
      "refs/tags/v1": head,
      "refs/convert/parquet": expect.not.stringContaining(head ?? ""),
    });
    push("refs/heads/dev", dev ?? "");
    expect(refs()["refs/heads/dev"]).toBe(dev);
    for (const ref of ["refs/heads/dev", "refs/tags/v1", "refs/heads/missing", main]) push(ref, null);
    push("refs/pr/1", "1");
    expect(refs()).toEqual({ [main]: head, "refs/convert/parquet": expect.anything() });
  });

  test("contains the previous commit of each ref", () => {
    const { trigger, refs } = openTrigger();
    trigger({ ...pushed, updatedRefs: [{ ref: "refs/heads/dev", newSha: "" }] });
    const { [main]: head, "refs/heads/dev": dev } = refs();
    const updatedRefs = [
      { ref: "refs/heads/dev", newSha: null },
      { ref: main, newSha: "a".repeat(40) },
      { ref: "refs/tags/v1", newSha: "b".repeat(40) },
    ];
    expect(trigger({ ...pushed, updatedRefs })).toMatchObject([
      {
        updatedRefs: [{ oldSha: dev }, { oldSha: head }, { oldSha: null }].map((ref, i) => ({
          ...updatedRefs[i],
          ...ref,
        })),
      },
    ]);
    const kernel = { ...pushed, repo: { type: "kernel", name: "acme/rotary" } };
    const oldSha = trigger(kernel)[0]?.repo.headSha;
    expect(trigger({ ...kernel, updatedRefs: [{ ref: main, newSha: "c".repeat(40) }] })).toMatchObject([
      { updatedRefs: [{ oldSha }] },
    ]);
  });

  test("contains invented commits, but does not store them", () => {
    const { trigger, refs } = openTrigger();
    const [a, b] = ["a".repeat(40), "b".repeat(40)];
    const [payload] = trigger({ ...pushed, updatedRefs: [{ ref: main, oldSha: a, newSha: b }] });
    expect([payload?.repo.headSha, payload?.updatedRefs]).toEqual([b, [{ ref: main, oldSha: a, newSha: b }]]);
    const { [main]: head } = refs();
    expect(head).not.toBe(b);
    for (const updated of [
      { ref: "refs/pr/1", oldSha: null, newSha: a },
      { ref: main, oldSha: null, newSha: null },
    ])
      expect(trigger({ ...pushed, updatedRefs: [updated] })).toMatchObject([{ repo: { headSha: head } }]);
  });
});

test("A triggered event on a missing repository creates the repository with its first commit, without an event", () => {
  const { content, trigger, stored } = openTrigger();
  const payloads = trigger({ repo: { ...repo, private: true }, event: { scope: "repo.config", action: "update" } });
  expect(payloads).toMatchObject([{ event: { scope: "repo.config" }, updatedConfig: {}, repo: { private: true } }]);
  expect(stored().private).toBe(true);
  expect(content.resolve(stored().id, "main")).toMatchObject({ title: "initial commit" });
});

test("A triggered change of a repository moves it to the new name, replaces a repository of this name, and leaves a redirect", () => {
  const { trigger, stored, repositories } = openTrigger();
  trigger(pushed);
  trigger({ ...pushed, repo: { ...repo, name: "acme/data" } });
  const before = stored();
  const payloads = trigger({ repo, event: { scope: "repo", action: "move" }, movedTo: { name: "acme/data" } });
  expect(payloads).toMatchObject([{ repo: { name: "me/data", id: before.id }, movedTo: { name: "acme/data" } }]);
  expect(repositories.all()).toEqual([{ ...before, name: "acme/data" }]);
  expect(repositories.findMoved(repo)?.id).toBe(before.id);
});

test.each<[scope: string, action: string, further?: object]>([
  ["repo.content", "update"],
  ["repo", "create"],
  ["repo", "delete"],
  ["repo", "move", { movedTo: { name: "acme/data" } }],
  ["repo.config", "update", { updatedConfig: { private: true } }],
  ["discussion", "create"],
  ["discussion.comment", "create"],
])("A preview of %s %s changes nothing, whether or not the repository exists", (scope, action, further) => {
  const { context, trigger, preview, repositories, refs } = openTrigger();
  const event = { repo, event: { scope, action }, ...further };
  expect(preview(event)).toMatchObject({ payload: { event: { scope, action } }, webhooks: [{}] });
  expect(repositories.all()).toEqual([]);
  trigger({ ...pushed });
  const state = () => [repositories.all(), refs(), context.store.webhooks.all()];
  const before = state();
  const { payload } = preview(event);
  expect(payload).toMatchObject({ repo: { id: repositories.all()[0]?.id } });
  expect(state()).toEqual(before);
  const [fired] = trigger(event);
  expect(Object.keys(fired ?? {}).sort()).toEqual(Object.keys(Object(payload)).sort());
});

test("A repository is only updated by an unknown narrower scope", () => {
  const { trigger, stored } = openTrigger();
  trigger(pushed);
  const { id } = stored();
  expect(trigger({ repo, event: { scope: "repo.dois", action: "delete" } })).toMatchObject([
    { event: { scope: "repo.dois", action: "delete" } },
  ]);
  expect(stored().id).toBe(id);
});

describe("A triggered discussion", () => {
  test("is opened with the title, text, and author of the event", () => {
    const { discuss, discussion, comments, refs } = openTrigger();
    const fields = { title: "Broken rows", author: { id: accountId("other-user") } };
    const [payload] = discuss("create", { discussion: fields, comment: { content: "See row 7." } });
    expect(discussion(1)).toMatchObject({ title: "Broken rows", author: "other-user", status: "open" });
    expect(discussion(1)?.isPullRequest).toBe(false);
    expect(comments(1)).toMatchObject([{ content: "See row 7.", id: payload?.comment?.id }]);
    expect(payload?.discussion).toMatchObject({ id: discussion(1)?.id, num: 1, title: "Broken rows" });
    expect(Object.keys(refs())).toEqual([main]);
  });

  test("is a pull request with a commit if the event describes one, and fires its ref and the push of its merge", () => {
    const { content, discuss, discussion, refs, stored } = openTrigger();
    const opened = discuss("create", { discussion: { isPullRequest: true, status: "draft" } });
    const { [main]: oldSha = "", "refs/pr/1": pull } = refs();
    expect(opened).toMatchObject([
      { event: { scope: "discussion" }, discussion: { num: 1, status: "draft", changes: { base: main } } },
      { event: { scope: "repo.content" }, updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: pull }] },
    ]);
    expect(discussion(1)).toMatchObject({ isPullRequest: true, status: "draft" });
    expect(content.getCommit(stored().id, pull ?? "")?.parents).toEqual([oldSha]);

    const merged = discuss("update", { discussion: { status: "merged" } });
    const { [main]: newSha } = refs();
    expect(newSha).not.toBe(oldSha);
    expect(merged).toMatchObject([
      { event: { scope: "discussion" }, discussion: { status: "merged", changes: { mergeCommitId: newSha } } },
      { event: { scope: "repo.content" }, repo: { headSha: newSha }, updatedRefs: [{ ref: main, oldSha, newSha }] },
    ]);
    expect(discussion(1)).toMatchObject({ status: "merged" });
  });

  test("has the number of the event if this number is free, and the next one follows", () => {
    const { discuss, discussion } = openTrigger();
    discuss("create", { discussion: { num: 5 } });
    discuss("create");
    expect([discussion(5), discussion(6)]).toMatchObject([{ num: 5 }, { num: 6 }]);
    const [used] = discuss("create", { discussion: { num: 5, title: "Again" } });
    expect(used?.discussion).toMatchObject({ num: 5, title: "Again" });
    expect(discussion(5)?.title).not.toBe("Again");
    for (const num of [1.5, -1, 1e300, Number.MAX_SAFE_INTEGER, 1e9]) {
      expect(discuss("create", { discussion: { num } })[0]?.discussion?.num).toBe(num);
      expect(discussion(num)).toBeUndefined();
    }
  });

  test("is updated with the fields of the event that can be stored, with one event, and deleted", () => {
    const { discuss, discussion } = openTrigger();
    const [opened] = discuss("create");
    const fields = { title: "New", status: "closed", pinned: true };
    expect(discuss("update", { discussion: fields })).toMatchObject([
      { event: { scope: "discussion", action: "update" }, discussion: fields },
    ]);
    expect(discussion(1)).toMatchObject(fields);
    discuss("update", { discussion: { status: "open" } });
    expect(discussion(1)).toMatchObject({ ...fields, status: "open" });
    // Only a pull request can be merged.
    for (const status of ["locked", "merged"]) {
      expect(discuss("update", { discussion: { status } })).toMatchObject([{ discussion: { status } }]);
      expect(discussion(1)?.status).toBe("open");
    }
    expect(discuss("delete")).toMatchObject([{ discussion: { id: opened?.discussion?.id } }]);
    expect(discussion(1)).toBeUndefined();
  });

  test("is only in the payload if its number was never used", () => {
    const { discuss, discussion, discussions, stored } = openTrigger();
    const fields = { discussion: { num: 3 } };
    for (const payloads of [
      discuss("update", fields),
      discuss("delete", fields),
      discuss("create", fields, "discussion.comment"),
    ])
      expect(payloads).toMatchObject([{ discussion: { num: 3 } }]);
    expect([discussion(3), discussions.list(stored().id)]).toEqual([undefined, []]);
  });
});

describe("A triggered comment", () => {
  const scope = "discussion.comment";

  test("is added to the latest discussion, which is opened without an event if it is missing", () => {
    const { discuss, comments } = openTrigger();
    const comment = { content: "@bot hello", author: { id: accountId("other-user") } };
    const payloads = discuss("create", { comment }, scope);
    expect(payloads).toMatchObject([{ event: { scope }, discussion: { num: 1 }, comment }]);
    expect(comments(1)).toMatchObject([
      { author: "local-user", content: expect.not.stringMatching("@bot hello") },
      { id: payloads[0]?.comment?.id, content: "@bot hello", author: "other-user" },
    ]);
    discuss("create");
    discuss("create", {}, scope);
    discuss("create", { discussion: { num: 1 } }, scope);
    expect([comments(1).length, comments(2).length]).toEqual([3, 2]);
  });

  test("is edited and hidden by its ID, and by default the latest comment", () => {
    const { discuss, comments } = openTrigger();
    const [first = "", second] = [1, 2].map(() => discuss("create", {}, scope)[0]?.comment?.id);
    const update = (comment: HubEvent["comment"]) =>
      discuss("update", { comment }, scope).map((payload) => payload.comment);
    expect(update({ id: first, content: "Edited" })).toMatchObject([{ id: first, content: "Edited" }]);
    const [hidden] = update({ hidden: true });
    expect(hidden).toMatchObject({ id: second, hidden: true });
    expect(hidden).not.toHaveProperty("content");
    const [, one, other] = comments(1);
    expect([one?.content, one?.edits.length, other?.hidden]).toEqual(["Edited", 1, true]);
    expect(update({ content: "x" })).toHaveLength(1);
    expect(comments(1)[2]?.hidden).toBe(true);
  });
});

test("An undocumented event on a discussion changes nothing", () => {
  const { discuss, discussion, comments } = openTrigger();
  expect(discuss("create", {}, "discussion.reaction")).toMatchObject([{ discussion: { num: 1 } }]);
  expect(discussion(1)).toBeUndefined();
  const [opened] = discuss("create");
  expect(discuss("create", {}, "discussion.reaction")[0]).not.toHaveProperty("comment");
  const [reaction] = discuss("create", {}, "discussion.comment.reaction");
  expect(reaction?.comment).toEqual(opened?.comment);
  expect(comments(1)).toHaveLength(1);
});
