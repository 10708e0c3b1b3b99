import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { type ReturnedResourceGroup, resourceGroup } from "../../../src/hub/organizations/resource-groups.ts";
import type { RepoId } from "../../../src/hub/schemas.ts";
import { toResourceGroup } from "../../../src/local-hub/resources/resource-groups.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { auditEvents, openLocalHub, type RequestOptions, restart, stateFile, type TestHub } from "../support/hub.ts";

const pathOf = (organization: string) => `/api/organizations/${organization}/resource-groups`;

async function listed(
  hub: TestHub,
  { organization = "acme", token = "hf_local" } = {},
): Promise<ReturnedResourceGroup[]> {
  const { status, body, text } = await hub.request(`GET ${pathOf(organization)}`, { token });
  expect(status, text).toBe(200);
  return z.array(resourceGroup).parse(body);
}

async function created(hub: TestHub, body: object, organization = "acme"): Promise<ReturnedResourceGroup> {
  const answer = await hub.request(`POST ${pathOf(organization)}`, { body });
  expect(answer.status, answer.text).toBe(200);
  return resourceGroup.parse(answer.body);
}

/** What a group that cannot be made is refused with. */
async function refused(hub: TestHub, body: object, organization = "acme"): Promise<string> {
  const before = await listed(hub, { organization });
  const { status, text } = await hub.request(`POST ${pathOf(organization)}`, { body });
  expect(status, text).toBe(400);
  expect(await listed(hub, { organization })).toEqual(before);
  return text;
}

const typesIn = (lists: ({ type: string }[] | undefined)[]) =>
  new Set(lists.flatMap((list = []) => list.map(({ type }) => type)));
const named = (groups: ReturnedResourceGroup[]) => groups.map(({ name }) => name);

/** Lets a repository come to be. */
async function addRepository(hub: TestHub, repo: RepoId): Promise<RepoId> {
  await hub.trigger({ repo, event: { scope: "repo", action: "create" } });
  return repo;
}

const fresh = { type: "model", name: "acme/fresh" } as const;
const reviews = { type: "dataset", name: "acme/reviews" } as const;

describe("The resource groups of an organization", () => {
  test("are there from the start, with users, repositories of every type and each way to join", async () => {
    const hub = await openLocalHub();
    const groups = await listed(hub);
    expect(named(groups)).toEqual(["Reviews", "People", "Experiments"]);
    expect(groups.map(({ autoJoin }) => autoJoin)).toEqual([
      { enabled: true, role: "read" },
      { enabled: false },
      undefined,
    ]);
    const repoTypes = ["dataset", "model", "space", "bucket", "kernel"];
    expect(typesIn(groups.map(({ repos }) => repos))).toEqual(new Set(repoTypes));
    const others = ["collection", "blog", "job", "scheduled-job"];
    expect(typesIn(groups.map(({ resources }) => resources))).toEqual(new Set([...repoTypes, ...others]));
    for (const { repos = [], resources } of groups) expect(resources?.slice(0, repos.length)).toEqual(repos);
    expect(groups[1]?.repos).toEqual([{ type: "dataset", name: "acme/salaries", private: true, addedBy: "ada-adams" }]);
    expect(groups[0]?.users[1]).toEqual({
      type: "user",
      _id: expect.any(String),
      fullname: "Other User",
      name: "other-user",
      avatarUrl: `${hub.url}/avatars/other-user.svg`,
      role: "contributor",
      addedBy: "local-user",
    });
    expect(named(await listed(hub, { organization: "enterprise-org" }))).toEqual(["Everything"]);
  });

  test("are all shown to an admin, and to others those in which they may do something", async () => {
    const hub = await openLocalHub();
    const other = (role: string) => [{ user: "other-user", role }];
    await created(hub, { name: "Locked", users: other("no_access") });
    await created(hub, { name: "Open", users: other("own-role") });
    expect(named(await listed(hub, { token: "hf_other" }))).toEqual(["Reviews", "Open"]);
    expect(named(await listed(hub, { token: "hf_read" }))).toEqual([
      "Reviews",
      "People",
      "Experiments",
      "Locked",
      "Open",
    ]);
  });

  test("come in the order in which they were made, also when that was within one millisecond", async () => {
    const hub = await openLocalHub({ now: () => 1_700_000_000_000 });
    const names = Array.from({ length: 8 }, (_, number) => `group ${7 - number}`);
    for (const name of names) await created(hub, { name }, "enterprise-org");
    expect(named(await listed(hub, { organization: "enterprise-org" }))).toEqual(["Everything", ...names]);
  });

  test("outlive the process", async () => {
    const state = stateFile();
    const first = await openLocalHub({ state });
    const { id } = await created(first, { name: "Kept" });
    const second = await restart(first, { state });
    expect((await listed(second)).at(-1)?.id).toBe(id);
  });
});

