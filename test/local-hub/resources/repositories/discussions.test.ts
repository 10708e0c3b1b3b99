import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { discussionDetails } from "../../../../src/hub/repositories/discussions.ts";
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
import { fire, openContext } from "../../support/context.ts";
import { openLocalHub, type TestHub } from "../../support/hub.ts";

const model = { type: "model", name: "me/net" } as const;
const user = "ada-adams";
const main = "refs/heads/main";
const add = (path: string, text: string) => ({ path, content: Buffer.from(text) });
const refusal = expect.objectContaining({ status: 400 });

function open() {
  const { context, clock } = openContext();
  const { content, discussions, repositories } = context.store;
  const created = createRepository(context, { ...model, user, files: [add("README.md", "one\n")] });
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
  const scopesOf = (change: () => unknown) =>
    fire(context, change).payloads.map(({ event }) => `${event.scope} ${event.action}`);
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
    const { context, discussions, discuss, scopesOf } = open();
    const target = discuss();
    const { status, title } = target.discussion;
    const before = discussions.events(target.discussion);
    const [comment] = before.filter((event) => event.type === "comment");
    if (status !== "open" || !comment) throw new Error("The discussion is not open, or has no comment.");
    for (const change of [
      () => changeStatus(context, { ...target, status }),
      () => changeTitle(context, { ...target, title }),
      () => setPinned(context, { ...target, pinned: false }),
      () => editComment(context, { ...target, comment, content: comment.content }),
    ])
      expect(scopesOf(change)).toEqual([]);
    expect(discussions.events(target.discussion)).toEqual(before);
  });

  test("can be closed with a comment, which fires first, but cannot be merged", () => {
    const { context, discussions, discuss, scopesOf } = open();
    const target = discuss();
    expect(() => mergePullRequest(context, target)).toThrow(refusal);
    const close = () => changeStatus(context, { ...target, status: "closed", comment: "Done." });
    expect(scopesOf(close)).toEqual(["discussion.comment create", "discussion update"]);
    const [, comment, change] = discussions.events(target.discussion);
    expect([comment, change]).toMatchObject([{ type: "comment", content: "Done." }, { type: "status-change" }]);
  });

  test("is deleted with its events, alone or with its repository", () => {
    const { context, discussions, created, discuss, stored, scopesOf } = open();
    const target = discuss();
    expect(scopesOf(() => deleteDiscussion(context, target))).toEqual(["discussion delete"]);
    expect([stored(1), discussions.events(target.discussion)]).toEqual([undefined, []]);
    const { discussion } = discuss();
    deleteRepository(context, { repository: created, user });
    expect([stored(2), discussions.events(discussion)]).toEqual([undefined, []]);
  });
});

describe("A comment", () => {
  test("remembers its edits, and fires when it is written and edited", () => {
    const { context, clock, discussions, discuss } = open();
    const target = discuss();
    const added = fire(context, () => addComment(context, { ...target, content: "Because." }));
    const comment = added.made;
    expect(added.payloads).toMatchObject([{ event: { scope: "discussion.comment", action: "create" } }]);
    clock.now = 1_000;
    const edited = fire(context, () => editComment(context, { ...target, comment, content: "Because of that." }));
    expect(edited.payloads).toMatchObject([{ event: { scope: "discussion.comment", action: "update" } }]);
    expect(discussions.getComment(target.discussion, comment.id)).toMatchObject({
      ...{ content: "Because of that.", updatedAt: 1_000, edits: [user] },
    });
    const again = editComment(context, { ...target, user: "eve", comment: edited.made, content: "Because of this." });
    expect(again.edits).toEqual([user, "eve"]);
  });

  test("loses its text when it is hidden, fires once, and cannot be edited", () => {
    const { context, discussions, discuss, scopesOf } = open();
    const target = discuss();
    const comment = addComment(context, { ...target, content: "Secret" });
    const { made: hidden, payloads } = fire(context, () => hideComment(context, { ...target, comment }));
    expect(payloads).toMatchObject([
      { event: { scope: "discussion.comment", action: "update" }, comment: { hidden: true } },
    ]);
    expect(JSON.stringify([payloads, discussions.events(target.discussion)])).not.toContain("Secret");
    expect(scopesOf(() => hideComment(context, { ...target, comment: hidden }))).toEqual([]);
    expect(() => editComment(context, { ...target, comment: hidden, content: "x" })).toThrow(refusal);
  });
});

