import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Notification, type NotificationPage, notificationPage } from "../../../src/hub/notifications.ts";
import type { NotificationSettingsChange, NotificationWatchItem } from "../../../src/hub/settings.ts";
import { accountId } from "../../../src/local-hub/accounts.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { openLocalHub, pushed, type RequestOptions, shareLocalHub, type TestHub } from "../support/hub.ts";

type As = Pick<RequestOptions, "token">;

/** Returns a page of notifications for a query such as `?p=1`. */
function pageOf(hub: TestHub, query = "", as: As = {}): Promise<NotificationPage> {
  return hub.read(`GET /api/notifications${query}`, notificationPage, as);
}

/** Returns the notifications on all pages. */
async function allOf(hub: TestHub, as: As = {}): Promise<Notification[]> {
  const all: Notification[] = [];
  for (let p = 0; ; p += 1) {
    const { notifications } = await pageOf(hub, `?p=${p}`, as);
    if (notifications.length === 0) return all;
    all.push(...notifications);
  }
}

/** Returns whether a notification has this type. */
function isOf<Type extends Notification["type"]>(type: Type) {
  return (notification: Notification): notification is Extract<Notification, { type: Type }> =>
    notification.type === type;
}

/** Returns the id that deletes or marks a notification. */
function idOf(notification: Notification): string {
  return discussionOf(notification).id;
}

/** Returns the participants of the discussion. */
function participantsOf(notification: Notification): string[] {
  return discussionOf(notification).participating.map(({ user }) => user);
}