describe("A new resource group", () => {
  test("is answered with what it was given, and by whom", async () => {
    const hub = await openLocalHub();
    await addRepository(hub, fresh);
    const group = await created(hub, {
      name: "New",
      description: "All that is new",
      users: [
        { user: "alan-adams", role: "write" },
        { user: "other-user", role: "own-role" },
      ],
      repos: [fresh],
      autoJoin: { enabled: true, role: "contributor" },
    });
    expect(group).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: "New",
      description: "All that is new",
      users: [
        { name: "alan-adams", fullname: "Alan Adams", role: "write", addedBy: "local-user" },
        { name: "other-user", role: "own-role", addedBy: "local-user" },
      ],
      repos: [{ ...fresh, private: false, addedBy: "local-user" }],
      autoJoin: { enabled: true, role: "contributor" },
    });
    expect((await listed(hub)).at(-1)).toEqual(group);
  });

  test("needs nothing but a name", async () => {
    const hub = await openLocalHub();
    expect(await created(hub, { name: "Plain" })).toEqual({
      id: expect.any(String),
      name: "Plain",
      users: [],
      resources: [],
      repos: [],
    });
  });

  test("may join those who can read at least, since 2026-08-17", async () => {
    const hub = await openLocalHub();
    const autoJoin = { enabled: true, role: "write", scope: "read_plus" };
    expect(await created(hub, { name: "Readers", autoJoin })).toMatchObject({ autoJoin });
    expect(await refused(hub, { name: "Some", autoJoin: { ...autoJoin, scope: "some" } })).toContain("autoJoin.scope");
  });

  test("is written down in the audit log, and each repository that is put into it", async () => {
    const hub = await openLocalHub();
    await addRepository(hub, fresh);
    const space = await addRepository(hub, { type: "space", name: "acme/fresh" });
    const { id } = await created(hub, { name: "New", repos: [fresh, space] });
    const [event] = await auditEvents(hub, { organization: "acme", type: "resource_group.create" });
    expect(event).toMatchObject({
      data: { id, name: "New" },
      author: { user: "local-user" },
      token: { role: "write" },
      userAgent: expect.any(String),
    });
    const [second, first] = await auditEvents(hub, { organization: "acme", type: "repo.update_resource_group" });
    expect(first?.data).toEqual({ repo: fresh, resourceGroup: { id, name: "New" } });
    expect(second?.data).toEqual({ repo: space, resourceGroup: { id, name: "New" } });
  });

  test("must have a name of its own in the organization", async () => {
    const hub = await openLocalHub();
    expect(await refused(hub, { name: "Reviews" })).toContain("name: ");
    await created(hub, { name: "Reviews" }, "enterprise-org");
  });

  test("takes members of the organization, each once", async () => {
    const hub = await openLocalHub();
    const ada = { user: "ada-adams", role: "read" };
    expect(await refused(hub, { name: "New", users: [ada, { user: "nobody", role: "read" }] })).toContain(
      "users[1].user: ",
    );
    expect(await refused(hub, { name: "New", users: [ada] }, "enterprise-org")).toContain("users[0].user: ");
    const twice = await refused(hub, { name: "New", users: [ada, { ...ada, role: "write" }] });
    expect(twice).toContain("users[1].user: this user is listed twice");
  });

  test("takes repositories of the organization that there are, each once", async () => {
    const hub = await openLocalHub();
    await addRepository(hub, fresh);
    const mine = await addRepository(hub, { type: "model", name: "local-user/net" });
    const repos = [fresh, { type: "dataset", name: fresh.name }, mine, fresh];
    const text = await refused(hub, { name: "New", repos });
    expect(text).not.toContain("repos[0]");
    expect(text).toContain("repos[1].name: this dataset does not exist");
    expect(text).toContain("repos[2].name: this model does not belong to acme");
    expect(text).toContain("repos[3].name: this model is listed twice");
  });

  test("takes no repository that is in another group, and says in which", async () => {
    const hub = await openLocalHub();
    expect(await refused(hub, { name: "New", repos: [reviews] })).toContain(
      "repos[0].name: this dataset is already in the resource group Reviews",
    );
  });

  test("is refused with five of its faults at most", async () => {
    const hub = await openLocalHub();
    const users = Array.from({ length: 50 }, (_, number) => ({ user: `nobody-${number}`, role: "read" }));
    expect((await refused(hub, { name: "New", users })).match(/users\[\d+\]/g)).toHaveLength(5);
  });
});

