import { describe, expect, test } from "vitest";
import type { Notification } from "../../../src/hub/notifications.ts";
import { openLocalHub, type TestHub } from "../support/hub.ts";
import { allOf, idOf, isOf, pageOf, participantsOf } from "../support/notifications.ts";

const other = { token: "hf_other" };

async function idsOf(hub: TestHub, query = ""): Promise<string[]> {
  return (await pageOf(hub, query)).notifications.map(idOf);
}

describe("The notifications of a new local Hub", () => {
  test("fill two pages, newest first", async () => {
    const now = Date.UTC(2026, 1, 3, 12);
    const hub = await openLocalHub({ now: () => now });
    const first = await pageOf(hub);
    const second = await pageOf(hub, "?p=1");
    expect([first.notifications.length, first.start]).toEqual([20, 0]);
    expect([second.notifications.length, second.start]).toEqual([8, 20]);
    const times = [...first.notifications, ...second.notifications].map(({ updatedAt }) => updatedAt);
    expect(times).toEqual([...new Set(times)].sort().reverse());
    expect(times[0]).toBe("2026-02-03T05:00:00.000Z");
  });

  test("cover all types, states and kinds", async () => {
    const all = await allOf(await openLocalHub());
    const kinds = (told: (notification: Notification) => unknown) => new Set(all.map(told));
    const repos = all.filter(isOf("repo"));
    const blogs = all.filter(isOf("community_blog"));
    expect(kinds(({ type }) => type)).toEqual(new Set(["paper", "repo", "post", "community_blog"]));
    expect(kinds(({ read }) => read)).toEqual(new Set([true, false]));
    expect(kinds(({ discussionEventId }) => discussionEventId === undefined)).toEqual(new Set([true, false]));
    expect(kinds((told) => participantsOf(told).includes("local-user"))).toEqual(new Set([true, false]));
    expect(new Set(repos.map(({ repo }) => repo.type))).toEqual(
      new Set(["dataset", "model", "space", "bucket", "kernel"]),
    );
    expect(new Set(repos.map(({ discussion }) => discussion.status))).toEqual(
      new Set(["draft", "open", "closed", "merged"]),
    );
    expect(new Set(repos.map(({ discussion }) => discussion.isPullRequest))).toEqual(new Set([true, false]));
    expect(new Set(blogs.map(({ blog }) => `${blog.canonical} ${blog.authorName === undefined}`)).size).toBe(4);
    expect(new Set(all.map(idOf)).size).toBe(all.length);
    for (const notification of all) expect(idOf(notification)).toMatch(/^[0-9a-f]{24}$/);
  });

  test("contain the avatars of the participants at the current address of the local Hub", async () => {
    const hub = await openLocalHub();
    const [first] = (await pageOf(hub, "?repoType=dataset")).notifications.filter(isOf("repo"));
    expect(first?.discussion.participating).toContainEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      avatar: `${hub.url}/avatars/local-user.svg`,
      user: "local-user",
    });
  });

  test("belong to each user separately", async () => {
    const hub = await openLocalHub();
    const mine = await pageOf(hub);
    const theirs = await pageOf(hub, "", other);
    expect(theirs.count.all).toBe(6);
    expect(mine.count.all).toBe(28);
    expect(await pageOf(hub, "", { token: "hf_read" })).toEqual(mine);
  });

  test("are restored by a reset", async () => {
    const hub = await openLocalHub({ now: () => 1_770_000_000_000 });
    const before = await allOf(hub);
    await hub.request("DELETE /api/notifications?applyToAll=true");
    expect(await allOf(hub)).toEqual([]);
    hub.hub.reset();
    expect(await allOf(hub)).toEqual(before);
  });
});

describe("A page of notifications", () => {
  test("counts the matching ones, all unread ones, and all", async () => {
    const hub = await openLocalHub();
    const all = await allOf(hub);
    const unread = all.filter(({ read }) => !read).length;
    const papers = all.filter(isOf("paper")).length;
    expect(unread).toBeGreaterThan(papers);
    expect((await pageOf(hub)).count).toEqual({ view: 28, unread, all: 28 });
    expect((await pageOf(hub, "?repoType=kernel")).count).toEqual({ view: 2, unread, all: 28 });
    expect((await pageOf(hub, "?readStatus=unread&p=1")).count).toEqual({ view: unread, unread, all: 28 });
  });

  test("is empty after the last one, and contains its start offset", async () => {
    const hub = await openLocalHub();
    expect(await pageOf(hub, "?p=2")).toMatchObject({ notifications: [], start: 40, count: { view: 28 } });
    const last = await pageOf(hub, `?p=${Number.MAX_SAFE_INTEGER}`);
    expect(last).toMatchObject({ notifications: [], start: Number.MAX_SAFE_INTEGER * 20 });
  });

  test("contains all of exactly twenty notifications", async () => {
    const hub = await openLocalHub();
    const discussionIds = (await pageOf(hub, "?p=1")).notifications.map(idOf);
    await hub.request("DELETE /api/notifications", { body: { discussionIds } });
    expect((await pageOf(hub)).notifications).toHaveLength(20);
    expect((await pageOf(hub, "?p=1")).notifications).toEqual([]);
    await hub.request("DELETE /api/notifications", { body: { discussionIds: (await idsOf(hub)).slice(5, 6) } });
    expect((await pageOf(hub)).notifications).toHaveLength(19);
  });

  test("contains only matching notifications", async () => {
    const hub = await openLocalHub();
    const unread = (await allOf(hub)).filter(({ read }) => !read).map(idOf);
    expect(unread.length).toBeLessThan(20);
    expect(await idsOf(hub, "?readStatus=unread")).toEqual(unread);
    expect(await idsOf(hub, "?readStatus=unread&p=1")).toEqual([]);
  });
});

