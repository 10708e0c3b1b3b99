import { beforeEach, describe, expect, test } from "vitest";
import type { Notification } from "../../../src/hub/notifications.ts";
import { openLocalHub, shareLocalHub, type TestHub } from "../support/hub.ts";
import { allOf, idOf, isOf, pageOf, participantsOf } from "../support/notifications.ts";

const shared = await shareLocalHub();
const all = await allOf(shared);
const unread = all.filter(({ read }) => !read);

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

  test("belong to each user separately", async () => {
    const mine = await pageOf(shared);
    expect([mine.count.all, (await pageOf(shared, "", { token: "hf_other" })).count.all]).toEqual([28, 6]);
    expect(await pageOf(shared, "", { token: "hf_read" })).toEqual(mine);
  });
});

describe("A page of notifications", () => {
  test("is empty after the last one, and contains its start offset", async () => {
    expect(await pageOf(shared, "?p=2")).toMatchObject({ notifications: [], start: 40, count: { view: 28 } });
    const last = await pageOf(shared, `?p=${Number.MAX_SAFE_INTEGER}`);
    expect(last).toMatchObject({ notifications: [], start: Number.MAX_SAFE_INTEGER * 20 });
  });

  test("contains all of exactly twenty notifications", async () => {
    const hub = await openLocalHub();
    const discussionIds = (await pageOf(hub, "?p=1")).notifications.map(idOf);
    await hub.request("DELETE /api/notifications", { body: { discussionIds } });
    const { notifications } = await pageOf(hub);
    expect(notifications).toHaveLength(20);
    expect((await pageOf(hub, "?p=1")).notifications).toEqual([]);
    const body = { discussionIds: notifications.slice(5, 6).map(idOf) };
    await hub.request("DELETE /api/notifications", { body });
    expect((await pageOf(hub)).notifications).toHaveLength(19);
  });
});

describe("A search of notifications", () => {
  const preprint = "2601.04211";
  const papersOf = (id: string | undefined) => (notification: Notification) =>
    isOf("paper")(notification) && notification.paper._id === id;
  const titled = (title: string) => (notification: Notification) =>
    isOf("paper")(notification) && notification.paper.title.startsWith(title);

  test.each<[query: string, isWanted: (notification: Notification) => boolean]>([
    ["readStatus=unread", ({ read }) => !read],
    ["repoType=dataset", (notification) => isOf("repo")(notification) && notification.repo.type === "dataset"],
    ["repoType=model", (notification) => isOf("repo")(notification) && notification.repo.type === "model"],
    ["repoType=space", (notification) => isOf("repo")(notification) && notification.repo.type === "space"],
    ["repoType=bucket", (notification) => isOf("repo")(notification) && notification.repo.type === "bucket"],
    ["repoType=kernel", (notification) => isOf("repo")(notification) && notification.repo.type === "kernel"],
    [
      "repoName=acme/reviews",
      (notification) => isOf("repo")(notification) && notification.repo.name === "acme/reviews",
    ],
    [
      "postAuthor=local-user",
      (notification) => isOf("post")(notification) && notification.post.authorName === "local-user",
    ],
    [`paperId=${preprint}`, titled("Small Models")],
    [
      "articleId=kernels-by-hand",
      (notification) => isOf("community_blog")(notification) && notification.blog.slug === "kernels-by-hand",
    ],
    ["mention=participating", (notification) => participantsOf(notification).includes("local-user")],
    [
      "repoType=dataset&readStatus=unread",
      (notification) => isOf("repo")(notification) && notification.repo.type === "dataset" && !notification.read,
    ],
    [
      "repoName=acme/sentiment&mention=participating",
      (notification) =>
        isOf("repo")(notification) &&
        notification.repo.name === "acme/sentiment" &&
        participantsOf(notification).includes("local-user"),
    ],
  ])("returns exactly the matching ones: %s", async (query, isWanted) => {
    const wanted = all.filter(isWanted);
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(20);
    const page = await pageOf(shared, `?${query}`);
    expect(page.notifications).toEqual(wanted);
    expect(page.count).toEqual({ view: wanted.length, unread: unread.length, all: 28 });
  });

  test("is not limited by all", async () => {
    for (const query of ["readStatus=all", "mention=all", "readStatus=all&mention=all&p=0"])
      expect(await pageOf(shared, `?${query}`), query).toEqual(await pageOf(shared));
  });

  test("also finds a paper by the id in its notification, and an article by its id", async () => {
    const [first] = (await pageOf(shared, `?paperId=${preprint}`)).notifications.filter(isOf("paper"));
    const wanted = all.filter(papersOf(first?.paper._id));
    expect(wanted).toHaveLength(2);
    expect((await pageOf(shared, `?paperId=${first?.paper._id}`)).notifications).toEqual(wanted);
    const [, article] = all.filter(isOf("community_blog"));
    for (const id of [article?.blog.id, article?.blog.slug])
      expect((await pageOf(shared, `?articleId=${id}`)).notifications).toEqual([article]);
  });

  test("finds notifications that mention the user, which differ from those of participants", async () => {
    const mentioned = (await pageOf(shared, "?mention=mentions")).notifications;
    expect(mentioned).toHaveLength(6);
    const takesPart = new Set(mentioned.map((notification) => participantsOf(notification).includes("local-user")));
    expect(takesPart).toEqual(new Set([true, false]));
    const unread = mentioned.filter(({ read }) => !read);
    expect(unread.length).toBeLessThan(6);
    expect((await pageOf(shared, "?mention=mentions&readStatus=unread")).notifications).toEqual(unread);
  });

  test("with lastUpdate returns notifications up to that millisecond", async () => {
    const { updatedAt = "" } = all[3] ?? {};
    const before = new Date(Date.parse(updatedAt) - 1).toISOString();
    expect(await pageOf(shared, `?lastUpdate=${updatedAt}`)).toMatchObject({ count: { view: 25 } });
    expect((await pageOf(shared, `?lastUpdate=${before}`)).count.view).toBe(24);
    expect((await pageOf(shared, `?lastUpdate=${updatedAt}`)).notifications[0]).toEqual(all[3]);
  });

  test("without a match returns an empty page", async () => {
    const combined = ["repoType=dataset&repoName=acme/sentiment", `repoType=dataset&paperId=${preprint}`];
    const unknown = ["repoName=acme/nothing", "repoName=acme/review", "postAuthor=nobody", "paperId=9999.99999"];
    const others = [
      "postAuthor=local-user&articleId=kernels-by-hand",
      "repoName=",
      "articleId=",
      "articleId=2601.04211",
    ];
    for (const query of [...combined, ...unknown, ...others, "lastUpdate=2001-01-01T00:00:00Z"]) {
      const empty = { notifications: [], start: 0, count: { view: 0, all: 28 } };
      expect(await pageOf(shared, `?${query}`), query).toMatchObject(empty);
    }
  });
});