describe("A pull request", () => {
  test("fires the comment of a merge first, and the deletion of its ref when it is deleted", () => {
    const { context, content, created, propose } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const { made: discussion, payloads } = fire(context, () =>
      mergePullRequest(context, { ...target, comment: "Thanks." }),
    );
    expect(payloads.map(({ event }) => `${event.scope} ${event.action}`)).toEqual([
      ...["discussion.comment create", "discussion update", "repo.content update"],
    ]);
    expect(fire(context, () => deleteDiscussion(context, { ...target, discussion })).payloads).toMatchObject([
      { event: { scope: "discussion", action: "delete" } },
      { event: { scope: "repo.content" }, updatedRefs: [{ ref: "refs/pr/1", oldSha: commit.oid, newSha: null }] },
    ]);
    expect(content.getRef(created.id, "refs/pr/1")).toBeUndefined();
  });

  test("keeps what main changed in the meantime", () => {
    const { context, content, propose, push, read } = open();
    const { target, commit } = propose(add("new.txt", "new\n"));
    const pushed = push("README.md", "two\n");
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
    const discussion = merge();
    expect(() => merge(discussion)).toThrow(refusal);
    expect(() => changeStatus(context, { ...target, discussion, status: "open" })).toThrow(refusal);
  });

  test("has the diff since its base, also after the merge", () => {
    const { context, propose } = open();
    const { target } = propose(add("README.md", "one\ntwo\n"));
    const diff = formatPullRequestDiff(context, target);
    expect(diff).toContain("--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n one\n+two\n");
    const discussion = mergePullRequest(context, target);
    expect(formatPullRequestDiff(context, { ...target, discussion })).toBe(diff);
  });
});

const acme = "/api/models/acme/net";
const discussions = `${acme}/discussions`;
const other = { token: "hf_other" };

const listed = z.object({
  discussions: z.array(z.object({ num: z.number(), title: z.string(), numComments: z.number(), pinned: z.boolean() })),
  count: z.number(),
  start: z.number(),
});

let hub: TestHub;

/** Sends a request that must succeed. */
function send(line: string, body?: unknown, as: { token?: string | null } = {}): Promise<unknown> {
  return hub.read(line, z.unknown(), { ...as, ...(body !== undefined && { body }) });
}

async function statusOf(line: string, body: unknown, as: { token: string | null }): Promise<number> {
  return (await hub.request(line, { ...as, body })).status;
}

async function create(path: string, fields: object = {}, as: { token?: string } = {}): Promise<number> {
  const body = { title: "A question", description: "Why?", ...fields };
  return (await hub.read(`POST ${path}`, z.object({ num: z.number() }), { ...as, body })).num;
}

async function comment(path: string, text: string, as: { token?: string } = {}): Promise<string> {
  const body = await send(`POST ${path}/comment`, { comment: text }, as);
  return z.object({ newMessage: z.object({ id: z.string() }) }).parse(body).newMessage.id;
}

const get = (path: string, as: { token?: string | null } = {}) => hub.read(`GET ${path}`, discussionDetails, as);

async function list(query = "", path = discussions) {
  const { discussions: page, ...rest } = listed.parse(await send(`GET ${path}${query}`));
  return { ...rest, nums: page.map(({ num }) => num), page };
}