function discussionOf(notification: Notification) {
  if (notification.type === "paper") return notification.paperDiscussion;
  if (notification.type === "repo") return notification.discussion;
  return notification.type === "post" ? notification.post : notification.blog;
}

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

  type IsWanted = (notification: Notification) => boolean;
  const ofRepository =
    (isSelected: (repo: { type: string; name: string }) => boolean): IsWanted =>
    (notification) =>
      isOf("repo")(notification) && isSelected(notification.repo);
  const isMine: IsWanted = (notification) => participantsOf(notification).includes("local-user");
  const isUnread: IsWanted = ({ read }) => !read;
  const isDataset = ofRepository(({ type }) => type === "dataset");
  const isSentiment = ofRepository(({ name }) => name === "acme/sentiment");

  test.each<[query: string, ...conditions: IsWanted[]]>([
    ["readStatus=unread", isUnread],
    ...["dataset", "model", "space", "bucket", "kernel"].map((wanted): [string, IsWanted] => [
      `repoType=${wanted}`,
      ofRepository(({ type }) => type === wanted),
    ]),
    ["repoName=acme/reviews", ofRepository(({ name }) => name === "acme/reviews")],
    ["postAuthor=local-user", (one) => isOf("post")(one) && one.post.authorName === "local-user"],
    [`paperId=${preprint}`, titled("Small Models")],
    ["articleId=kernels-by-hand", (one) => isOf("community_blog")(one) && one.blog.slug === "kernels-by-hand"],
    ["mention=participating", isMine],
    ["repoType=dataset&readStatus=unread", isDataset, isUnread],
    ["repoName=acme/sentiment&mention=participating", isSentiment, isMine],
  ])("returns exactly the matching ones: %s", async (query, ...conditions) => {
    const wanted = all.filter((notification) => conditions.every((isWanted) => isWanted(notification)));
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

const data = { type: "dataset", name: "acme/data" } as const;
const opened = { repo: data, event: { scope: "discussion", action: "create" } };
const commented = { repo: data, event: { scope: "discussion.comment", action: "create" } };
const other = { token: "hf_other" };

async function watch(hub: TestHub, item: NotificationWatchItem, as: { token?: string } = {}): Promise<void> {
  expect((await hub.request("PATCH /api/settings/watch", { ...as, body: { add: [item] } })).status).toBe(200);
}

/** Returns the watch item of a user, an organization, or a dataset, which is created if necessary. */
async function itemOf(hub: TestHub, type: NotificationWatchItem["type"], name: string): Promise<NotificationWatchItem> {
  if (type !== "repo") return { type, id: accountId(name) };
  const repo = { type: "dataset", name } as const;
  await hub.trigger({ ...pushed, repo });
  return { type, id: await repositoryId(hub, repo) };
}

/**
 * Returns how many notifications an event adds for local-user and other-user. Removed notifications count as negative.
 */
async function added(hub: TestHub, event: HubEvent): Promise<number[]> {
  const count = () => Promise.all([{}, other].map(async (as) => (await pageOf(hub, "", as)).count.all));
  const before = await count();
  await hub.trigger(event);
  return (await count()).map((all, index) => all - (before[index] ?? 0));
}

const repositories = z.array(z.object({ type: z.string(), name: z.string(), id: z.string() }));

async function repositoryId(hub: TestHub, { type, name }: HubEvent["repo"]): Promise<string> {
  const { body } = await hub.request("GET /_local/repositories", { token: null });
  return repositories.parse(body).find((known) => known.type === type && known.name === name)?.id ?? "";
}

describe("After events,", () => {
  let hub: TestHub;
  beforeEach(async () => {
    hub = await openLocalHub();
  });

  describe("A discussion in a watched repository", () => {
    test("adds an unread notification at the top", async () => {
      const clock = { now: Date.UTC(2026, 0, 31) };
      const hub = await openLocalHub({ now: () => clock.now });
      await watch(hub, await itemOf(hub, "org", "acme"));
      clock.now += 250;
      await hub.trigger({ ...opened, discussion: { title: "Broken rows", status: "draft", isPullRequest: true } });
      const [first] = (await pageOf(hub)).notifications;
      expect(first).toEqual({
        type: "repo",
        updatedAt: "2026-01-31T00:00:00.250Z",
        read: false,
        discussionEventId: expect.stringMatching(/^[0-9a-f]{24}$/),
        repo: data,
        discussion: {
          id: expect.stringMatching(/^[0-9a-f]{24}$/),
          num: 1,
          title: "Broken rows",
          status: "draft",
          isPullRequest: true,
          participating: [
            { _id: accountId("local-user"), avatar: `${hub.url}/avatars/local-user.svg`, user: "local-user" },
          ],
        },
      });
    });

    test("has one notification, which each comment updates", async () => {
      const clock = { now: Date.UTC(2026, 0, 31) };
      const hub = await openLocalHub({ now: () => clock.now++ });
      await watch(hub, await itemOf(hub, "org", "acme"));
      await watch(hub, await itemOf(hub, "repo", "acme/data"));
      expect(await added(hub, opened)).toEqual([1, 0]);
      const [first] = (await pageOf(hub)).notifications.map(idOf);
      await hub.request("POST /api/notifications/mark-as-read", { body: { discussionIds: [first] } });
      expect(await added(hub, { ...opened, repo: { type: "model", name: "acme/net" } })).toEqual([1, 0]);
      const by = (user: string) => ({ comment: { author: { id: accountId(user) } } });
      expect(await added(hub, { ...commented, ...by("ada-adams") })).toEqual([0, 0]);
      expect(await added(hub, { ...commented, ...by("nobody"), discussion: { status: "closed" } })).toEqual([0, 0]);
      const [renewed] = (await pageOf(hub)).notifications;
      expect(renewed).toMatchObject({ read: false, discussion: { id: first, status: "closed" } });
      expect(renewed && participantsOf(renewed)).toEqual(["local-user", "ada-adams"]);
      expect(await added(hub, opened)).toEqual([1, 0]);
    });

    test("of the initial data updates the initial notification", async () => {
      const repo = { type: "dataset", name: "acme/reviews" } as const;
      const [latest, second] = (await pageOf(hub, "?repoName=acme/reviews")).notifications;
      expect(latest).toMatchObject({ discussion: { num: 12 } });
      expect(await added(hub, { ...commented, repo, discussion: { num: 11, title: "Again" } })).toEqual([0, 0]);
      const [renewed, third] = (await pageOf(hub)).notifications;
      expect(renewed).toMatchObject({ discussion: { num: 11, title: "Again" } });
      expect(second && renewed && idOf(renewed) === idOf(second)).toBe(true);
      expect(third).toEqual(latest);
    });

    test("is listed under mentions from the first comment that mentions the user", async () => {
      await watch(hub, await itemOf(hub, "repo", "acme/data"));
      const mentions = async () => (await pageOf(hub, "?mention=mentions")).count.view;
      const before = await mentions();
      await hub.trigger({ ...opened, comment: { content: "@local-user-2 and me@local-users.org know" } });
      expect(await mentions()).toBe(before);
      await hub.trigger({ ...commented, comment: { content: "What do you say, @local-user?" } });
      expect(await mentions()).toBe(before + 1);
      await hub.trigger({ ...commented, comment: { content: "Nothing." } });
      expect(await mentions()).toBe(before + 1);
    });

    test("is described by the original payload, without edits", async () => {
      await watch(hub, await itemOf(hub, "repo", "acme/data"));
      await hub.trigger({ ...opened, edits: [{ path: "discussion.title", value: "Edited" }] });
      expect((await pageOf(hub)).notifications[0]).toMatchObject({ discussion: { title: "Add a data card" } });
    });
  });

  const deleted = { scope: "repo", action: "delete" };
  const named = (name: string) => ({ ...opened, repo: { ...data, name } });
  const moveTo = (name: string) => ({ repo: data, event: { scope: "repo", action: "move" }, movedTo: { name } });

  describe("Watching", () => {
    test.each<[what: string, type: NotificationWatchItem["type"], name: string, ...[event: HubEvent, added: number][]]>(
      [
        ["an organization", "org", "acme", [opened, 1], [named("acmes/data"), 0]],
        ["a user with the name of an organization", "user", "acme", [opened, 0]],
        ["a user", "user", "other-user", [named("other-user/data"), 1]],
        ["an organization with the name of a user", "org", "other-user", [named("other-user/data"), 0]],
        ["an unknown owner as a user", "user", "me", [named("me/data"), 1]],
        ["an unknown owner as an organization", "org", "me", [named("me/data"), 1]],
        ["a repository", "repo", "acme/data", [opened, 1], [named("acme/data2"), 0]],
        [
          "an organization, for discussions only",
          ...(["org", "acme"] as const),
          [{ ...pushed, repo: data }, 0],
          [{ repo: data, event: { scope: "repo.config", action: "update" } }, 0],
          [{ repo: data, event: { scope: "discussion.reaction", action: "create" } }, 1],
        ],
        [
          "a repository, until the discussion is deleted",
          ...(["repo", "acme/data"] as const),
          [opened, 1],
          [{ ...opened, event: { scope: "discussion", action: "delete" } }, -1],
        ],
        [
          "a repository, without values that a notification cannot contain",
          ...(["repo", "acme/data"] as const),
          ...[{ status: "locked" }, { id: "7" }, { title: 5 }].map((discussion): [HubEvent, number] => [
            { ...opened, discussion },
            0,
          ]),
        ],
        [
          "a repository that moves",
          ...(["repo", "acme/data"] as const),
          [{ ...opened, repo: { type: "model", name: "acme/data" } }, 0],
          [opened, 1],
          [moveTo("me/moved"), 0],
          [opened, 0],
          [named("me/moved"), 1],
        ],
      ],
    )("%s adds notifications", async (_what, type, name, ...events) => {
      await watch(hub, await itemOf(hub, type, name));
      for (const [event, count] of events) expect(await added(hub, event)).toEqual([count, 0]);
    });

    test("updates notifications when a repository moves, and removes them when it is deleted", async () => {
      await watch(hub, await itemOf(hub, "org", "acme"));
      await hub.trigger(opened);
      const count = async (name: string) => (await pageOf(hub, `?repoName=${name}`)).count.view;
      await hub.trigger(moveTo("acme/moved"));
      expect([await count("acme/data"), await count("acme/moved")]).toEqual([0, 1]);
      expect(await added(hub, { repo: { ...data, name: "acme/moved" }, event: deleted })).toEqual([-1, 0]);
      expect(await added(hub, { repo: { type: "model", name: "acme/reviews" }, event: deleted })).toEqual([0, 0]);
    });

    test("hides notifications from users who can no longer read the repository, and they cannot mark them", async () => {
      await watch(hub, await itemOf(hub, "org", "acme"), other);
      expect(await added(hub, { ...opened, repo: { ...data, private: true } })).toEqual([0, 1]);
      const unread = async () => (await pageOf(hub, "?repoName=acme/data&readStatus=unread", other)).count.view;
      await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "no_access" } });
      expect(await unread()).toBe(0);
      await hub.request("POST /api/notifications/mark-as-read?applyToAll=true", { ...other, body: {} });
      await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "read" } });
      expect(await unread()).toBe(1);
    });

    test("hides notifications from a token that the owner of the repository revoked", async () => {
      await watch(hub, await itemOf(hub, "org", "acme"));
      await added(hub, { ...opened, repo: { type: "model", name: "acme/hidden", private: true } });
      const seen = async (token: string) => (await pageOf(hub, "?repoName=acme/hidden", { token })).count.view;
      expect(await seen("hf_read")).toBe(1);
      const body = { token: "hf_read" };
      expect((await hub.request("POST /api/organizations/acme/settings/tokens/revoke", { body })).status).toBe(200);
      expect([await seen("hf_read"), await seen("hf_local")]).toEqual([0, 1]);
    });

    test("notifies every user who watches the repository by its id, and returns the notified users, unless it is a dry run", async () => {
      for (const [type, id] of [
        ["org", "acme"],
        ["repo", "acme/data"],
      ] as const)
        await watch(hub, { type, id });
      await watch(hub, await itemOf(hub, "org", "acme"), other);
      await hub.request("POST /_local/events?dryRun=true", { body: opened });
      expect((await pageOf(hub, "", other)).count.all).toBe(6);
      const { body } = await hub.request("POST /_local/events", { token: null, body: opened });
      expect(body).toEqual({ deliveries: [], notFired: [], notified: ["other-user"] });
      expect(await Promise.all([{}, other].map(async (as) => (await pageOf(hub, "", as)).count.all))).toEqual([28, 7]);
      await watch(hub, await itemOf(hub, "org", "acme"));
      expect(await added(hub, { ...opened, repo: { type: "space", name: "acme/demo" } })).toEqual([1, 1]);
    });

    test("does not notify users who turned these notifications off", async () => {
      const set = (notifications: NotificationSettingsChange["notifications"]) =>
        hub.request("PATCH /api/settings/notifications", { body: { notifications } });
      await watch(hub, await itemOf(hub, "org", "acme"));
      await set({ web_discussions_watched: false });
      expect(await added(hub, opened)).toEqual([0, 0]);
      await set({ web_discussions_watched: true, discussions_watched: false });
      expect(await added(hub, opened)).toEqual([1, 0]);
    });

    test("does not notify users who cannot read the repository", async () => {
      const repo = { type: "dataset", name: "local-user/data", private: true } as const;
      for (const as of [{}, other]) await watch(hub, await itemOf(hub, "user", "local-user"), as);
      expect(await added(hub, { ...opened, repo })).toEqual([1, 0]);
      expect(await added(hub, { ...opened, repo: { ...repo, private: false } })).toEqual([1, 1]);
      await watch(hub, await itemOf(hub, "org", "acme"), other);
      expect(await added(hub, { ...opened, repo: { ...data, private: true } })).toEqual([0, 1]);
    });
  });
});