describe("Changes", () => {
  const other = { token: "hf_other" };
  let hub: TestHub;
  let before: Notification[];

  beforeEach(async () => {
    hub = await openLocalHub();
    before = await allOf(hub);
  });

  const unread = () => before.filter(({ read }) => !read);
  const isDataset = (notification: Notification) => isOf("repo")(notification) && notification.repo.type === "dataset";

  describe.each(["mark", "delete"])("A request to %s notifications", (how) => {
    const line = how === "mark" ? "POST /api/notifications/mark-as-read" : "DELETE /api/notifications";

    /** Sends the request, and returns the IDs of the notifications that it changed. */
    async function change(query: string, body: object): Promise<string[]> {
      const answer = await hub.request(`${line}${query}`, { body });
      expect([answer.status, answer.text]).toEqual([200, "{}"]);
      const after = await allOf(hub);
      const changed = before.filter((notification) => {
        const now = after.find((candidate) => idOf(candidate) === idOf(notification));
        return how === "mark" ? now?.read !== notification.read : !now;
      });
      const expected = before.map((notification) =>
        changed.includes(notification) ? { ...notification, read: true } : notification,
      );
      expect(after).toEqual(
        how === "mark" ? expected : before.filter((notification) => !changed.includes(notification)),
      );
      const count = after.filter(({ read }) => !read).length;
      expect((await pageOf(hub)).count).toEqual({ view: after.length, unread: count, all: after.length });
      return changed.map(idOf);
    }

    test("changes exactly the listed ones, even if the query does not match them", async () => {
      const discussionIds = unread().slice(2, 4).map(idOf);
      expect(await change("?postAuthor=nobody&p=7", { discussionIds })).toEqual(discussionIds);
    });

    test("with applyToAll changes all that match on every page, except the listed ones", async () => {
      const [post] = unread().filter(isOf("post")).map(idOf);
      const query = "?applyToAll=true&readStatus=unread&repoType=dataset&p=3";
      const changed = await change(query, { discussionIds: [post] });
      expect(changed).toEqual(unread().filter(isDataset).map(idOf));
      expect(changed.length).toBeGreaterThan(0);
    });

    test("with applyToAll and no query changes all of this user only", async () => {
      const theirs = await allOf(hub, other);
      const changed = await change("?applyToAll=true", { discussionIds: theirs.map(idOf) });
      expect(changed).toEqual((how === "mark" ? unread() : before).map(idOf));
      expect(await allOf(hub, other)).toEqual(theirs);
    });

    test("does not change notifications that arrived after the list was loaded", async () => {
      const [newest, loaded] = before;
      const changed = await change(`?applyToAll=true&lastUpdate=${loaded?.updatedAt}`, {});
      expect(changed).not.toContain(newest && idOf(newest));
      expect(changed.length).toBe((how === "mark" ? unread() : before).length - 1);
    });

    test("changes nothing without known ids", async () => {
      expect(await change("", {})).toEqual([]);
      expect(await change("?applyToAll=false&repoType=dataset", {})).toEqual([]);
      expect(await change("", { discussionIds: ["f".repeat(24)] })).toEqual([]);
    });
  });

  test("Listed notifications, or all, can be marked as unread", async () => {
    const [first, ...others] = before.filter(({ read }) => read).map(idOf);
    const line = "POST /api/notifications/mark-as-read";
    await hub.request(line, { body: { discussionIds: [first], read: false } });
    expect((await allOf(hub)).filter(({ read }) => read).map(idOf)).toEqual(others);
    await hub.request(`${line}?applyToAll=true`, { body: { read: false } });
    expect((await pageOf(hub)).count).toEqual({ view: 28, unread: 28, all: 28 });
  });

  test("The body of a deletion is optional, and a list ignores applyToAll", async () => {
    const page = await pageOf(hub);
    for (const value of ["true", "false"]) expect(await pageOf(hub, `?applyToAll=${value}`)).toEqual(page);
    await hub.request("DELETE /api/notifications");
    expect(await pageOf(hub)).toEqual(page);
    await hub.request("DELETE /api/notifications?applyToAll=true");
    expect(await pageOf(hub)).toEqual({ notifications: [], count: { view: 0, unread: 0, all: 0 }, start: 0 });
  });
});
