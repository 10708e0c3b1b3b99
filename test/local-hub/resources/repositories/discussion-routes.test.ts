import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { discussionDetails } from "../../../../src/hub/repositories/discussions.ts";
import { openLocalHub, type TestHub } from "../../support/hub.ts";

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
async function send(line: string, body?: unknown, as: { token?: string | null } = {}): Promise<unknown> {
  const answer = await hub.request(line, { ...as, ...(body !== undefined && { body }) });
  expect(answer.status, `${line}: ${answer.text}`).toBe(200);
  return answer.body;
}

async function statusOf(line: string, body: unknown, as: { token: string | null }): Promise<number> {
  return (await hub.request(line, { ...as, body })).status;
}

async function create(path: string, fields: object = {}, as: { token?: string } = {}): Promise<number> {
  const body = { title: "A question", description: "Why?", ...fields };
  return z.object({ num: z.number() }).parse(await send(`POST ${path}`, body, as)).num;
}

async function comment(path: string, text: string, as: { token?: string } = {}): Promise<string> {
  const body = await send(`POST ${path}/comment`, { comment: text }, as);
  return z.object({ newMessage: z.object({ id: z.string() }) }).parse(body).newMessage.id;
}

async function get(path: string, as: { token?: string | null } = {}) {
  return discussionDetails.parse(await send(`GET ${path}`, undefined, as));
}

async function list(query = "", path = discussions) {
  const { discussions: page, ...rest } = listed.parse(await send(`GET ${path}${query}`));
  return { ...rest, nums: page.map(({ num }) => num), page };
}

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
    expect(events.map(({ type }) => type)).toEqual(["comment", "comment", "title-change", "comment", "status-change"]);
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
      const { status, headers } = await hub.request(line);
      expect([status, headers.get("x-error-code")]).toEqual([403, "DiscussionsDisabled"]);
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