describe("A repository in a resource group", () => {
  async function reposOf(hub: TestHub, name: string) {
    return (await listed(hub)).find((group) => group.name === name)?.repos?.map(({ addedBy: _, ...repo }) => repo);
  }

  async function openGroup() {
    const hub = await openLocalHub();
    await addRepository(hub, fresh);
    await created(hub, { name: "New", repos: [fresh] });
    return hub;
  }

  test("is shown as private once it is, and as public again", async () => {
    const hub = await openGroup();
    const configured = { repo: fresh, event: { scope: "repo.config", action: "update" } };
    await hub.trigger({ ...configured, updatedConfig: { private: true } });
    expect(await reposOf(hub, "New")).toEqual([{ ...fresh, private: true }]);
    await hub.trigger({ ...configured, updatedConfig: { private: false } });
    expect(await reposOf(hub, "New")).toEqual([{ ...fresh, private: false }]);
  });

  test("stays in it when it gets another name", async () => {
    const hub = await openGroup();
    await hub.trigger({ repo: fresh, event: { scope: "repo", action: "move" }, movedTo: { name: "acme/moved" } });
    expect(await reposOf(hub, "New")).toEqual([{ type: "model", name: "acme/moved", private: false }]);
    // The old name is free: whatever has it now is in no group.
    await created(hub, { name: "Other", repos: [await addRepository(hub, fresh)] });
    expect(await reposOf(hub, "New")).toHaveLength(1);
  });

  test("takes the place of what has its new name, in whatever group that was", async () => {
    const hub = await openGroup();
    const other = { type: "model", name: "acme/other" } as const;
    await created(hub, { name: "Other", repos: [await addRepository(hub, other)] });
    await hub.trigger({ repo: fresh, event: { scope: "repo", action: "move" }, movedTo: { name: other.name } });
    expect(await reposOf(hub, "New")).toEqual([{ ...other, private: false }]);
    expect(await reposOf(hub, "Other")).toEqual([]);
  });

  test("does not come with a repository of somebody else that moves onto it", async () => {
    const hub = await openGroup();
    const away = { type: "model", name: "team-org/fresh" } as const;
    await addRepository(hub, away);
    await hub.trigger({ repo: away, event: { scope: "repo", action: "move" }, movedTo: { name: fresh.name } });
    expect(await reposOf(hub, "New")).toEqual([]);
  });

  test("leaves it when it goes to somebody else, and is not in it when it comes back", async () => {
    const hub = await openGroup();
    const away = { type: "model", name: "team-org/fresh" } as const;
    await hub.trigger({ repo: fresh, event: { scope: "repo", action: "move" }, movedTo: { name: away.name } });
    expect(await reposOf(hub, "New")).toEqual([]);
    await hub.trigger({ repo: away, event: { scope: "repo", action: "move" }, movedTo: { name: fresh.name } });
    expect(await reposOf(hub, "New")).toEqual([]);
  });

  test("leaves it when it is deleted, and one that is made anew is in no group", async () => {
    const hub = await openGroup();
    await hub.trigger({ repo: fresh, event: { scope: "repo", action: "delete" } });
    expect(await reposOf(hub, "New")).toEqual([]);
    await created(hub, { name: "Other", repos: [await addRepository(hub, fresh)] });
    expect(await reposOf(hub, "New")).toEqual([]);
  });

  test("stays in it when another of its name and another type is deleted, even from the same group", async () => {
    const hub = await openLocalHub();
    const namesake = await addRepository(hub, { type: "dataset", name: fresh.name });
    await created(hub, { name: "New", repos: [await addRepository(hub, fresh), namesake] });
    await hub.trigger({ repo: namesake, event: { scope: "repo", action: "delete" } });
    expect(await reposOf(hub, "New")).toEqual([{ ...fresh, private: false }]);
  });
});

describe("Who may do what with resource groups", () => {
  test.each([
    ["GET", "hf_read", "acme", 200],
    ["GET", "hf_fine", "acme", 200],
    ["GET", "hf_other", "acme", 200],
    ["GET", "hf_other", "enterprise-org", 403],
    ["GET", "hf_local", "enterprise-org", 200],
    ["GET", "hf_local", "team-org", 403],
    ["GET", "hf_local", "nobody", 404],
    ["POST", "hf_local", "enterprise-org", 200],
    ["POST", "hf_read", "acme", 403],
    ["POST", "hf_fine", "acme", 403],
    ["POST", "hf_other", "acme", 403],
    ["POST", "hf_local", "team-org", 403],
    ["POST", "hf_local", "nobody", 404],
  ])("%s with %s in %s: %i", async (method, token, organization, expected) => {
    const hub = await openLocalHub();
    const ask: RequestOptions = { token, ...(method === "POST" && { body: { name: "New" } }) };
    expect((await hub.request(`${method} ${pathOf(organization)}`, ask)).status).toBe(expected);
  });
});

test("A resource group does not show a repository that is not there", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
  const there = { type: "model", name: "acme/there" } as const;
  store.repositories.put({ ...there, id: "a".repeat(24), private: true, discussions: 0 });
  const repos = [{ type: "model", name: "acme/gone" } as const, there];
  const group = { owner: "acme", id: "b".repeat(24), record: { name: "Some", createdAt: 0, users: [], repos } };
  expect(toResourceGroup(group, { store, baseUrl: "http://127.0.0.1" })).toEqual({
    id: group.id,
    name: "Some",
    users: [],
    resources: [{ ...there, private: true }],
    repos: [{ ...there, private: true }],
  });
});