describe("A search of notifications", () => {
  const preprint = "2601.04211";
  const papersOf = (id: string | undefined) => (told: Notification) => isOf("paper")(told) && told.paper._id === id;
  const titled = (title: string) => (told: Notification) => isOf("paper")(told) && told.paper.title.startsWith(title);

  test.each<[query: string, isWanted: (notification: Notification) => boolean]>([
    ["readStatus=unread", ({ read }) => !read],
    ["repoType=dataset", (told) => isOf("repo")(told) && told.repo.type === "dataset"],
    ["repoType=model", (told) => isOf("repo")(told) && told.repo.type === "model"],
    ["repoType=space", (told) => isOf("repo")(told) && told.repo.type === "space"],
    ["repoType=bucket", (told) => isOf("repo")(told) && told.repo.type === "bucket"],
    ["repoType=kernel", (told) => isOf("repo")(told) && told.repo.type === "kernel"],
    ["repoName=acme/reviews", (told) => isOf("repo")(told) && told.repo.name === "acme/reviews"],
    ["postAuthor=local-user", (told) => isOf("post")(told) && told.post.authorName === "local-user"],
    [`paperId=${preprint}`, titled("Small Models")],
    ["articleId=kernels-by-hand", (told) => isOf("community_blog")(told) && told.blog.slug === "kernels-by-hand"],
    ["mention=participating", (told) => participantsOf(told).includes("local-user")],
    ["repoType=dataset&readStatus=unread", (told) => isOf("repo")(told) && told.repo.type === "dataset" && !told.read],
    [
      "repoName=acme/sentiment&mention=participating",
      (told) =>
        isOf("repo")(told) && told.repo.name === "acme/sentiment" && participantsOf(told).includes("local-user"),
    ],
  ])("returns exactly the matching ones: %s", async (query, isWanted) => {
    const hub = await openLocalHub();
    const all = await allOf(hub);
    const wanted = all.filter(isWanted);
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(20);
    const page = await pageOf(hub, `?${query}`);
    expect(page.notifications).toEqual(wanted);
    expect(page.count).toEqual({ view: wanted.length, unread: all.filter(({ read }) => !read).length, all: 28 });
  });

  test.each(["readStatus=all", "mention=all", "readStatus=all&mention=all&p=0"])(
    "is not limited by %s",
    async (query) => {
      const hub = await openLocalHub();
      expect(await pageOf(hub, `?${query}`)).toEqual(await pageOf(hub));
    },
  );

  test("also finds a paper by the id in its notification", async () => {
    const hub = await openLocalHub();
    const [first] = (await pageOf(hub, `?paperId=${preprint}`)).notifications.filter(isOf("paper"));
    const wanted = (await allOf(hub)).filter(papersOf(first?.paper._id));
    expect(wanted).toHaveLength(2);
    expect((await pageOf(hub, `?paperId=${first?.paper._id}`)).notifications).toEqual(wanted);
  });

  test("also finds an article by its id", async () => {
    const hub = await openLocalHub();
    const [, article] = (await allOf(hub)).filter(isOf("community_blog"));
    expect((await pageOf(hub, `?articleId=${article?.blog.id}`)).notifications).toEqual([article]);
    expect((await pageOf(hub, `?articleId=${article?.blog.slug}`)).notifications).toEqual([article]);
  });

  test("finds notifications that mention the user, which differ from those of participants", async () => {
    const hub = await openLocalHub();
    const mentioned = (await pageOf(hub, "?mention=mentions")).notifications;
    expect(mentioned).toHaveLength(6);
    const takesPart = new Set(mentioned.map((told) => participantsOf(told).includes("local-user")));
    expect(takesPart).toEqual(new Set([true, false]));
    const unread = mentioned.filter(({ read }) => !read);
    expect(unread.length).toBeLessThan(6);
    expect((await pageOf(hub, "?mention=mentions&readStatus=unread")).notifications).toEqual(unread);
  });

  test("with lastUpdate returns notifications up to that millisecond", async () => {
    const hub = await openLocalHub();
    const all = await allOf(hub);
    const { updatedAt = "" } = all[3] ?? {};
    const before = new Date(Date.parse(updatedAt) - 1).toISOString();
    expect((await pageOf(hub, `?lastUpdate=${updatedAt}`)).count.view).toBe(25);
    expect((await pageOf(hub, `?lastUpdate=${before}`)).count.view).toBe(24);
    expect((await pageOf(hub, `?lastUpdate=${updatedAt}`)).notifications[0]).toEqual(all[3]);
  });

  test.each([
    "repoType=dataset&repoName=acme/sentiment",
    `repoType=dataset&paperId=${preprint}`,
    "postAuthor=local-user&articleId=kernels-by-hand",
    "repoName=acme/nothing",
    "repoName=acme/review",
    "repoName=",
    "postAuthor=nobody",
    "paperId=9999.99999",
    "articleId=2601.04211",
    "articleId=",
    "lastUpdate=2001-01-01T00:00:00Z",
  ])("without a match returns an empty page: %s", async (query) => {
    const hub = await openLocalHub();
    expect(await pageOf(hub, `?${query}`)).toMatchObject({ notifications: [], start: 0, count: { view: 0, all: 28 } });
  });
});
