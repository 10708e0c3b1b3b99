import { beforeEach, describe, expect, test } from "vitest";
import { openLocalHub, type TestHub } from "../support/hub.ts";
import { allOf, idOf, isOf, pageOf } from "../support/notifications.ts";

const other = { token: "hf_other" };

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("Marking notifications", () => {
  const path = "/api/notifications/mark-as-read";
  const readOf = async (hub: TestHub) => (await allOf(hub)).filter(({ read }) => read).map(idOf);

  test("marks exactly the listed ones as read", async () => {
    const before = await allOf(hub);
    const unread = before.filter(({ read }) => !read).map(idOf);
    const discussionIds = unread.slice(2, 4);
    const answer = await hub.request(`POST ${path}`, { body: { discussionIds } });
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    const after = before.map((told) => ({ ...told, read: told.read || discussionIds.includes(idOf(told)) }));
    expect(await allOf(hub)).toEqual(after);
    expect((await pageOf(hub)).count).toEqual({ view: 28, unread: unread.length - 2, all: 28 });
    expect((await pageOf(hub, "?readStatus=unread")).count.view).toBe(unread.length - 2);
  });

  test("marks the listed ones as unread", async () => {
    const [first, ...others] = await readOf(hub);
    await hub.request(`POST ${path}`, { body: { discussionIds: [first], read: false } });
    expect(await readOf(hub)).toEqual(others);
  });

  test("marks the listed ones even if the query does not match them", async () => {
    const [first] = (await pageOf(hub, "?readStatus=unread")).notifications.filter(isOf("repo")).map(idOf);
    await hub.request(`POST ${path}?postAuthor=nobody&p=7`, { body: { discussionIds: [first] } });
    expect(await readOf(hub)).toContain(first);
  });

  test("with applyToAll marks all that match on every page, except the listed ones", async () => {
    const before = await readOf(hub);
    const unread = (await allOf(hub)).filter(({ read }) => !read);
    const repos = unread.filter(isOf("repo")).map(idOf);
    const [post] = unread.filter(isOf("post")).map(idOf);
    const query = "repoType=dataset&p=1";
    await hub.request(`POST ${path}?applyToAll=true&${query}`, { body: { discussionIds: [post] } });
    const datasets = (await pageOf(hub, "?repoType=dataset")).notifications.map(idOf);
    expect((await pageOf(hub, "?repoType=dataset&readStatus=unread")).notifications).toEqual([]);
    expect(new Set(await readOf(hub))).toEqual(new Set([...before, ...datasets]));
    expect(repos.filter((id) => !datasets.includes(id)).length).toBeGreaterThan(0);
  });

  test("with applyToAll and no query marks all", async () => {
    await hub.request(`POST ${path}?applyToAll=true`, { body: {} });
    expect((await pageOf(hub)).count).toEqual({ view: 28, unread: 0, all: 28 });
    await hub.request(`POST ${path}?applyToAll=true`, { body: { read: false } });
    expect((await pageOf(hub)).count).toEqual({ view: 28, unread: 28, all: 28 });
  });

  test("does not change notifications that arrived after the list was loaded", async () => {
    const [newest, loaded] = await allOf(hub);
    await hub.request(`POST ${path}?applyToAll=true&lastUpdate=${loaded?.updatedAt}`, { body: {} });
    const { notifications } = await pageOf(hub, "?readStatus=unread");
    expect(notifications).toEqual([newest]);
  });

  test("changes nothing without known ids", async () => {
    const before = await allOf(hub);
    for (const [query, body] of [
      ["", {}],
      ["", { discussionIds: [] }],
      ["?applyToAll=false&repoType=dataset", {}],
      ["", { discussionIds: ["f".repeat(24), "x", "", "__proto__"] }],
    ] as const) {
      expect(await hub.request(`POST ${path}${query}`, { body })).toMatchObject({ status: 200, body: {} });
      expect(await allOf(hub)).toEqual(before);
    }
  });

  test("does not change notifications of other users", async () => {
    const theirs = await allOf(hub, other);
    await hub.request(`POST ${path}?applyToAll=true`, { body: {} });
    await hub.request(`POST ${path}`, { body: { discussionIds: theirs.map(idOf) } });
    expect(await allOf(hub, other)).toEqual(theirs);
    expect(theirs.some(({ read }) => !read)).toBe(true);
  });
});

describe("Deleting notifications", () => {
  const path = "/api/notifications";

  test("deletes exactly the listed ones, even if the query does not match them", async () => {
    const before = await allOf(hub);
    const discussionIds = [before[1], before[25]].flatMap((told) => (told ? [idOf(told)] : []));
    const answer = await hub.request(`DELETE ${path}?postAuthor=nobody`, { body: { discussionIds } });
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    const left = before.filter((told) => !discussionIds.includes(idOf(told)));
    expect(await allOf(hub)).toEqual(left);
    const unread = left.filter(({ read }) => !read).length;
    expect((await pageOf(hub)).count).toEqual({ view: 26, unread, all: 26 });
  });

  test("with applyToAll deletes all that match both conditions on every page, except the listed ones", async () => {
    const before = await allOf(hub);
    const [post] = before.filter(isOf("post")).map(idOf);
    await hub.request(`DELETE ${path}?applyToAll=true&readStatus=unread&repoType=dataset&p=3`, {
      body: { discussionIds: [post] },
    });
    const left = before.filter((told) => told.read || !(isOf("repo")(told) && told.repo.type === "dataset"));
    expect(left.length).toBeLessThan(28);
    expect(await allOf(hub)).toEqual(left);
  });

  test("with applyToAll and no query or body deletes all of this user only", async () => {
    const theirs = await allOf(hub, other);
    expect(await hub.request(`DELETE ${path}?applyToAll=true`)).toMatchObject({ status: 200, body: {} });
    expect(await pageOf(hub)).toEqual({ notifications: [], count: { view: 0, unread: 0, all: 0 }, start: 0 });
    expect(await allOf(hub, other)).toEqual(theirs);
  });

  test("changes nothing without known ids", async () => {
    for (const [query, options] of [
      ["", {}],
      ["", { body: {} }],
      ["?applyToAll=false&repoType=dataset", {}],
      ["", { body: { discussionIds: ["f".repeat(24)] } }],
    ] as const) {
      expect(await hub.request(`DELETE ${path}${query}`, options)).toMatchObject({ status: 200, body: {} });
      expect((await pageOf(hub)).count.all).toBe(28);
    }
  });
});

describe("A request for notifications", () => {
  test("ignores applyToAll if it lists them", async () => {
    const { body } = await hub.request("GET /api/notifications");
    for (const value of ["true", "false"]) {
      expect((await hub.request(`GET /api/notifications?applyToAll=${value}`)).body).toEqual(body);
    }
  });
});
