import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import type { NotificationSettingsChange, NotificationWatchItem } from "../../../src/hub/settings.ts";
import { accountId } from "../../../src/local-hub/accounts.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { openLocalHub, pushed, type TestHub } from "../support/hub.ts";
import { idOf, pageOf, participantsOf } from "../support/notifications.ts";

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
  test.each<[what: string, type: NotificationWatchItem["type"], name: string, ...[event: HubEvent, added: number][]]>([
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
  ])("%s adds notifications", async (_what, type, name, ...events) => {
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