describe("With requests,", () => {
  beforeEach(async () => {
    hub = await openLocalHub();
    await send("POST /api/repos/create", { type: "model", name: "net", organization: "acme" });
  });

  describe("The discussions of a repository", () => {
    test("are listed by type, status, author, and title, with pinned ones first", async () => {
      await create(discussions, { title: "First question" });
      await create(discussions, { title: "Second question" }, other);
      await create(discussions, { title: "A fix", pullRequest: true });
      await comment(`${discussions}/2`, "Because.");
      await send(`POST ${discussions}/1/status`, { status: "closed" });
      expect(await list()).toMatchObject({ nums: [3, 2, 1], count: 3, start: 0 });
      expect((await list("?type=pull_request")).nums).toEqual([3]);
      expect((await list("?type=discussion&status=open")).nums).toEqual([2]);
      expect((await list("?status=closed")).nums).toEqual([1]);
      expect((await list("?author=other-user")).page).toMatchObject([{ num: 2, numComments: 2 }]);
      expect((await list("?search=QUESTION")).nums).toEqual([2, 1]);
      await send(`POST ${discussions}/1/pin`, { pinned: true });
      expect((await list()).nums).toEqual([1, 3, 2]);
      expect(await list("?p=1")).toMatchObject({ nums: [], count: 3 });
    });

    test("contain comments and changes in their order, and no HTML that a comment contains", async () => {
      await create(discussions, { description: "<script>alert(1)</script>" });
      const id = await comment(`${discussions}/1`, "Beca", other);
      await send(`POST ${discussions}/1/comment/${id}/edit`, { content: "Because." }, other);
      await send(`POST ${discussions}/1/title`, { title: "An answer" });
      await send(`POST ${discussions}/1/status`, { status: "closed", comment: "Done." });
      const { events, ...details } = await get(`${discussions}/1`, { token: null });
      expect(details).toMatchObject({ title: "An answer", status: "closed", author: { name: "local-user" } });
      expect(events.map(({ type }) => type)).toEqual([
        "comment",
        "comment",
        "title-change",
        "comment",
        "status-change",
      ]);
      const [description, edited] = events;
      expect(description).toMatchObject({
        data: { latest: { raw: "<script>alert(1)</script>", html: "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>" } },
      });
      const latest = { raw: "Because.", author: { name: "other-user" } };
      expect(edited).toMatchObject({ author: { name: "other-user" }, data: { edited: true, numEdits: 1, latest } });
      await send(`POST ${discussions}/1/comment/${id}/hide`, undefined, other);
      const hidden = (await get(`${discussions}/1`)).events[1];
      expect(hidden).toMatchObject({ data: { hidden: true, hiddenBy: "other-user", latest: { raw: "" } } });
    });

    test("are missing if they were deleted, or never existed", async () => {
      await create(discussions);
      await send(`DELETE ${discussions}/1`);
      for (const num of ["1", "0", "x", "2"]) {
        expect((await hub.request(`GET ${discussions}/${num}`)).status).toBe(404);
      }
      expect(await create(discussions)).toBe(2);
      const unknown = "f".repeat(24);
      expect(await statusOf(`POST ${discussions}/2/comment/${unknown}/edit`, { content: "x" }, other)).toBe(404);
    });

    test("return 403 with the code DiscussionsDisabled if they are disabled", async () => {
      await create(discussions);
      await send(`PUT ${acme}/settings`, { discussionsDisabled: true });
      for (const line of [`GET ${discussions}`, `GET ${discussions}/1`]) {
        expect(await hub.outcome(line)).toEqual([403, "DiscussionsDisabled"]);
      }
      const opened = { title: "A question", description: "Why?" };
      expect(await statusOf(`POST ${discussions}`, opened, other)).toBe(403);
      expect(await statusOf(`POST ${acme}/commit/main?create_pr=1`, {}, other)).toBe(403);
    });
  });

  describe("A user", () => {
    test("who cannot write to the repository can open discussions and comment, and change only their own", async () => {
      const own = "/api/models/local-user/net/discussions";
      await send("POST /api/repos/create", { type: "model", name: "net" });
      await create(own);
      await create(own, { pullRequest: true }, other);
      const foreign = (await get(`${own}/1`)).events[0]?.id;
      const mine = await comment(`${own}/1`, "Hello", other);
      await send(`POST ${own}/1/comment/${mine}/edit`, { content: "Hello again" }, other);
      await send(`POST ${own}/2/title`, { title: "A better title" }, other);
      await send(`POST ${own}/2/status`, { status: "open" }, other);
      const refused: [string, object?][] = [
        [`POST ${own}/1/comment/${foreign}/edit`, { content: "x" }],
        [`POST ${own}/1/comment/${foreign}/hide`],
        [`POST ${own}/1/title`, { title: "Another title" }],
        [`POST ${own}/1/status`, { status: "closed" }],
        [`POST ${own}/1/pin`, { pinned: true }],
        [`POST ${own}/2/merge`],
        [`DELETE ${own}/2`],
      ];
      for (const [line, body] of refused) expect(await statusOf(line, body, other), line).toBe(403);
      await send(`POST ${own}/1/comment/${mine}/hide`);
    });

    test.each([
      { token: "hf_read", status: 403 },
      { token: "hf_fine", status: 403 },
      { token: null, status: 401 },
    ])("cannot comment in the repository of an organization with the token $token", async ({ token, status }) => {
      await create(discussions);
      expect(await statusOf(`POST ${discussions}`, { title: "A question", description: "" }, { token })).toBe(status);
      expect(await statusOf(`POST ${discussions}/1/comment`, { comment: "x" }, { token })).toBe(status);
      expect(await statusOf(`POST ${discussions}/1/status`, { status: "closed" }, { token })).toBe(status);
      expect((await get(`${discussions}/1`, { token })).events).toHaveLength(1);
    });

    test("cannot read the discussions of a private repository of another user", async () => {
      await send("POST /api/repos/create", { type: "model", name: "net", private: true });
      await create("/api/models/local-user/net/discussions");
      for (const [token, expected] of [
        ["hf_other", 404],
        [null, 401],
      ] as const) {
        const { status, headers } = await hub.request("GET /api/models/local-user/net/discussions/1", { token });
        expect([status, headers.get("x-error-code")]).toEqual([expected, "RepoNotFound"]);
      }
    });

    test("can commit to their own pull request, but to no other branch, of a readable repository", async () => {
      const own = "/api/models/local-user/net";
      await send("POST /api/repos/create", { type: "model", name: "net" });
      await create(`${own}/discussions`, { pullRequest: true }, other);
      await create(`${own}/discussions`, { pullRequest: true });
      const lines = [
        { key: "header", value: { summary: "Add a file", description: "" } },
        { key: "file", value: { path: "a.txt", content: "YQo=", encoding: "base64" } },
      ];
      const commit = async (rev: string) => {
        const text = lines.map((line) => JSON.stringify(line)).join("\n");
        const headers = { "content-type": "application/x-ndjson" };
        return (await hub.request(`POST ${own}/commit/${rev}`, { ...other, text, headers })).status;
      };
      expect(await Promise.all(["refs%2Fpr%2F1", "refs%2Fpr%2F2", "main"].map(commit))).toEqual([200, 403, 403]);
      const details = await get(`${own}/discussions/1?diff=1`);
      expect(details.events.map(({ type }) => type)).toEqual(["comment", "commit"]);
      expect(details).toMatchObject({ changes: { base: "refs/heads/main" }, filesWithConflicts: false });
      expect(details.diff).toContain("+++ b/a.txt\n");
      await send(`POST ${own}/discussions/1/status`, { status: "open" });
      await send(`POST ${own}/discussions/1/merge`);
      const merged = await get(`${own}/discussions/1`);
      expect(merged).toMatchObject({
        status: "merged",
        changes: { mergeCommitId: expect.stringMatching(/^[0-9a-f]{40}$/) },
      });
    });
  });
});
